"""Groups and blocks that the cost model chooses for GPUs."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.gpu.choose import Blocked, GpuPredicted, candidates, priced
from burnish.codegen.gpu.kernel import GpuTarget, emit, written
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.price import MOST_UNROLLED
from burnish.codegen.gpu.sequence import sequenced, simplified
from burnish.core.errors import ModelError
from burnish.hw.spec import load
from burnish.rewrite.static import static
from burnish.tile.connect import NoGroupError, singles
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.gpu.models import HEAD, MODELS, graph_of

H200 = load("nvidia-h200")


def graph_from(text: str) -> TileGraph:
    """Return the simplified nests of ONNX text."""
    model = static(ir.from_proto(onnx.parser.parse_model(f"{HEAD}model {text}")), {})
    return simplify(lower(tuple(model.graph)).graph)


def best(graph: TileGraph) -> Blocked:
    """Return the best candidate of a graph as one group."""
    return GpuPredicted(H200).best(Group(graph.ops, graph.outputs), graph)


CHAIN = """(float16[2073600,64] x, float16[64,64] a, float16[64,64] b, float16[64,3] c)
    => (float16[2073600,3] y)
    { h = MatMul(x, a) i = Relu(h) j = MatMul(i, b) k = Relu(j) y = MatMul(k, c) }"""
WIDE = """(float16[4096,4096] x, float16[4096,4096] a, float16[4096,4096] b)
    => (float16[4096,4096] y) { h = MatMul(x, a) y = MatMul(h, b) }"""
FEW_ROWS = "(float16[128,3072] x, float16[3072,768] w) => (float16[128,768] y) { y = MatMul(x, w) }"
MANY_ROWS = """(float16[8192,768] x, float16[768,768] w) => (float16[8192,768] y)
    { y = MatMul(x, w) }"""


def test_a_chain_of_narrow_layers_is_one_kernel() -> None:
    (choice,) = GpuPredicted(H200)(graph_from(CHAIN))
    assert len(choice.group.ops) == 3


def test_wide_layers_stay_apart_as_joined_they_would_be_computed_again_and_again() -> None:
    graph = graph_from(WIDE)
    assert [len(choice.group.ops) for choice in GpuPredicted(H200)(graph)] == [1, 1]


def test_sums_are_formed_in_parts_where_there_are_few_rows() -> None:
    assert best(graph_from(FEW_ROWS)).schedule.settings["split"] > 1
    assert "split" not in best(graph_from(MANY_ROWS)).schedule.settings


def test_few_rows_are_normalised_by_what_adds_up_the_parts_of_a_long_product() -> None:
    text = """(float16[128,3072] x, float16[3072,768] w, float16[768] s, float16[768] b,
        float16[128,768] r) => (float16[128,768] y)
        { h = MatMul(x, w) i = Add(h, r) y = LayerNormalization(i, s, b) }"""
    (choice,) = GpuPredicted(H200)(graph_from(text))
    # blocks of whole rows take ten times as long, and were tried first: no other was then
    assert choice.schedule is not None
    assert choice.schedule.settings["split"] > 1


def test_more_rows_take_longer() -> None:
    few, many = (best(graph_from(text)) for text in (FEW_ROWS, MANY_ROWS))
    assert few.seconds < many.seconds


@pytest.mark.parametrize("name", MODELS)
def test_every_candidate_has_a_price_that_is_more_than_starting_it(name: str) -> None:
    graph = graph_of(name)
    for group in singles(graph):
        for settings in candidates(group, GpuTarget()):
            found = priced(group, Schedule((), settings=settings), graph, H200, GpuTarget())
            assert found.seconds > H200.launch_overhead_s


@pytest.mark.parametrize("device", ["nvidia-v100", "nvidia-a100", "nvidia-h100", "nvidia-h200"])
def test_every_gpu_of_the_catalog_has_what_prices_need(device: str) -> None:
    graph = graph_of("attention")
    assert GpuPredicted(load(device)).best(Group(graph.ops, graph.outputs), graph).seconds > 0


def test_a_group_without_a_kernel_says_why() -> None:
    graph = graph_from("(double[4] x) => (double[4] y) { y = Asin(x) }")
    (choice,) = GpuPredicted(H200)(graph)
    assert choice.schedule is None
    assert choice.reason == "Triton kernels have no asin of f64"
    with pytest.raises(ModelError, match="'y' has no kernel: Triton kernels have no asin"):
        sequenced(graph, GpuPredicted(H200), GpuTarget())


def test_a_model_with_an_operator_that_has_no_loops_is_refused() -> None:
    text = f"{HEAD}model (float[4] x) => (int64[1,n] y) {{ y = NonZero(x) }}"
    with pytest.raises(ModelError, match="1 nodes have no loops"):
        simplified(ir.from_proto(onnx.parser.parse_model(text)))


def test_images_between_convolutions_lie_with_channels_innermost() -> None:
    proto = onnx.parser.parse_model(f"""{HEAD}two (float16[1,8,9,9] x) => (float16[1,8,9,9] y)
        {{ h = Conv(x, a) y = Conv<pads=[1,1,1,1]>(h, b) }}""")
    for name, shape in (("a", (16, 8, 1, 1)), ("b", (8, 16, 3, 3))):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(shape, "f2"), name))
    graph = simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)
    orders = orders_of(graph)
    assert orders["h"] == (0, 2, 3, 1)
    assert orders["b"] == (2, 3, 1, 0)
    assert not {"x", "y"} & orders.keys()


INVERTED = """(float16[1,16,14,14] x, float16[384,16,1,1] a, float16[384,1,3,3] d,
    float16[64,384,1,1] c) => (float16[1,64,14,14] y)
    { e = Conv(x, a) g = Conv<pads=[1,1,1,1], group=384>(e, d) y = Conv(g, c) }"""


def test_a_product_that_computes_a_window_for_each_step_waits_for_its_taps() -> None:
    graph = graph_from(INVERTED)
    window, last = graph.ops[-2:]
    joined = Group((window, last), (last.output,))
    settings = {"m": 64, "n": 64, "k": 64, "warps": 4, "stages": 3}
    (found,) = written(joined, Schedule((), settings=settings), graph)
    steps = 384 // 64
    assert (found.tally.waits, found.tally.waited) == (steps, steps * (2 * 9 + 1 - 2))


def test_a_window_and_the_product_behind_it_stay_apart() -> None:
    groups = [choice.group for choice in GpuPredicted(H200)(graph_from(INVERTED))]
    assert [len(group.ops) for group in groups if group.anchor.output == "y"] == [1]


def test_long_products_that_fill_a_card_are_offered_fewer_warps() -> None:
    def warps(text: str) -> set[int]:
        graph = graph_from(text)
        found = candidates(Group(graph.ops, graph.outputs), GpuTarget())
        return {each["warps"] for each in found if (each["m"], each["n"]) == (128, 128)}

    single = WIDE.replace("h = MatMul(x, a) y = MatMul(h, b)", "y = MatMul(x, a)")
    assert warps(single) == {4, 8}
    assert warps(MANY_ROWS) == {8}


@pytest.mark.parametrize(("heads", "whole"), [(64, False), (8, True)])
def test_long_rows_of_a_softmax_are_averaged_block_by_block_unless_they_are_few(
    heads: int, whole: bool
) -> None:
    attention = """(float16[HEADS,512,512] s, float16[HEADS,512,64] v) => (float16[HEADS,512,64] y)
        { p = Softmax<axis=-1>(s) y = MatMul(p, v) }"""
    graph = graph_from(attention.replace("HEADS", str(heads)))
    found = best(graph)
    assert (found.schedule.settings["k"] == 512) is whole
    (launch,) = emit(Group(graph.ops, graph.outputs), found.schedule, graph)
    assert launch.source.count("for ") == (not whole)


def test_sums_of_a_loop_are_not_multiplied_again_in_the_same_kernel() -> None:
    text = """(float16[4096,DEPTH] x, float16[DEPTH,64] a, float16[64,32] b) => (float16[4096,32] y)
        { h = MatMul(x, a) y = MatMul(h, b) }"""
    schedule = Schedule((), settings={"m": 64, "n": 32, "k": 64, "warps": 4, "stages": 3})
    once, twice = (graph_from(text.replace("DEPTH", str(depth))) for depth in (64, 160))
    priced(Group(once.ops, once.outputs), schedule, once, H200, GpuTarget())
    with pytest.raises(NoGroupError, match="multiplies what another one of the kernel sums up"):
        priced(Group(twice.ops, twice.outputs), schedule, twice, H200, GpuTarget())


def test_what_a_kernel_sums_up_is_no_right_side_of_another_product() -> None:
    text = """(float16[64,32] x, float16[32,64] a, float16[64,64] b) => (float16[64,64] y)
        { h = MatMul(x, a) y = MatMul(LEFT, RIGHT) }"""
    schedule = Schedule((), settings={"m": 64, "n": 64, "k": 64, "warps": 4, "stages": 3})
    left, right = (
        graph_from(text.replace("LEFT", one).replace("RIGHT", other))
        for one, other in (("h", "b"), ("b", "h"))
    )
    priced(Group(left.ops, left.outputs), schedule, left, H200, GpuTarget())
    with pytest.raises(NoGroupError, match="multiplies what another one of the kernel sums up"):
        priced(Group(right.ops, right.outputs), schedule, right, H200, GpuTarget())


def settings_of(text: str) -> list[dict[str, int]]:
    """Return the settings that are tried for a model as one group."""
    graph = graph_from(text)
    return [dict(each) for each in candidates(Group(graph.ops, graph.outputs), GpuTarget())]


def test_windows_walk_down_images_that_are_large_enough() -> None:
    text = """(float16[8,32,64,64] x, float16[32,1,3,3] w) => (float16[8,32,64,64] y)
        { y = Conv<pads=[1,1,1,1], group=32>(x, w) }"""
    assert {each.get("turns", 1) for each in settings_of(text)} >= {1, 4}
    small = settings_of(text.replace("64,64]", "8,8]"))
    assert all("turns" not in each for each in small)


def test_products_of_few_rows_are_offered_long_steps_and_uneven_ones_short_steps() -> None:
    text = """(float16[ROWS,TERMS] x, float16[TERMS,256] w) => (float16[ROWS,256] y)
        { y = MatMul(x, w) }"""

    def steps(rows: int, terms: int) -> set[int]:
        found = settings_of(text.replace("ROWS", str(rows)).replace("TERMS", str(terms)))
        return {each["k"] for each in found}

    assert steps(128, 768) == {64, 128}
    assert steps(8192, 96) == {32, 64}
    assert steps(8192, 768) == {64}


def test_an_attention_of_few_rows_is_offered_blocks_for_many_programs() -> None:
    text = """(float16[B,12,128,64] q, float16[B,12,64,128] k, float16[B,12,128,64] v)
        => (float16[B,12,128,64] y) { s = MatMul(q, k) p = Softmax<axis=-1>(s) y = MatMul(p, v) }"""
    whole = {
        n: [e for e in settings_of(text.replace("B", str(n))) if e["k"] == 128] for n in (1, 64)
    }
    assert min(each["m"] for each in whole[1]) == 16
    assert min(each["m"] for each in whole[64]) == 64


def test_a_product_with_whole_rows_is_priced_as_its_parts_one_after_the_other() -> None:
    text = """(float16[8192,512] x, float16[512,512] w, float16[512] g) => (float16[8192,512] y)
        { h = MatMul(x, w) y = LayerNormalization(h, g) }"""
    graph = graph_from(text)
    (found,) = best(graph).prices
    parts = found.product_s + found.lane_s + found.l2_s + found.memory_s
    assert found.seconds >= 0.8 * parts


NORM = """(float16[{rows},{terms}] x) => (float16[{rows},{terms}] y)
    <int64[1] last = {{-1}}> {{ n = ReduceL2<keepdims = 1>(x, last) y = Div(x, n) }}"""


@pytest.mark.parametrize(("rows", "terms", "kernels"), [(192, 4096, 1), (96, 65536, 2)])
def test_rows_that_no_program_can_hold_are_read_again(rows: int, terms: int, kernels: int) -> None:
    graph = graph_from(NORM.format(rows=rows, terms=terms))
    assert len(GpuPredicted(H200)(graph)) == kernels


@pytest.mark.parametrize("text", [MANY_ROWS, WIDE, FEW_ROWS, CHAIN])
def test_no_thread_spells_out_thousands_of_multiplications_of_f32(text: str) -> None:
    graph = graph_from(text.replace("float16", "float"))
    for choice in GpuPredicted(H200)(graph):
        assert choice.schedule is not None
        for each in written(choice.group, choice.schedule, graph, GpuTarget()):
            threads = 32 * each.launch.warps
            assert each.tally.unrolled.get("f32", 0) <= MOST_UNROLLED * threads


def test_tensor_cores_take_steps_that_no_thread_could_spell_out() -> None:
    graph = graph_from(MANY_ROWS.replace("float16", "float"))
    schedule = Schedule((8192, 768), settings={"m": 128, "n": 64, "k": 64, "warps": 4, "stages": 3})
    group = Group(graph.ops, graph.outputs)
    (exact,) = priced(group, schedule, graph, H200, GpuTarget()).prices
    (rounded,) = priced(group, schedule, graph, H200, GpuTarget(precision="tf32")).prices
    assert (exact.spills, rounded.spills) == (True, False)


def test_a_program_has_a_row_for_itself_only_where_it_is_a_run_of_memory() -> None:
    graph = graph_from("(float[2,64,32,32] x) => (float[2,64,1,1] y) { y = GlobalAveragePool(x) }")
    (op,) = graph.ops
    group = Group((op,), (op.output,))

    def single(orders: dict[str, tuple[int, ...]]) -> bool:
        return any(each["m"] == 1 for each in candidates(group, GpuTarget(orders=orders)))

    assert single({})
    assert not single({"x": (0, 2, 3, 1)})
