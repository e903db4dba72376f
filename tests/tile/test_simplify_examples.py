"""What simplification makes of the parts that networks are made of."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.simplify import Fusion, simplify
from burnish.tile.steps.divisions import divisions
from burnish.tile.steps.substitution import is_contraction, is_move

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'


def graph_of(text: str) -> TileGraph:
    """Return the nests of a model in ONNX's own text form, as they are lowered."""
    model = onnx.parser.parse_model(HEADER + text)
    return lower(list(static(ir.serde.deserialize_model(model), {}).graph)).graph


def checked(graph: TileGraph, fusion: Fusion = "element-wise") -> TileGraph:
    """Return the simplified graph, after the judge has seen no difference."""
    simple = simplify(graph, fusion=fusion)
    random = np.random.default_rng(0)
    fed: dict[str, Array] = {
        name: random.standard_normal(graph.tensors[name].shape).astype(np.float32)
        for name in graph.inputs
    }
    expected, found = evaluate(graph, fed), evaluate(simple, fed)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-5)
    return simple


ATTENTION = """
g (float[2,6,8] x, float[8,8] wq, float[8,8] wk, float[8,8] wv, float[8,8] wo) => (float[2,6,8] out)
<int64[4] split = {0, 0, 2, 4}, int64[3] merge = {0, 0, -1}, float[1] scale = {0.5}>
{ q = MatMul(x, wq)  k = MatMul(x, wk)  v = MatMul(x, wv)
  q1 = Reshape(q, split)  k1 = Reshape(k, split)  v1 = Reshape(v, split)
  q2 = Transpose<perm=[0,2,1,3]>(q1)  k2 = Transpose<perm=[0,2,3,1]>(k1)
  v2 = Transpose<perm=[0,2,1,3]>(v1)
  s = MatMul(q2, k2)  s2 = Mul(s, scale)  p = Softmax<axis=-1>(s2)  c = MatMul(p, v2)
  c2 = Transpose<perm=[0,2,1,3]>(c)  c3 = Reshape(c2, merge)  o = MatMul(c3, wo)
  out = Add(o, x) }
"""


def test_attention_is_six_products_and_a_softmax_without_division() -> None:
    simple = checked(graph_of(ATTENTION))
    assert sum(is_contraction(op) for op in simple.ops) == 6
    assert len(simple.ops) == 10
    assert all(divisions(op, simple.tensors).weight == (0, 0) for op in simple.ops)


def test_the_heads_are_split_in_the_loops_of_the_last_product() -> None:
    simple = checked(graph_of(ATTENTION))
    last = simple.ops[-1]
    assert [axis.extent for axis in last.reduced] == [2, 4]
    assert last.shape == (2, 6, 8)


def test_without_fusion_every_computation_keeps_its_nest() -> None:
    graph = graph_of(ATTENTION)
    simple = checked(graph, "none")
    computing = [op.output for op in graph.ops if not is_move(op)]
    assert [op.output for op in simple.ops] == computing


CONVOLUTION = """
g (float[1,3,6,6] x, float[1,4,6,6] z) => (float[1,4,6,6] out)
<float[4,3,3,3] w, float[4,1,1] scale = {1, 2, 3, 4}>
{ a = Conv<pads=[1,1,1,1]>(x, w)  b = Mul(a, scale)  c = Relu(b)  out = Add(c, z) }
"""


def test_a_convolution_takes_in_all_that_follows_and_leaves_its_padding_out() -> None:
    weights = "{" + ", ".join(str(n % 7 - 3) for n in range(108)) + "}"
    graph = graph_of(CONVOLUTION.replace("3,3] w,", f"3,3] w = {weights},"))
    pad, convolution = checked(graph).ops
    assert is_move(pad)
    assert is_contraction(convolution)
    assert not any(read.guards for read in convolution.reads)
    assert {read.tensor for read in convolution.reads} == {pad.output, "w", "scale", "z"}
    assert len(convolution.nodes) == 4


def test_of_two_convolutions_that_are_added_the_later_one_ends_with_the_sum() -> None:
    first, second = checked(
        graph_of(
            """g (float[1,3,6,6] x, float[4,3,1,1] v, float[4,3,1,1] w) => (float[1,4,6,6] out)
            { a = Conv(x, v)  b = Conv(x, w)  out = Add(a, b) }"""
        )
    ).ops
    assert first.finish is None
    assert first.output in {read.tensor for read in second.reads}


def test_softmax_is_four_nests_at_most() -> None:
    simple = checked(
        graph_of("g (float[4,8] x, float[8] m) => (float[4,8] y) { a = Add(x, m) y = Softmax(a) }")
    )
    assert len(simple.ops) <= 5


def test_layer_norm_is_three_nests() -> None:
    simple = checked(
        graph_of(
            """g (float[4,8] x, float[8] w, float[8] b) => (float[4,8] y)
            { y = LayerNormalization(x, w, b) }"""
        )
    )
    assert len(simple.ops) == 3


def test_a_sum_that_a_layer_norm_reads_is_computed_once() -> None:
    simple = checked(
        graph_of(
            """g (float[4,8] x, float[4,8] z, float[8] w) => (float[4,8] y)
            { s = Add(x, z)  t = Exp(s)  y = LayerNormalization(t, w) }"""
        )
    )
    assert simple.ops[0].output == "t"
    assert len(simple.ops) == 4


def test_an_expensive_function_is_not_repeated_for_each_reader() -> None:
    simple = checked(
        graph_of(
            """g (float[4,8] x) => (float[4,8] y, float[4,8] z)
            { e = Exp(x)  y = Neg(e)  z = Abs(e) }"""
        )
    )
    assert len(simple.ops) == 3


def test_a_cheap_one_is() -> None:
    simple = checked(
        graph_of(
            """g (float[4,8] x) => (float[4,8] y, float[4,8] z)
            { e = Neg(x)  y = Exp(e)  z = Abs(e) }"""
        )
    )
    assert len(simple.ops) == 2


def test_a_product_does_not_take_in_what_it_reads() -> None:
    simple = checked(
        graph_of(
            """g (float[4,8] x, float[8,8] w) => (float[4,8] y) { e = Exp(x)  y = MatMul(e, w) }"""
        )
    )
    assert len(simple.ops) == 2


def test_a_row_reduction_does() -> None:
    simple = checked(
        graph_of(
            """g (float[4,8] x) => (float[4,1] y)
            <int64[1] axes = {1}> { e = Exp(x)  y = ReduceSum(e, axes) }"""
        )
    )
    assert len(simple.ops) == 1


def test_parts_of_a_whole_are_read_where_they_are() -> None:
    simple = checked(
        graph_of(
            """g (float[2,8] x) => (float[2,4] y)
            <int64[2] sizes = {4, 4}> { a, b = Split<axis=1>(x, sizes)  y = Mul(a, b) }"""
        )
    )
    (nest,) = simple.ops
    assert {read.tensor for read in nest.reads} == {"x"}


def test_what_is_cut_out_of_a_concatenation_is_read_directly() -> None:
    simple = checked(
        graph_of(
            """g (float[2,4] x, float[2,4] z) => (float[2,4] y)
            <int64[1] low = {4}, int64[1] high = {8}, int64[1] axes = {1}>
            { c = Concat<axis=1>(x, z)  s = Slice(c, low, high, axes)  y = Exp(s) }"""
        )
    )
    (nest,) = simple.ops
    assert [(read.tensor, read.guards) for read in nest.reads] == [("z", ())]


def test_rolling_asks_each_condition_once() -> None:
    simple = checked(
        graph_of(
            """g (float[6] x) => (float[6] y)
            <int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {6}>
            { h = Slice(x, b, c)  t = Slice(x, a, b)  y = Concat<axis=0>(h, t) }"""
        )
    )
    (nest,) = simple.ops
    assert len(nest.reads) == 2


def test_relative_positions_are_shifted_without_division() -> None:
    """A row of zeros in front, and then another shape: how attention shifts rows."""
    simple = checked(
        graph_of(
            """g (float[5,9] x) => (float[5,5] y)
            <int64[4] pads = {0, 1, 0, 0}, int64[2] turned = {10, 5}, int64[2] back = {5, 9},
             int64[1] one = {1}, int64[1] ten = {10}, int64[1] zero = {0}, int64[1] five = {5}>
            { p = Pad(x, pads)  t = Reshape(p, turned)  c = Slice(t, one, ten, zero)
              r = Reshape(c, back)  s = Slice(r, zero, five, one)  y = Exp(s) }"""
        )
    )
    (nest,) = simple.ops
    assert divisions(nest, simple.tensors).weight == (0, 0)
    assert not nest.reads[0].guards


def test_a_product_that_is_read_askew_stays_a_product() -> None:
    """Moved to where it is read, the product would multiply no element of w twice."""
    simple = checked(
        graph_of(
            """g (float[16,8] x, float[8,31] w) => (float[16,16] y)
            <int64[4] pads = {0, 1, 0, 0}, int64[2] turned = {32, 16}, int64[2] back = {16, 31},
             int64[1] one = {1}, int64[1] end = {32}, int64[1] zero = {0}, int64[1] half = {16}>
            { m = MatMul(x, w)  p = Pad(m, pads)  t = Reshape(p, turned)
              c = Slice(t, one, end, zero)  r = Reshape(c, back)  s = Slice(r, zero, half, one)
              y = Exp(s) }"""
        )
    )
    assert [op.shape for op in simple.ops] == [(16, 31), (16, 16)]


def test_a_product_of_constants_is_one() -> None:
    simple = checked(
        graph_of(
            """g (float[2,2] x) => (float[2,2] y)
            <float[2,3] a = {1, 2, 3, 4, 5, 6}, float[3,2] b = {1, 0, 0, 1, 1, 1}>
            { c = MatMul(a, b)  y = Add(x, c) }"""
        )
    )
    (constant,) = simple.constants.values()
    assert constant.tolist() == [[4, 5], [10, 11]]


def test_a_product_of_constants_in_half_precision_is_one_however_large() -> None:
    graph = graph_of(
        """g (float16[600,600] x, float16[600,512] a, float16[512,600] b) => (float16[600,600] y)
        { c = MatMul(a, b)  y = Add(x, c) }"""
    )
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(graph.tensors[name].shape).astype(np.float16) for name in "ab")
    given = dataclasses.replace(graph, inputs=("x",), constants={"a": a, "b": b})
    (constant,) = simplify(given).constants.values()
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert constant.dtype == np.float16
    np.testing.assert_array_equal(constant, exact.astype(np.float32).astype(np.float16))


def test_a_product_of_a_part_of_a_constant_has_that_part_only() -> None:
    """A slice that is too large to be a constant of its own is read where it is."""
    graph = graph_of(
        """g (float[2,4] x, float[2,3] a, float[3,4] b) => (float[2,4] y)
        { c = MatMul(a, b)  y = Add(x, c) }"""
    )
    constants = {
        "a": np.array([[1, 2, 3], [4, 5, 6]], np.float32),
        "b": np.array([[1, 0, 0, 1, 9], [1, 1, 2, 2, 9], [3, 3, 3, 3, 9]], np.float32),
    }
    types = {**graph.tensors, "b": TensorType("f32", (3, 5))}
    part = dataclasses.replace(graph, inputs=("x",), constants=constants, tensors=types)
    (constant,) = simplify(part).constants.values()
    assert constant.tolist() == [[12, 11, 13, 14], [27, 23, 28, 32]]


def test_constants_are_computed_once() -> None:
    simple = checked(
        graph_of(
            """g (float[4] x) => (float[4] y)
            <float[4] a = {1, 2, 3, 4}, float[4] b = {4, 3, 2, 1}>
            { c = Mul(a, b)  d = Exp(c)  y = Add(x, d) }"""
        )
    )
    (nest,) = simple.ops
    assert list(simple.constants) == [nest.reads[1].tensor]


def test_equal_nests_are_one() -> None:
    simple = checked(
        graph_of(
            """g (float[4,8] x, float[8,8] w) => (float[4,8] y)
            { a = MatMul(x, w)  b = MatMul(x, w)  c = Exp(a)  d = Exp(b)  y = Mul(c, d) }"""
        )
    )
    assert len(simple.ops) == 1


@pytest.mark.parametrize("fusion", ["none", "element-wise"])
def test_a_movement_that_is_an_output_stays(fusion: Fusion) -> None:
    graph = graph_of(
        "g (float[2,6] x) => (float[3,4] y) <int64[2] s = {3, 4}> { y = Reshape(x, s) }"
    )
    (nest,) = checked(graph, fusion).ops
    assert nest.output == "y"


def test_a_permuted_product_is_computed_in_its_new_order() -> None:
    simple = checked(
        graph_of(
            """g (float[4,8] x, float[8,6] w) => (float[6,4] y)
            { a = MatMul(x, w)  y = Transpose(a) }"""
        )
    )
    (nest,) = simple.ops
    assert nest.shape == (6, 4)
    assert is_contraction(nest)
