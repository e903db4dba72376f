"""Products as they are written: averages by softmax, tensors side by side, windows, quotients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.bounds import breaches
from burnish.codegen.gpu.handover import handed_over
from burnish.codegen.gpu.kernel import GpuTarget, Orders, emit
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import compiled, run_groups
from codegen.gpu.models import HEAD, graph_of, inputs_of

BLOCKS = {"m": 16, "n": 16, "k": 16}
POSITIONS = """(float16[3,8,16] q, float16[3,8,16] k, float16[8,16,8] p) => (float16[3,8,8] y)
    { t = Transpose<perm=[0,2,1]>(k) s = MatMul(q, t)
      o = Transpose<perm=[1,0,2]>(q) u = MatMul(o, p) r = Transpose<perm=[1,0,2]>(u)
      y = Add(s, r) }"""


def parsed(text: str) -> TileGraph:
    """Return the nests of a model without constants."""
    proto = onnx.parser.parse_model(f"{HEAD}model {text}")
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def whole(graph: TileGraph) -> Group:
    """Return all nests of a graph as one group."""
    return Group(graph.ops, graph.outputs)


def source_of(graph: TileGraph, orders: Orders | None = None) -> str:
    """Return the kernel of a graph as one group."""
    schedule = Schedule(graph.ops[-1].shape, settings=BLOCKS)
    (launch,) = emit(whole(graph), schedule, graph, GpuTarget(orders=orders or {}))
    return launch.source


@pytest.mark.parametrize("name", ["attention", "attention_of_images"])
def test_an_average_by_softmax_reads_its_scores_once(name: str) -> None:
    source = source_of(graph_of(name))
    assert source.count("for ") == 1
    assert source.count("tl.dot(") == 2
    assert "below_1 = below_1 * fade_1" in source


@pytest.mark.torch
def test_rows_that_begin_with_masked_blocks_are_averaged_over_the_rest() -> None:
    graph = graph_of("attention")
    inputs = inputs_of(graph)
    mask = np.zeros((2, 1, 1, 20), np.float16)
    mask[0, ..., :17] = -np.inf
    inputs["mask"] = mask
    found = run_groups(graph, [(whole(graph), BLOCKS)], inputs)["y"]
    wanted = evaluate(graph, inputs)["y"]
    np.testing.assert_allclose(found.astype(np.float32), wanted.astype(np.float32), atol=4e-3)


@pytest.mark.torch
def test_a_row_without_any_score_is_not_a_number_as_the_judge_says() -> None:
    graph = graph_of("attention")
    inputs = inputs_of(graph)
    inputs["mask"] = np.full((2, 1, 1, 20), -np.inf, np.float16)
    found = run_groups(graph, [(whole(graph), BLOCKS)], inputs)["y"]
    assert np.isnan(found).all()
    with np.errstate(invalid="ignore"):
        assert np.isnan(evaluate(graph, inputs)["y"]).all()


def test_weights_that_are_no_softmax_of_the_row_are_formed_as_they_are() -> None:
    other = """(float16[20,20] s, float16[20,20] r, float16[20,16] v) => (float16[20,16] y)
        { m = ReduceMax<axes=[1]>(r) d = Sub(s, m) e = Exp(d) n = ReduceSum(e, one)
          p = Div(e, n) y = MatMul(p, v) }"""
    text = other.replace("ReduceMax<axes=[1]>(r)", "ReduceMax(r, one)")
    proto = onnx.parser.parse_model(f"{HEAD}model {text}")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1]), "one"))
    graph = simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)
    assert "below" not in source_of(graph)


def test_tensors_side_by_side_are_multiplied_one_after_the_other_without_conditions() -> None:
    source = source_of(graph_of("side_by_side"))
    assert "tl.where" not in source
    assert source.count("tl.dot(") == 3


def test_channels_of_a_window_are_read_in_runs() -> None:
    source = source_of(graph_of("channels"), {"x": (0, 2, 3, 1), "w": (2, 3, 1, 0)})
    loads = [line for line in source.splitlines() if "tl.load(t0" in line]
    assert len(loads) == 1
    assert "k_1[None, :] //" not in loads[0]


@pytest.mark.torch
@pytest.mark.parametrize("name", ["depthwise", "strided"])
@pytest.mark.parametrize("turns", [2, 3, 5])
def test_windows_that_walk_down_an_image_give_what_the_judge_gives(name: str, turns: int) -> None:
    graph = graph_of(name)
    inputs = inputs_of(graph)
    walked = {"m": 32, "across": 2, "down": 1, "turns": turns}
    found = run_groups(graph, [(whole(graph), walked)], inputs)["y"]
    wanted = evaluate(graph, inputs)["y"]
    np.testing.assert_allclose(found.astype(np.float32), wanted.astype(np.float32), atol=2e-2)


def test_a_turn_keeps_what_the_one_before_has_read() -> None:
    graph = graph_of("depthwise")
    walked = Schedule((), settings={"m": 32, "across": 2, "down": 1, "turns": 3})
    (launch,) = emit(whole(graph), walked, graph)
    _, loop = launch.source.split("for turn_1 in range(3):")
    assert loop.count("tl.load(t0") == 4  # of a patch of two, one row of three
    assert loop.index("total_1 = ") > loop.rindex("tl.load(")
    assert loop.count("(turn_1 + 1 < 3)") == 4


def test_what_is_loaded_ahead_of_the_last_turn_stays_inside() -> None:
    text = "(float16[1,8,6,8] x, float16[8,1,3,3] w) => (float16[1,8,4,6] y)"
    graph = parsed(f"{text} {{ y = Conv<group=8>(x, w) }}")
    walked = Schedule((), settings={"m": 32, "across": 2, "down": 1, "turns": 2})
    (launch,) = emit(whole(graph), walked, graph)
    sizes = {name: kind.size for name, kind in graph.tensors.items()}
    assert breaches(launch, sizes, all_programs=True) == ()
    careless = replace(launch, source=launch.source.replace("(turn_1 + 1 < 2)", "True"))
    assert breaches(careless, sizes, all_programs=True)


def test_a_program_does_not_walk_further_than_its_image() -> None:
    graph = graph_of("depthwise")
    walked = Schedule((), settings={"m": 32, "across": 2, "down": 1, "turns": 10})
    (launch,) = emit(whole(graph), walked, graph)
    assert "turn_1" not in launch.source


def test_what_follows_two_products_follows_the_one_with_larger_blocks() -> None:
    graph = parsed(POSITIONS)
    moved = handed_over(graph)
    assert [op.output for op in moved.ops] == ["y.apart", "y"]
    assert "y.apart" in moved.ops[1].inputs
    inputs = inputs_of(graph)
    np.testing.assert_array_equal(evaluate(moved, inputs)["y"], evaluate(graph, inputs)["y"])
    assert handed_over(moved).ops == moved.ops


def test_what_follows_a_product_stays_where_its_blocks_are_as_large() -> None:
    graph = parsed(
        """(float16[8,16] a, float16[16,8] b, float16[8,16] c, float16[16,8] d)
        => (float16[8,8] y) { s = MatMul(a, b) t = MatMul(c, d) y = Add(s, t) }"""
    )
    assert handed_over(graph).ops == graph.ops


def test_quotients_and_roots_of_f32_are_rounded_to_nearest() -> None:
    assert spelling.called("divide", ["a", "b"], "f32", set()) == "tl.div_rn(a, b)"
    assert spelling.called("sqrt", ["a"], "f32", set()) == "tl.sqrt_rn(a)"
    assert spelling.called("divide", ["a", "b"], "f64", set()) == "(a / b)"
    assert spelling.called("divide", ["a", "b"], "f32", set(), rounded=False) == "(a / b)"


@pytest.mark.torch
def test_a_quotient_is_what_numpy_gives_to_the_last_bit() -> None:
    graph = parsed("(float[97] a, float[97] b) => (float[97] y) { y = Div(a, b) }")
    random = np.random.default_rng(3)
    a, b = (random.uniform(0.5, 300, 97).astype(np.float32) for _ in range(2))
    found = run_groups(graph, [(whole(graph), {"m": 32})], {"a": a, "b": b})["y"]
    np.testing.assert_array_equal(found, a / b)


def test_parts_are_added_up_by_many_programs() -> None:
    graph = graph_of("large_product")
    schedule = Schedule((), settings={"m": 64, "n": 64, "k": 64, "split": 4})
    _, adding = emit(whole(graph), schedule, graph)
    assert adding.grid[0] == 256


WINDOW = """(float16[1,32,8,8] x, float16[32,1,3,3] w, float16[32] b, float16[16,32,1,1] v)
    => (float16[1,16,8,8] y)
    { c = Conv<group=32, pads=[1,1,1,1]>(x, w, b) d = Relu(c) y = Conv(d, v) }"""
GATED = """(float16[64,192] x, float16[64,192] g, float16[64,192] b, float16[192,16] w)
    => (float16[64,16] y) { c = Mul(x, g) d = Add(c, b) y = MatMul(d, w) }"""
LAST = {"x": (0, 2, 3, 1), "y": (0, 2, 3, 1), "w": (2, 3, 1, 0)}


def test_what_a_window_loads_for_a_product_is_moved_as_one() -> None:
    graph = parsed(WINDOW)
    schedule = Schedule((), settings={"m": 32, "n": 16, "k": 32})
    (launch,) = emit(whole(graph), schedule, graph, GpuTarget(orders=LAST, own_functions=True))
    (product,) = (line for line in launch.source.splitlines() if "tl.dot(" in line)
    assert "tl.dot(moved_1, " in product
    assert "is_pure=False, pack=2" in launch.source
    sizes = {name: kind.size for name, kind in graph.tensors.items()}
    assert breaches(launch, sizes, all_programs=True) == ()
    assert compiled(launch, 90).stack_bytes < 100


NORMED = """(float16[64,192] x, float16[64,1] m, float16[192] g, float16[192] b, float16[192,16] w)
    => (float16[64,16] y)
    { c = Sub(x, m) d = Mul(c, g) e = Add(d, b) y = MatMul(e, w) }"""


def test_rows_of_an_image_and_numbers_for_each_row_and_column_are_moved_as_they_are() -> None:
    graph = parsed(NORMED)
    schedule = Schedule((), settings={"m": 16, "n": 16, "k": 256})
    (launch,) = emit(whole(graph), schedule, graph, GpuTarget(own_functions=True))
    assert "for step_1" not in launch.source
    assert "together(" not in launch.source


def test_what_runs_ahead_in_a_loop_is_moved_as_it_is_loaded() -> None:
    graph = parsed(GATED)
    for depth, moved in ((64, False), (256, True)):
        schedule = Schedule((), settings={"m": 16, "n": 16, "k": depth})
        (launch,) = emit(whole(graph), schedule, graph, GpuTarget(own_functions=True))
        assert ("together(" in launch.source) is moved
        assert ("for step_1" in launch.source) is not moved
        (plain,) = emit(whole(graph), schedule, graph, GpuTarget())
        assert "together(" not in plain.source


SIDE_BY_SIDE = """(float16[1,16,6,6] x, float16[1,16,6,6] z, float16[16,32,3,3] w)
    => (float16[1,16,6,6] y)
    { c = Concat<axis=1>(x, z) y = Conv<pads=[1,1,1,1]>(c, w) }"""


def test_a_padded_image_of_several_is_loaded_with_its_condition_and_nothing_is_chosen() -> None:
    graph = parsed(SIDE_BY_SIDE)
    orders = dict.fromkeys(("x", "y", "z"), (0, 2, 3, 1)) | {"w": (2, 3, 1, 0)}
    source = source_of(graph, orders)
    assert source.count("tl.dot(") == 2  # one tensor after the other
    assert "tl.where(" not in source
    inputs = inputs_of(graph)
    found = run_groups(graph, [(whole(graph), BLOCKS)], inputs, orders)["y"]
    wanted = evaluate(graph, inputs)["y"]
    np.testing.assert_allclose(
        found.astype(np.float32), wanted.astype(np.float32), rtol=3e-3, atol=3e-3
    )


HALVES_OF_ONE = """(float16[32,32] x, float16[32] g, float16[32,64] a, float16[32,16] w)
    => (float16[32,16] y)
    { s = Mul(x, g) c = MatMul(s, a) u, v = Split<axis=1, num_outputs=2>(c) h = Mul(u, v)
      y = MatMul(h, w) }"""


def test_what_two_products_of_a_chain_read_is_written_once() -> None:
    graph = parsed(HALVES_OF_ONE)
    source = source_of(graph)
    schedule = Schedule((), settings={"m": 16, "n": 16, "k": 32})
    (launch,) = emit(whole(graph), schedule, graph, GpuTarget())
    (pointer,) = (line[2:4] for line in launch.source.splitlines() if line.endswith("[32, 32] x"))
    assert launch.source.count(f"tl.load({pointer} ") == 1
    assert source.count("tl.dot(") == launch.source.count("tl.dot(") == 3
    inputs = inputs_of(graph)
    found = run_groups(graph, [(whole(graph), schedule.settings)], inputs)["y"]
    wanted = evaluate(graph, inputs)["y"]
    np.testing.assert_allclose(
        found.astype(np.float32), wanted.astype(np.float32), rtol=4e-3, atol=4e-3
    )
