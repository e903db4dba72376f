"""Emitted Triton kernels in the interpreter, against the judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.launch import LEADS, WAITS, Launch, first_lines
from burnish.codegen.gpu.layout import orders_of
from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.tile.connect import NoGroupError, grouped, in_order, singles, wiring
from burnish.tile.expr import Argument, Constant, Coordinate, call
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.group import Group
from burnish.tile.index import at, fetched, number
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from burnish.tile.semantics import NestBuilder, axes_for
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import MODELS, graph_of, inputs_of, parsed
from tile.random_graphs import graphs

pytestmark = pytest.mark.torch

TOLERANCE = {"f16": 4e-3, "f32": 2e-6, "i64": 0.0}
BLOCKS = ({"m": 16, "n": 16, "k": 16}, {"m": 64, "n": 32, "k": 32})


def whole(graph: TileGraph) -> Group:
    """Return all nests of a graph as one group."""
    return Group(graph.ops, tuple(dict.fromkeys((*graph.outputs[:-1], graph.ops[-1].output))))


def assert_alike(found: dict[str, Array], wanted: dict[str, Array], graph: TileGraph) -> None:
    for name, reference in wanted.items():
        exact = reference.astype(np.float64)
        room = TOLERANCE[graph.tensors[name].dtype] * max(float(np.abs(exact).max(initial=0)), 1)
        np.testing.assert_allclose(found[name].astype(np.float64), exact, rtol=0, atol=room)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("blocks", BLOCKS, ids=["small", "large"])
def test_a_whole_model_as_one_kernel_gives_what_the_judge_gives(
    name: str, blocks: dict[str, int]
) -> None:
    graph = graph_of(name)
    inputs = inputs_of(graph)
    found = run_groups(graph, [(whole(graph), blocks)], inputs)
    assert_alike(found, evaluate(graph, inputs), graph)


@pytest.mark.parametrize("name", ["each", "product"])
def test_a_kernel_that_starts_early_waits_before_it_touches_memory(name: str) -> None:
    graph = graph_of(name)
    (launch,) = emit(whole(graph), Schedule((), settings={}), graph, GpuTarget(early=True))
    body = launch.source.partition(f"def {launch.name}")[2]
    before, _, after = body.partition(f"    {WAITS}\n    {LEADS}\n")
    assert "tl.load(" not in before
    assert "tl.store(" in after
    (late,) = emit(whole(graph), Schedule((), settings={}), graph)
    assert (launch.early, late.early) == (True, False)
    assert launch.name != late.name


def test_only_few_programs_start_early_and_fewer_let_others() -> None:
    found = [first_lines(programs, 4) for programs in (1, 256, 257, 768, 769)]
    assert found == [(WAITS, LEADS), (WAITS, LEADS), (WAITS,), (WAITS,), ()]
    assert [first_lines(512, warps) for warps in (1, 2, 4)] == [(WAITS, LEADS)] * 2 + [(WAITS,)]
    assert first_lines(769, 1) == ()


@pytest.mark.parametrize("name", ["convolution", "depthwise", "inverted_residual", "attention"])
def test_every_nest_as_its_own_kernel_gives_what_the_judge_gives_in_any_layout(name: str) -> None:
    graph = graph_of(name)
    inputs = inputs_of(graph)
    orders = {n: o for n, o in orders_of(graph).items() if n not in inputs}
    found = run_groups(graph, [(group, {}) for group in singles(graph)], inputs, orders)
    assert_alike(found, evaluate(graph, inputs), graph)


@pytest.mark.parametrize("name", ["product", "normed_product"])
def test_sums_formed_in_parts_give_what_the_judge_gives(name: str) -> None:
    graph = graph_of(name)
    inputs = inputs_of(graph)
    blocks = {"m": 16, "n": 16, "k": 16, "split": 4}
    group = whole(graph)
    first, second = emit(group, Schedule(group.anchor.shape, settings=blocks), graph)
    assert first.scratch == second.scratch
    assert set(first.outputs) == set()
    assert_alike(run_groups(graph, [(group, blocks)], inputs), evaluate(graph, inputs), graph)


def test_a_sum_over_an_image_is_formed_in_parts() -> None:
    graph = graph_of("long_pool")
    inputs = inputs_of(graph)
    blocks = {"m": 4, "split": 4}
    group = whole(graph)
    assert len(emit(group, Schedule(group.anchor.shape, settings=blocks), graph)) == 2
    assert_alike(run_groups(graph, [(group, blocks)], inputs), evaluate(graph, inputs), graph)


def test_what_terms_of_a_sum_are_made_of_is_stored_by_itself_where_these_are() -> None:
    graph = parsed(
        """shares (float[5,7] x) => (float[1,1] m, float[5,7] e, float[1,1] s)
        { m = ReduceMax(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e) }"""
    )
    group = Group(graph.ops, graph.outputs)
    launches = emit(group, Schedule(group.anchor.shape), graph)
    assert [launch.outputs for launch in launches] == [("m",), ("e",), ("s",)]
    inputs = inputs_of(graph)
    assert_alike(run_groups(graph, [(group, {})], inputs), evaluate(graph, inputs), graph)


@pytest.mark.parametrize("name", ["depthwise", "largest", "strided"])
@pytest.mark.parametrize(("across", "down"), [(4, 2), (3, 1), (2, 5)])
def test_patches_of_windows_give_what_the_judge_gives(name: str, across: int, down: int) -> None:
    graph = graph_of(name)
    inputs = inputs_of(graph)
    blocks = {"m": 32, "across": across, "down": down}
    assert_alike(
        run_groups(graph, [(whole(graph), blocks)], inputs), evaluate(graph, inputs), graph
    )


def test_neighbouring_windows_load_what_they_share_once() -> None:
    graph = graph_of("depthwise")
    loads = [
        emit(whole(graph), Schedule((), settings=blocks), graph)[0].source.count("tl.load(t0")
        for blocks in ({}, {"across": 4, "down": 2})
    ]
    assert loads == [9, (4 + 2) * (2 + 2)]


def test_rows_that_hold_nan_have_no_largest_number() -> None:
    graph = graph_of("largest")
    inputs = inputs_of(graph)
    inputs["x"][0, 0, 0, 0] = np.nan
    found = run_groups(graph, [(whole(graph), {})], inputs)
    assert np.isnan(found["y"][0, 0, 0, 0])
    assert np.isnan(found["y"]).sum() == 1


@st.composite
def grouped_graphs(
    draw: st.DrawFn,
) -> tuple[TileGraph, dict[str, Array], list[tuple[Group, dict[str, int]]]]:
    """Return a random graph, its inputs, and any grouping of it with any blocks."""
    graph, inputs = draw(graphs())
    wires = wiring(graph)
    cuts, begun = [], 0
    for end in range(1, len(graph.ops) + 1):
        if end == len(graph.ops) or draw(st.booleans()):
            cuts.append(range(begun, end))
            begun = end
    found: list[Group] = []
    for members in cuts:
        try:
            found.append(grouped(wires, members))
        except NoGroupError:
            found += [grouped(wires, (each,)) for each in members]
    sizes = st.sampled_from([1, 4, 16, 64])
    return graph, inputs, [(group, {"m": draw(sizes)}) for group in in_order(found)]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(grouped_graphs())
def test_any_grouping_with_any_blocks_gives_what_the_judge_gives(
    case: tuple[TileGraph, dict[str, Array], list[tuple[Group, dict[str, int]]]],
) -> None:
    graph, inputs, groups = case
    assert_alike(run_groups(graph, groups, inputs), evaluate(graph, inputs), graph)


def test_equal_layers_share_one_kernel() -> None:
    graph = graph_of("perceptron")
    names = [emit(group, Schedule(()), graph)[0].name for group in singles(graph)]
    assert names[0] != names[1]
    again = [emit(group, Schedule(()), graph)[0].name for group in singles(graph)]
    assert names == again


def test_what_triton_lacks_is_refused_with_a_reason() -> None:
    builder = NestBuilder({"x": TensorType("f64", (4,))}, {})
    axes = axes_for((4,))
    body = call("asin", Argument(0, "f64"))
    builder.add("y", axes, [Read("x", (at(axes[0]),))], body)
    graph = TileGraph(builder.tensors, ("x",), ("y",), tuple(builder.ops), builder.constants)
    with pytest.raises(ModelError, match="Triton kernels have no asin of f64") as caught:
        emit(whole(graph), Schedule((4,)), graph)
    assert "ONNX Runtime" in caught.value.hint


def test_a_launch_has_one_type_per_pointer_and_writes_its_own_arguments() -> None:
    values = {"grid": (1, 1, 1), "warps": 4, "stages": 1}
    with pytest.raises(ValueError, match="k: every pointer has one element type"):
        Launch("k", "", ("x",), (), outputs=(), **values)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k: y is no argument"):
        Launch("k", "", ("x",), ("f16",), outputs=("y",), **values)  # type: ignore[arg-type]


def test_a_place_that_is_fetched_where_nothing_varies_is_a_number_to_compute_with() -> None:
    axes = axes_for((3, 5))
    builder = NestBuilder({"p": TensorType("i64", (2,)), "x": TensorType("f32", (3, 5))}, {})
    places = [fetched("p", [number(n)], axis.extent) for n, axis in enumerate(axes)]
    here = [call("equal", Coordinate(place), Coordinate(at(axis)))
            for place, axis in zip(places, axes, strict=True)]  # fmt: skip
    body = call("where", call("and", *here), Constant(7.0, "f32"), Argument(0, "f32"))
    builder.add("y", axes, [Read("x", tuple(map(at, axes)))], body)
    graph = TileGraph(builder.tensors, ("p", "x"), ("y",), tuple(builder.ops), {})
    inputs = {"p": np.array([2, -2]), "x": np.zeros((3, 5), np.float32)}
    (found,) = run_groups(graph, [(whole(graph), {})], inputs).values()
    assert np.argwhere(found).tolist() == [[2, 3]]
