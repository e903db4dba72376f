"""What is changed in a graph before its nests are grouped for a GPU: scales, sums alike, chains."""

from __future__ import annotations

from functools import partial

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.adapting import adapted
from burnish.codegen.gpu.alike import side_by_side
from burnish.codegen.gpu.chains import reordered
from burnish.codegen.gpu.narrowing import narrowed
from burnish.codegen.gpu.scales import unscaled
from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from codegen.gpu.models import HEAD, inputs_of

CHANNELS = """(float16[HEADS3,8,PIXELS] x) => (float16[1,OUT,PIXELS] y)
    { q, k, v = Split<axis=0, num_outputs=3>(x)
      a = ReduceL2<keepdims=1>(q, last) m = Div(q, a) b = ReduceL2<keepdims=1>(k, last)
      n = Div(k, b) t = Transpose<perm=[0,2,1]>(n) u = Mul(m, hot) s = MatMul(u, t)
      w = Softmax<axis=-1>(s) h = MatMul(w, v) f = Reshape(h, flat) y = MatMul(weight, f) }"""
"""An attention over channels, as image restoration has it, and the product that follows."""


def channels(
    heads: int = 2, pixels: int = 96, out: int = 12, *, dtype: str = "float16", weight: float = 1.0
) -> TileGraph:
    """Return the nests of an attention over channels."""
    text = CHANNELS.replace("HEADS3", str(3 * heads)).replace("PIXELS", str(pixels))
    text = text.replace("OUT", str(out)).replace("float16", dtype)
    proto = onnx.parser.parse_model(f"{HEAD}channels {text}")
    kind = {"float16": np.float16, "float": np.float32}[dtype]
    random = np.random.default_rng(3)
    held = {
        "last": np.array([2]),
        "flat": np.array([1, 8 * heads, pixels]),
        "hot": np.linspace(0.5, 2.0, heads).astype(kind).reshape(heads, 1, 1),
        "weight": (weight * random.standard_normal((out, 8 * heads))).astype(kind),
    }
    for name, array in held.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def outputs_of(graph: TileGraph) -> dict[str, Array]:
    """Return what a graph computes of fixed random inputs."""
    return dict(evaluate(graph, inputs_of(graph)))


def nests(graph: TileGraph, reduced: bool | None = None) -> int:
    """Return how many nests there are, all or those that reduce something."""
    return sum(reduced is None or bool(op.reduced) is reduced for op in graph.ops)


def assert_same(one: TileGraph, other: TileGraph, tolerance: float = 2e-3) -> None:
    """Fail unless two graphs compute the same, but for rounding of 16-bit floats."""
    wanted, found = outputs_of(one), outputs_of(other)
    for name in one.outputs:
        expected = wanted[name].astype(np.float64)
        off = np.linalg.norm(found[name].astype(np.float64) - expected)
        assert off <= tolerance * np.linalg.norm(expected)


def test_images_are_multiplied_as_they_are_and_their_sums_are_scaled() -> None:
    graph = channels()
    scaled = unscaled(graph)
    assert nests(scaled) == nests(graph) - 2
    (scores,) = (op for op in scaled.ops if op.output == "s")
    assert {read.tensor for read in scores.reads[:2]} == {"x"}
    assert_same(graph, scaled)


def test_what_is_scaled_by_each_term_stays() -> None:
    text = """(float16[20,40] x, float16[40] g, float16[40,24] w) => (float16[20,24] y)
        { n = Mul(x, g) y = MatMul(n, w) }"""
    graph = simplify(
        lower(tuple(ir.from_proto(onnx.parser.parse_model(HEAD + "g" + text)).graph)).graph
    )
    assert unscaled(graph) is graph


def test_sums_that_could_leave_the_range_of_f32_stay_scaled() -> None:
    graph = channels(dtype="float")
    assert unscaled(graph) is graph


def test_few_elements_are_scaled_rather_than_many_sums() -> None:
    graph = channels(pixels=4)
    assert unscaled(graph) is graph


def test_norms_of_neighbouring_parts_are_one_sum() -> None:
    graph = unscaled(channels())
    joined = side_by_side(graph)
    assert nests(joined) == nests(graph) - 1
    (norms,) = (op for op in joined.ops if op.output.endswith(".alike"))
    assert norms.shape[0] == 2
    assert_same(graph, joined, 0.0)
    assert side_by_side(joined).ops == joined.ops


def test_a_sum_that_is_an_output_stays_by_itself() -> None:
    text = """(float16[2,6,40] x) => (float16[1,6,1] a, float16[1,6,1] b)
        { p, q = Split<axis=0, num_outputs=2>(x) a = ReduceL2(p, last) b = ReduceL2(q, last) }"""
    proto = onnx.parser.parse_model(f"{HEAD}outputs {text}")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([2]), "last"))
    graph = simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)
    assert side_by_side(graph) is graph


def test_weights_are_multiplied_before_values() -> None:
    graph = channels()
    found = reordered(graph)
    assert {op.output for op in found.ops} - {op.output for op in graph.ops} == {"y.first"}
    assert "h" not in {op.output for op in found.ops}
    assert_same(graph, found)


@pytest.mark.parametrize(
    "graph",
    [partial(channels, pixels=4), partial(channels, weight=1e4), partial(channels, out=600)],
)
def test_products_stay_in_order_where_it_saves_nothing_or_overflows(
    graph: partial[TileGraph],
) -> None:
    given = graph()
    assert reordered(given) is given


SKIPPED = """(float16[9,32] x, float16[9,24] r, float16[24] g) => (float16[9,24] y)
    { p = MatMul(x, w) y = com.microsoft.SkipLayerNormalization(p, r, g) }"""


def test_what_a_node_adds_up_for_itself_is_handed_on_in_its_own_type() -> None:
    opset = '<ir_version: 10, opset_import: ["": 20, "com.microsoft": 1]> '
    proto = onnx.parser.parse_model(f"{opset}skipped {SKIPPED}")
    weight = np.random.default_rng(5).standard_normal((32, 24)).astype(np.float16)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    graph = simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)
    assert narrowed(graph) is graph
    found = narrowed(graph, least=1)
    wide, half = ({op.dtype for op in each.ops if "sum" in op.output} for each in (graph, found))
    assert (wide, half) == ({"f32"}, {"f16"})
    assert_same(graph, found)
    assert narrowed(found, least=1) is found


def test_scores_and_what_other_nodes_read_stay_wide() -> None:
    graph = channels(dtype="float")
    assert narrowed(graph, least=1) is graph
    assert narrowed(channels(), least=1).ops == channels().ops


@given(
    heads=st.integers(1, 3), pixels=st.integers(1, 70), out=st.integers(1, 40),
    dtype=st.sampled_from(["float16", "float"]),
)  # fmt: skip
@settings(max_examples=12)
def test_an_adapted_graph_computes_the_same(heads: int, pixels: int, out: int, dtype: str) -> None:
    graph = channels(heads, pixels, out, dtype=dtype)
    assert_same(graph, adapted(graph), 4e-3)
