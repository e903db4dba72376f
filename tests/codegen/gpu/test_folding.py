"""Scales of columns, put into the constants of products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.gpu.folding import folded
from burnish.codegen.gpu.library import library_product
from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from codegen.gpu.models import HEAD

BLOCK = """(float16[16,32] x, float16[16,24] r) => (float16[16,24] y)
    { h = MatMul(x, w) i = Add(h, b) j = Mul(i, g) y = Add(r, j) }"""
LAYOUT = """(float16[1,16,6,6] x) => (float16[1,24,6,6] y)
    { h = Conv<pads=[1,1,1,1]>(x, v, b) j = Mul(s, h) y = Relu(j) }"""


def graph_of(text: str, scale: float = 0.3) -> TileGraph:
    """Return the nests of a model whose constants are drawn; scales are about as large as told."""
    random = np.random.default_rng(5)
    drawn: dict[str, Array] = {
        "w": random.standard_normal((32, 24)) / 6, "b": random.standard_normal(24),
        "v": random.standard_normal((24, 16, 3, 3)) / 12,
        "g": scale * (0.5 + random.random(24)), "s": scale * (0.5 + random.random((1, 24, 1, 1))),
    }  # fmt: skip
    proto = onnx.parser.parse_model(f"{HEAD}model {text}")
    used = {name for node in proto.graph.node for name in node.input}
    for name in used & drawn.keys():
        half = drawn[name].astype(np.float16)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(half, name))
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


@pytest.mark.parametrize("text", [BLOCK, LAYOUT])
def test_a_scale_goes_into_the_constants_and_nothing_else_changes(text: str) -> None:
    graph = graph_of(text)
    found = folded(graph)
    assert not {"g", "s", "w", "v", "b"} & set(found.constants)
    assert sum(name.startswith("y.scaled") for name in found.constants) == 2
    random = np.random.default_rng(1)
    inputs: dict[str, Array] = {
        name: random.standard_normal(graph.tensors[name].shape).astype(np.float16)
        for name in graph.inputs
    }
    given, wanted = (evaluate(each, inputs)["y"].astype(np.float64) for each in (found, graph))
    assert np.linalg.norm(given - wanted) < 1e-3 * np.linalg.norm(wanted)


def test_scaled_constants_take_no_name_that_a_tensor_has() -> None:
    (scaled,) = (name for name in folded(graph_of(BLOCK)).constants if name.endswith("scaled1"))
    graph = graph_of(BLOCK.replace(" r)", f' "{scaled}")').replace("(r,", f'("{scaled}",'))
    found = folded(graph)
    assert scaled in found.inputs
    assert scaled not in found.constants
    assert f"{scaled}." in found.constants


def test_what_is_left_is_a_product_that_libraries_form() -> None:
    graph = graph_of(BLOCK)
    for each, forms in ((graph, False), (folded(graph), True)):
        (op,) = each.ops
        group = Group((op,), (op.output,))
        pointers = (*op.inputs, op.output)
        assert (library_product(group, pointers, each.tensors, {}) is not None) is forms


def test_scales_that_would_be_lost_stay_where_they_are() -> None:
    graph = graph_of(BLOCK, scale=1e-6)  # products of it are below what f16 has eleven bits for
    assert folded(graph) is graph
    graph = graph_of(BLOCK, scale=40_000.0)  # and beyond what f16 has
    assert folded(graph) is graph


def test_a_tiny_offset_keeps_no_scale_from_being_folded_and_no_more_is_lost_than_was() -> None:
    graph = graph_of(BLOCK)
    offsets = np.asarray(graph.constants["b"]).copy()
    offsets[::3] = 2.0**-14 * np.array([1.01, -0.37, 0.003, 1e-3, 0.7, -1.3, 0.11, 0.0])
    graph = replace(graph, constants={**graph.constants, "b": offsets})
    found = folded(graph)
    assert "g" not in found.constants
    x = np.zeros(graph.tensors["x"].shape, np.float16)
    inputs: dict[str, Array] = {"x": x, "r": np.zeros(graph.tensors["r"].shape, np.float16)}
    given, wanted = (evaluate(each, inputs)["y"].astype(np.float64) for each in (found, graph))
    assert np.abs(given - wanted).max() <= max(2.0**-24, 2.0**-10 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "text",
    [
        # the constant is another product's, too
        """(float16[16,32] x, float16[16,32] z) => (float16[16,24] y, float16[16,24] q)
        { h = MatMul(x, w) y = Mul(h, g) q = MatMul(z, w) }""",
        # the offset is used unscaled, too
        """(float16[16,32] x) => (float16[16,24] y)
        { h = MatMul(x, w) i = Add(h, b) j = Mul(i, g) y = Add(j, b) }""",
        # the sums are used unscaled, too
        """(float16[16,32] x) => (float16[16,24] y)
        { h = MatMul(x, w) j = Mul(h, g) y = Add(j, h) }""",
        # what is scaled is no sum
        """(float16[16,32] x) => (float16[16,24] y)
        { h = MatMul(x, w) i = Relu(h) y = Mul(i, g) }""",
        # rows are scaled, not columns
        """(float16[24,32] x) => (float16[24,24] y)
        { h = MatMul(x, w) last = Constant<value_ints=[1]>() t = Unsqueeze(g, last)
          y = Mul(h, t) }""",
    ],
)
def test_what_is_more_than_a_scale_of_columns_stays(text: str) -> None:
    graph = graph_of(text)
    assert folded(graph) is graph
