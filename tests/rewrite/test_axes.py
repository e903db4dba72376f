"""Chains of reshapes and transposes are read as one order of axes."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.merged_axes import Origin, origin
from burnish.rewrite.passes.shapes import InferShapes
from rewriting import Graph, run, samples

SIZES = (2, 3, 4, 5)


def _found(g: Graph, value: ir.Value) -> tuple[ir.Model, Origin]:
    model = g.model(g.op("Identity", value))
    InferShapes()(model)
    return model, origin(value, Facts(model))


def test_heads_merged_into_the_batch_are_seen() -> None:
    g = Graph()
    x = g.input("x", ["batch", 6, 4, 8])
    y = g.op("Transpose", g.op("Unsqueeze", x, np.array([3])), perm=[0, 2, 1, 3, 4])
    _, found = _found(g, g.op("Reshape", y, np.array([-1, 6, 8])))
    assert found.source is x
    assert found.groups == ((0, 2), (1,), (3,))


def test_sizes_that_cannot_be_told_apart_end_the_chain() -> None:
    g = Graph()
    x = g.input("x", ["batch", "length", 4, 8])
    _, found = _found(g, g.op("Reshape", x, np.array([-1, 6, 8])))
    assert found.source is not x


def test_an_axis_that_is_cut_ends_the_chain() -> None:
    g = Graph()
    x = g.input("x", ["batch", 6, 32])
    cut = g.op("Reshape", x, np.array([0, 0, 4, 8]))
    _, found = _found(g, g.op("Transpose", cut, perm=[0, 2, 1, 3]))
    assert found.source is cut
    assert found.order == (0, 2, 1, 3)


def test_a_computed_value_is_its_own_origin() -> None:
    g = Graph()
    y = g.op("Relu", g.input("x", [2, 3]))
    _, found = _found(g, y)
    assert (found.source, found.groups, found.nodes) == (y, ((0,), (1,)), ())


def _steps(g: Graph, x: ir.Value, draw: st.DataObject) -> tuple[ir.Value, list[int]]:
    sizes = list(SIZES)
    for _ in range(draw.draw(st.integers(1, 4))):
        kind = draw.draw(st.sampled_from(["turn", "merge", "add", "drop"]))
        if kind == "turn":
            perm = draw.draw(st.permutations(range(len(sizes))))
            x, sizes = g.op("Transpose", x, perm=perm), [sizes[axis] for axis in perm]
        elif kind == "merge" and len(sizes) > 1:
            at = draw.draw(st.integers(0, len(sizes) - 2))
            sizes[at : at + 2] = [sizes[at] * sizes[at + 1]]
            x = g.op("Reshape", x, np.array(sizes))
        elif kind == "add":
            at = draw.draw(st.integers(0, len(sizes)))
            x = g.op("Unsqueeze", x, np.array([at]))
            sizes.insert(at, 1)
        elif 1 in sizes:
            at = sizes.index(1)
            x = g.op("Squeeze", x, np.array([at]))
            del sizes[at]
    return x, sizes


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_chain_is_its_origin_turned_and_merged(data: st.DataObject) -> None:
    g = Graph()
    x = g.input("x", SIZES)
    y, sizes = _steps(g, x, data)
    model, found = _found(g, y)
    given_x = samples(*SIZES)
    (expected,) = run(model, {"x": given_x})
    if found.source is x:
        np.testing.assert_array_equal(given_x.transpose(found.order).reshape(sizes), expected)


@pytest.mark.parametrize("shape", [(1, 6, 8), (6, 1, 8)])
def test_axes_of_one_keep_their_place_in_the_order(shape: tuple[int, ...]) -> None:
    g = Graph()
    x = g.input("x", shape)
    _, found = _found(g, g.op("Reshape", x, np.array([6, 1, 8])))
    assert found.source is x
    assert sorted(found.order) == [0, 1, 2]
