"""Norms over rows that lie side by side: read in parts by neighbours, applied by who holds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.adapting import adapted
from burnish.codegen.gpu.choose import GpuPredicted, candidates, priced
from burnish.codegen.gpu.form import form, places_of
from burnish.codegen.gpu.held import HELD, held, held_blocks
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.moments import STRIDED, moments_in_parts
from burnish.codegen.schedule import Choice
from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.hw.spec import load
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import HEAD, parsed

H200 = load("nvidia-h200")
TYPES = {"float": "f32", "float16": "f16", "bfloat16": "bf16"}
NEAR = {"float": 2e-6, "float16": 1e-3, "bfloat16": 8e-3}
EPSILON = 1e-5


def frames(images: int, terms: int, channels: int, dtype: str = "float") -> TileGraph:
    """Return the nests of a norm over the frames of each channel, channels innermost."""
    text = f"""({dtype}[{images},{terms},{channels}] x) => ({dtype}[{images},{terms},{channels}] y)
        {{ t = Transpose<perm=[0,2,1]>(x) n = InstanceNormalization(t, one, zero)
           y = Transpose<perm=[0,2,1]>(n) }}"""
    proto = onnx.parser.parse_model(f"{HEAD}frames {text}")
    kind = array_type(TYPES[dtype])
    for name, array in {"one": np.ones(channels, kind), "zero": np.zeros(channels, kind)}.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def exact(x: Array) -> Array:
    """Return the norm in f64."""
    wide: Array = x.astype(np.float64)
    spread = wide.var(axis=1, keepdims=True)
    result: Array = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(spread + EPSILON)
    return result


def planned(graph: TileGraph) -> tuple[GpuTarget, tuple[Choice, ...]]:
    """Return how a graph's kernels are predicted to be fastest."""
    target = GpuTarget(orders=orders_of(graph))
    return target, GpuPredicted(H200, target)(graph)


def run(graph: TileGraph, choices: Sequence[Choice], x: Array) -> Array:
    """Return what the kernels of a norm give."""
    settled = [(c.group, c.schedule.settings) for c in choices if c.schedule is not None]
    return run_groups(graph, settled, {"x": x}, orders_of(graph))["y"]


SHAPES = {"whole": (1, 1536, 48), "odd": (1, 1499, 40), "two": (2, 1280, 24)}


@pytest.mark.torch
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (1000.0, 1.0), (-3.0, 40.0)])
def test_a_norm_of_neighbours_is_that_of_whole_rows(
    dtype: str, shape: tuple[int, int, int], mean: float, deviation: float
) -> None:
    graph = adapted(frames(*shape, dtype))
    _, choices = planned(graph)
    assert any(name.endswith(".parts") for name in graph.tensors)
    random = np.random.default_rng(7)
    drawn = mean + deviation * random.standard_normal(shape)
    x = drawn.astype(array_type(TYPES[dtype]))
    wanted = exact(x)
    off = np.linalg.norm(np.subtract(run(graph, choices, x), wanted, dtype=np.float64))
    assert off <= (NEAR[dtype] + abs(mean) / deviation * 2**-23) * np.linalg.norm(wanted)


@settings(max_examples=25, deadline=None)
@given(
    images=st.integers(1, 3), terms=st.integers(STRIDED + 1, 3 * STRIDED),
    channels=st.integers(9, 80), mean=st.sampled_from([0.0, 1000.0]),
)  # fmt: skip
def test_parts_of_any_rows_beside_each_other_give_what_whole_rows_give(
    images: int, terms: int, channels: int, mean: float
) -> None:
    graph = frames(images, terms, channels)
    cut = moments_in_parts(graph)
    assert cut is not graph
    random = np.random.default_rng(terms)
    x = (mean + random.standard_normal((images, terms, channels))).astype(np.float32)
    wanted = exact(x)
    off = np.subtract(evaluate(cut, {"x": x})["y"], wanted, dtype=np.float64)
    assert np.linalg.norm(off) <= (2e-6 + mean * 2**-23) * np.linalg.norm(wanted)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", TYPES)
def test_rows_of_one_number_become_nothing(dtype: str) -> None:
    graph = adapted(frames(1, 1499, 40, dtype))
    _, choices = planned(graph)
    x = np.full((1, 1499, 40), 3.0, array_type(TYPES[dtype]))
    assert not np.any(run(graph, choices, x))


@pytest.mark.torch
def test_the_same_rows_give_the_same_bits() -> None:
    graph = adapted(frames(1, 1499, 40))
    target, choices = planned(graph)
    x = np.random.default_rng(3).standard_normal((1, 1499, 40)).astype(np.float32)
    first, second = run(graph, choices, x), run(graph, choices, x)
    assert np.array_equal(first, second)
    for choice in choices:
        assert choice.schedule is not None
        for launch in emit(choice.group, choice.schedule, graph, target):
            assert "atomic" not in launch.source


def applied(graph: TileGraph) -> Group:
    """Return what applies a norm, with the sums over its parts."""
    ops = tuple(op for op in graph.ops if not op.output.endswith(".parts"))
    return Group(ops, (ops[-1].output,))


@pytest.mark.torch
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_all_blocks_that_hold_a_norm_give_the_same(shape: tuple[int, int, int]) -> None:
    graph = adapted(frames(*shape))
    target, _ = planned(graph)
    group = applied(graph)
    parts = Group(graph.ops[:2], tuple(op.output for op in graph.ops[:2]))
    x = (9.0 + np.random.default_rng(1).standard_normal(shape)).astype(np.float32)
    found = [each for each in candidates(group, target) if HELD in each]
    assert found
    for blocks in found:
        schedules = [(parts, {"m": 16, "warps": 4}), (group, blocks)]
        got = run_groups(graph, schedules, {"x": x}, target.orders)["y"]
        assert np.allclose(got, exact(x), atol=2e-5)


def test_an_image_is_walked_down_with_its_channels_side_by_side() -> None:
    graph = adapted(frames(2, 1280, 24))
    group = applied(graph)
    shape = form(group.ops, group.anchor, None, places_of(group.ops, group.anchor))
    found = held(shape, group.ops, group.anchor, places_of(group.ops, group.anchor))
    assert found is not None
    assert found.counts == (1280, 24, 2)
    assert {each["n"] for each in held_blocks(found)} == {32}


def test_what_is_the_same_for_all_is_held_by_nobody() -> None:
    graph = parsed("sum (float[40,64] x, float[64] b) => (float[40,64] y) { y = Add(x, b) }")
    (op,) = graph.ops
    places = places_of(graph.ops, op)
    assert held(form(graph.ops, op, None, places), graph.ops, op, places) is None


def seconds(graph: TileGraph, group: Group, **blocks: int) -> float:
    """Return what a group should take in some blocks."""
    target = GpuTarget(orders=orders_of(graph))
    schedule = Schedule(group.anchor.shape, settings=blocks)
    return priced(group, schedule, graph, H200, target).seconds


def test_a_row_that_takes_two_bytes_of_each_sector_is_dear() -> None:
    graph = simplify(frames(1, 4096, 256, "float16"))
    group = Group(graph.ops, graph.outputs)
    assert 15e-6 < seconds(graph, group, m=1, warps=8, stages=1) < 30e-6
    adapted_graph = adapted(graph)
    _, choices = planned(adapted_graph)
    assert sum(choice.predicted_s or 0.0 for choice in choices) < 8e-6


def test_few_rows_beside_each_other_hand_much_over() -> None:
    graph = adapted(frames(1, 65536, 64, "float16"))
    parts = Group(graph.ops[:2], tuple(op.output for op in graph.ops[:2]))
    narrow = seconds(graph, parts, m=8, warps=4, stages=2)
    assert seconds(graph, parts, m=64, warps=8, stages=1) < narrow / 2
