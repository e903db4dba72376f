"""Mean and variance of long rows from one pass over parts: what is cut, and what it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.adapting import adapted
from burnish.codegen.gpu.choose import GpuPredicted, candidates
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.moments import BUSY, LONG, moments_in_parts
from burnish.codegen.schedule import Choice
from burnish.core.arrays import Array
from burnish.hw.spec import load
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.index import axes_of
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import HEAD, inputs_of

NORM = """(TYPE[SHAPE] x, TYPE[ROW] w, TYPE[ROW] b) => (TYPE[SHAPE] y, float[FEW] m)
    { y, m = LayerNormalization<axis=1>(x, w, b) }"""
IMAGE = """(float16[1,4,24,24] x) => (float16[1,24,24,24] y)
    { c = Conv(x, kernel) f = Reshape(c, flat) n = InstanceNormalization(f, one, zero)
      g = Reshape(n, back) p = Conv(g, mix) y = Add(p, c) }"""
"""An image that is normalised as a whole between two convolutions."""


def norm_of(*shape: int, dtype: str = "float16") -> TileGraph:
    """Return the nests of a norm over all but the first dimension, its means given out too."""
    row = ",".join(map(str, shape[1:]))
    few = ",".join(map(str, (shape[0], *(1 for _ in shape[1:]))))
    text = NORM.replace("TYPE", dtype).replace("SHAPE", f"{shape[0]},{row}")
    proto = onnx.parser.parse_model(f"{HEAD}norm {text.replace('ROW', row).replace('FEW', few)}")
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def image() -> TileGraph:
    """Return the nests of an image that is normalised between two convolutions."""
    proto = onnx.parser.parse_model(f"{HEAD}image {IMAGE}")
    random = np.random.default_rng(5)
    held = {
        "kernel": random.standard_normal((24, 4, 1, 1)).astype(np.float16),
        "mix": (random.standard_normal((24, 24, 1, 1)) / 8).astype(np.float16),
        "one": np.ones(1, np.float16), "zero": np.zeros(1, np.float16),
        "flat": np.array([1, 1, -1]), "back": np.array([1, 24, 24, 24]),
    }  # fmt: skip
    for name, array in held.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def contrast() -> TileGraph:
    """Return the nests of an attention to contrast: deviations of channels, step by step."""
    text = """(float16[1,8,72,64] x) => (float16[1,40,72,64] y)
        { c = Conv(x, kernel) m = ReduceMean(c, image) d = Sub(c, m) e = Mul(d, d)
          v = ReduceMean(e, image) r = Sqrt(v) s = Add(r, m) y = Mul(c, s) }"""
    proto = onnx.parser.parse_model(f"{HEAD}contrast {text}")
    kernel = np.random.default_rng(6).standard_normal((40, 8, 1, 1)).astype(np.float16)
    for name, array in {"kernel": kernel / 4, "image": np.array([2, 3])}.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def parts_of(graph: TileGraph) -> tuple[int, int]:
    """Return how many parts the rows of a graph have together, and the terms of each."""
    (spreads,) = (op for op in graph.ops if op.output.endswith("inverse$0.parts"))
    return int(np.prod(spreads.shape)), int(np.prod([axis.extent for axis in spreads.reduced]))


def assert_near(found: Array, wanted: Array, tolerance: float) -> None:
    exact = wanted.astype(np.float64)
    off = np.linalg.norm(found.astype(np.float64) - exact)
    assert off <= tolerance * np.linalg.norm(exact)


def test_a_long_row_is_read_once_for_its_mean_and_its_variance() -> None:
    graph = norm_of(1, 8, 40, 32)
    cut = moments_in_parts(graph)
    assert parts_of(cut) == (160, 64)
    assert len(cut.ops) == len(graph.ops) + 2
    readers = {op.output for op in cut.ops if "x" in op.inputs}
    assert readers == {"y.mean$0.parts", "y.inverse$0.parts", "y"}


def test_parts_get_names_that_no_tensor_has() -> None:
    graph = norm_of(1, 8, 40, 32, dtype="float")
    taken = {"x": "y.mean$0.parts", "b": "y.inverse$0.parts"}
    named = renamed(graph, taken)
    cut = moments_in_parts(named)
    assert {"y.mean$0.parts.", "y.inverse$0.parts."} <= {op.output for op in cut.ops}
    random = np.random.default_rng(8)
    feeds = {
        name: random.standard_normal(graph.tensors[name].shape).astype(np.float32)
        for name in graph.inputs
    }
    wanted = evaluate(graph, feeds)
    found = evaluate(cut, {taken.get(name, name): array for name, array in feeds.items()})
    assert_near(found["y"], wanted["y"], 1e-5)


def renamed(graph: TileGraph, names: Mapping[str, str]) -> TileGraph:
    """Return a graph whose inputs are called otherwise."""
    ops = [
        replace(
            op,
            reads=tuple(replace(r, tensor=names.get(r.tensor, r.tensor)) for r in op.reads),
        )
        for op in graph.ops
    ]
    return replace(
        graph,
        ops=tuple(ops),
        inputs=tuple(names.get(name, name) for name in graph.inputs),
        tensors={names.get(name, name): kind for name, kind in graph.tensors.items()},
    )


@pytest.mark.parametrize("shape", [(1, 64, 64), (BUSY + 1, 80, 64)], ids=["short", "many"])
def test_rows_that_a_block_holds_or_that_are_many_stay_whole(shape: tuple[int, ...]) -> None:
    graph = norm_of(*shape)
    assert moments_in_parts(graph) is graph


def test_parts_follow_memory_where_channels_lie_innermost() -> None:
    graph = moments_in_parts(image())
    (means,) = (op for op in graph.ops if op.output.endswith("mean$0.parts"))
    order = orders_of(graph)[means.reads[0].tensor]
    innermost = means.reads[0].index[order[-1]]
    assert [atom.extent for atom, _ in innermost.terms] == [24]
    assert innermost.terms[0][0] == means.reduced[-1]


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 5), channels=st.integers(1, 40), high=st.integers(1, 30),
    wide=st.integers(4, 40),
)  # fmt: skip
def test_parts_of_any_shape_give_what_whole_rows_give(
    rows: int, channels: int, high: int, wide: int
) -> None:
    graph = norm_of(rows, channels, high, wide, dtype="float")
    cut = moments_in_parts(graph)
    assert (cut is not graph) == (channels * high * wide > LONG)
    inputs = inputs_of(graph)
    wanted, found = evaluate(graph, inputs), evaluate(cut, inputs)
    for name in graph.outputs:
        assert_near(found[name], wanted[name], 1e-5)


@pytest.mark.parametrize("mean", [0.0, 100.0, 3e4])
def test_a_small_variance_about_a_large_mean_is_as_exact_as_in_two_passes(mean: float) -> None:
    graph = norm_of(1, 96, 64, dtype="float")
    random = np.random.default_rng(1)
    inputs = dict(inputs_of(graph))
    inputs["x"] = (mean + random.standard_normal((1, 96, 64))).astype(np.float32)
    inputs["w"], inputs["b"] = np.ones((96, 64), np.float32), np.zeros((96, 64), np.float32)
    exact = inputs["x"].astype(np.float64)
    exact = (exact - exact.mean()) / np.sqrt(exact.var() + 1e-5)
    for each in (graph, moments_in_parts(graph)):
        assert_near(evaluate(each, inputs)["y"], exact, 2e-6 + mean * 2**-24)


def require_right(
    judged: TileGraph, run: TileGraph, choices: Sequence[Choice], tolerance: float
) -> None:
    """Hold that kernels of one graph give what another means."""
    inputs = inputs_of(judged)
    settled = [(c.group, c.schedule.settings) for c in choices if c.schedule is not None]
    found = run_groups(run, settled, inputs, orders_of(run))
    for name, wanted in evaluate(judged, inputs).items():
        assert_near(found[name], wanted, tolerance)


@pytest.mark.torch
def test_kernels_take_both_from_one_pass_and_whoever_reads_them_adds_up_the_parts() -> None:
    graph = adapted(image())
    target = GpuTarget(orders=orders_of(graph))
    choices = GpuPredicted(load("nvidia-h200"), target)(graph)
    groups = [{op.output for op in choice.group.ops} for choice in choices]
    both = {name for name in graph.tensors if name.endswith(".parts")}
    assert len(both) == 2
    assert both in groups
    assert not any("mean$0" in name for group in groups for name in group if len(group) == 1)
    require_right(graph, graph, choices, 2e-3)


@pytest.mark.torch
def test_deviations_of_channels_may_come_from_blocks_of_neighbours() -> None:
    graph = contrast()
    cut = moments_in_parts(graph)
    (means, spreads) = (op for op in cut.ops if op.output.endswith(".parts"))
    assert means.shape == spreads.shape
    whole = adapted(graph)
    target = GpuTarget(orders=orders_of(whole))
    choices = GpuPredicted(load("nvidia-h200"), target)(whole)
    names = means.output, spreads.output
    both = Group(tuple(op for op in whole.ops if op.output in names), names)
    assert {16, 32, 64} <= {each.get("m") for each in candidates(both, target)}
    require_right(graph, whole, choices, 4e-3)


def test_parts_of_an_image_in_phases_are_runs_of_its_rows() -> None:
    text = """(float16[1,8,48,48] x) => (float16[1,24,96,96] y)
        { c = ConvTranspose<strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]>(x, kernel)
          n = InstanceNormalization(c, one, zero) y = Relu(n) }"""
    proto = onnx.parser.parse_model(f"{HEAD}phases {text}")
    random = np.random.default_rng(9)
    held = {"kernel": random.standard_normal((8, 24, 3, 3)), "one": np.ones(24)}
    for name, array in {**held, "zero": np.zeros(24)}.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array.astype("f2"), name))
    graph = adapted(simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph))
    pair = tuple(op for op in graph.ops if op.output.endswith(".parts"))
    group = Group(pair, tuple(op.output for op in pair))
    found = tuple(candidates(group, GpuTarget(orders=orders_of(graph))))
    assert not any("across" in each for each in found)
    part, (read, *_) = pair[0].spatial[0], pair[0].reads
    along = {dim for dim, index in enumerate(read.index) if part in axes_of(index)}
    assert along <= {2, 3}, "rows, and which of two phases they are of, and no columns"


@pytest.mark.torch
def test_a_program_has_one_part_at_hand_for_both_sums() -> None:
    graph = adapted(norm_of(1, 64, 32, 32))
    target = GpuTarget()
    choices = GpuPredicted(load("nvidia-h200"), target)(graph)
    (choice,) = (c for c in choices if c.group.outputs[-1].endswith("inverse$0.parts"))
    assert choice.schedule is not None
    (launch,) = emit(choice.group, choice.schedule, graph, target)
    assert launch.grid == (parts_of(graph)[0], 1, 1)
    assert "for " not in launch.source.partition("def ")[2]
