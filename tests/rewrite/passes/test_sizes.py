"""Sizes are read from the graph's inputs."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples


def build(axis: int, *, names: tuple[str, str] = ("batch", "batch")) -> ir.Model:
    g = Graph()
    x = g.input("x", [names[0], "length", 4])
    other = g.input("other", [names[1], 4, 4])
    product = g.op("MatMul", x, g.op("Relu", other))
    size = g.op("Gather", g.op("Shape", product), np.array(axis, np.int64), axis=0)
    return g.model(g.op("Mul", x, g.op("Cast", size, to=1)))


def feeds() -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    return {"x": samples(2, 3, 4), "other": samples(2, 4, 4, seed=1)}


def test_nothing_is_computed_for_its_shape_alone() -> None:
    for axis in (0, 1, -2):
        result = checked(build(axis), feeds())
        assert op_types(result.model) == ["Shape", "Gather", "Cast", "Mul"]


@pytest.mark.parametrize("way", ["Slice", "Split", "part of Shape"])
def test_sizes_are_read_from_inputs_however_they_are_taken_out(way: str) -> None:
    g = Graph(opset=18)
    x, other = g.input("x", ["batch", "length", 4]), g.input("other", ["batch", 4, 4])
    product = g.op("MatMul", x, g.op("Relu", other))
    if way == "Slice":
        size = g.op("Slice", g.op("Shape", product, start=0), np.array([-2]), np.array([2]))
    elif way == "Split":
        pieces = g.ops("Split", g.op("Shape", product), np.array([1, 1, 1]), outputs=3, axis=0)
        size = g.op("Unsqueeze", g.op("Squeeze", pieces[1], np.array([0])), np.array([0]))
    else:
        size = g.op("Shape", product, start=1, end=2)
    result = checked(g.model(g.op("Mul", x, g.op("Cast", size, to=1))), feeds())
    assert "MatMul" not in op_types(result.model)
    assert op_types(result.model).count("Gather") == 1


@pytest.mark.parametrize("at", [np.array(2), np.array([2])])
@pytest.mark.parametrize("old", ["past", 3])
def test_the_length_of_a_cache_and_what_is_new_is_added_up(
    at: np.ndarray[tuple[int, ...], np.dtype[np.int64]], old: str | int
) -> None:
    g = Graph()
    past, new = g.input("past", ["batch", 2, old, 4]), g.input("new", ["batch", 2, "length", 4])
    joined = g.op("Relu", g.op("Concat", past, new, axis=2))
    size = g.op("Gather", g.op("Shape", joined), at, axis=0)
    model = g.model(g.op("Mul", new, g.op("Cast", size, to=1)))
    result = checked(model, {"past": samples(1, 2, 3, 4), "new": samples(1, 2, 5, 4, seed=1)})
    assert "Concat" not in op_types(result.model)
    assert op_types(result.model).count("Add") == 1


def test_a_size_that_no_input_states_is_left_alone() -> None:
    result = optimize(build(0, names=("one", "other")))
    assert "MatMul" in op_types(result.model)


def test_equal_sizes_become_one() -> None:
    g = Graph()
    x = g.input("x", ["batch", "length", 4])
    sizes = [
        g.op("Gather", g.op("Shape", g.op(op_type, x)), np.array([0], np.int64), axis=0)
        for op_type in ("Relu", "Abs", "Neg")
    ]
    model = g.model(g.op("Reshape", x, g.op("Concat", *sizes[:1], np.array([-1]), axis=0)),
                    g.op("Expand", g.constant(np.ones((1, 4))),
                         g.op("Concat", sizes[1], np.array([4]), axis=0)))  # fmt: skip
    result = checked(model, {"x": samples(2, 3, 4)})
    assert op_types(result.model).count("Shape") == 1
    assert op_types(result.model).count("Gather") == 1


def _two_sizes(g: Graph, x: ir.Value, other: ir.Value) -> ir.Model:
    turned = g.op("Transpose", g.op("MatMul", x, g.op("Relu", other)), perm=[1, 0, 2])
    both = g.op("Gather", g.op("Shape", turned), np.array([0, 1]), axis=0)
    shape = g.op("Concat", both, np.array([1]), axis=0)
    return g.model(g.op("Expand", g.constant(np.ones((1, 1, 2))), shape))


def test_several_sizes_are_read_at_once() -> None:
    g = Graph()
    x, other = g.input("x", ["batch", "length", 4]), g.input("other", ["batch", 4, 4])
    result = checked(_two_sizes(g, x, other), feeds())
    assert op_types(result.model) == ["Shape", "Gather", "Concat", "Expand"]


def test_sizes_of_different_inputs_are_left_alone() -> None:
    g = Graph()
    x, other = g.input("x", ["length", 4]), g.input("other", ["batch", 4, 4])
    result = checked(_two_sizes(g, x, other), {"x": samples(3, 4), "other": samples(2, 4, 4)})
    assert "MatMul" in op_types(result.model)


def test_the_step_can_be_disabled() -> None:
    result = optimize(build(0), OptimizeOptions(disable=("read-sizes",)))
    assert "MatMul" in op_types(result.model)
