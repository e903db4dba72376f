"""Products of one tensor that become one product."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.gpu.merge import merged
from burnish.codegen.gpu.peepholes import simpler
from burnish.rewrite.static import static
from burnish.tile.expr import Accumulated, Argument, Call, Constant, call, cast
from burnish.tile.graph import TileGraph
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from codegen.gpu.models import HEAD, inputs_of

ATTENTION = """(float16[2,9,16] x, float16[2,9,16] other) => (float16[2,9,16] y)
    { q = MatMul(x, a) r = Add(q, bias) k = MatMul(x, b) v = MatMul(SOURCE, c)
      s = Mul(r, k) y = Add(s, v) }"""

BIASED = """(float16[2,9,16] x) => (float16[2,9,16] q, float16[2,9,16] k)
    { p = MatMul(x, a) q = Add(p, bias) r = MatMul(x, b) k = Add(r, bias) }"""


def graph_of(source: str, columns: int = 16) -> TileGraph:
    """Return the nests of three products, the third of `source` with so many columns."""
    return graph_from(ATTENTION.replace("SOURCE", source), columns)


def graph_from(text: str, columns: int = 16) -> TileGraph:
    """Return the nests of a model that multiplies with constants."""
    proto = onnx.parser.parse_model(f"{HEAD}three {text}")
    random = np.random.default_rng(1)
    shapes = {"a": (16, 16), "b": (16, 16), "c": (16, columns), "bias": (16,)}
    for name, shape in shapes.items():
        array = random.standard_normal(shape).astype(np.float16)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


@pytest.mark.parametrize(("source", "joined"), [("x", 3), ("other", 2)])
def test_products_of_one_tensor_are_one_product_and_give_the_same(source: str, joined: int) -> None:
    graph = graph_of(source)
    together = merged(graph)
    (product,) = (op for op in together.ops if op.output.endswith(".together"))
    assert product.shape[-1] == 16 * joined
    inputs = inputs_of(graph)
    np.testing.assert_array_equal(evaluate(together, inputs)["y"], evaluate(graph, inputs)["y"])
    simple = simplify(together)
    np.testing.assert_array_equal(evaluate(simple, inputs)["y"], evaluate(graph, inputs)["y"])


def test_what_all_products_add_is_added_to_them_all_at_once() -> None:
    graph = graph_from(BIASED)
    together = merged(graph)
    (product,) = (op for op in together.ops if op.output.endswith(".together"))
    assert [read.tensor for read in product.reads[2:]] == [f"{product.output}.offset0"]
    inputs = inputs_of(graph)
    wanted = evaluate(graph, inputs)
    for found in (evaluate(together, inputs), evaluate(simplify(together), inputs)):
        for name in graph.outputs:
            np.testing.assert_array_equal(found[name], wanted[name])


def test_weights_of_another_width_stay_apart() -> None:
    graph = graph_of("x", columns=1)
    (product,) = (op for op in merged(graph).ops if op.output.endswith(".together"))
    assert product.shape[-1] == 32


def test_joining_twice_changes_nothing_more() -> None:
    once = simplify(merged(graph_of("x")))
    assert simplify(merged(once)).ops == once.ops


def test_a_value_that_is_rounded_for_a_moment_stays_as_it_is_unless_it_must_be_exact() -> None:
    total = Accumulated("f32")
    rounded = cast(cast(total, "f16"), "f32")
    assert simpler(rounded, exact=False) == total
    assert simpler(rounded, exact=True) == rounded


def test_what_is_zero_below_zero_is_the_larger_of_both() -> None:
    x, zero = Argument(0, "f32"), Constant(0, "f32")
    relu = call("where", call("less", x, zero), zero, x)
    assert simpler(relu, exact=True) == Call("maximum", (x, zero), "f32")
    leaky = call("where", call("less", x, zero), zero, call("negative", x))
    assert simpler(leaky, exact=True) == leaky


GROUPED = """(float16[ROWS,16] x) => (float16[ROWS,48] y)
    { q = MatMul(x, a) r = Add(q, bias) k = MatMul(x, c) l = Add(k, end) v = MatMul(x, d)
      y = Concat<axis=1>(r, l, v) }"""
"""Queries, keys and values, of which there are fewer columns."""


@pytest.mark.parametrize(("rows", "wide"), [(1, [48]), (8, [48]), (9, [16])])
@pytest.mark.parametrize("offsets", [False, True])
def test_products_of_few_rows_are_one_product_of_unequal_columns(
    rows: int, wide: list[int], offsets: bool
) -> None:
    text = GROUPED.replace("ROWS", str(rows))
    if not offsets:
        text = text.replace("Add(q, bias)", "Relu(q)").replace("Add(k, end)", "Identity(k)")
    proto = onnx.parser.parse_model(f"{HEAD}grouped {text}")
    random = np.random.default_rng(5)
    shapes = {"a": (16, 32), "bias": (32,), "c": (16, 8), "end": (8,), "d": (16, 8)}
    for name, shape in shapes.items():
        array = random.standard_normal(shape).astype(np.float16)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    graph = simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)
    together = merged(graph)
    products = [op for op in together.ops if op.output.endswith(".together")]
    assert [op.shape[-1] for op in products] == wide
    inputs = inputs_of(graph)
    wanted = evaluate(graph, inputs)["y"]
    for found in (together, simplify(together)):
        np.testing.assert_array_equal(evaluate(found, inputs)["y"], wanted)
