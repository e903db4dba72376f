"""What a model takes changes only where it is asked for."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.core.errors import UsageError
from burnish.rewrite.interface import with_axes_renamed, with_i32_inputs, with_interface_of
from burnish.rewrite.precision.half import in_half
from rewriting import Graph, op_types, run, samples

LONG, SHORT = ir.DataType.INT64, ir.DataType.INT32


def tokens() -> ir.Model:
    g = Graph()
    ids, mask = (g.input(name, ["batch", "length"], LONG) for name in ("ids", "mask"))
    rows = g.op("Gather", g.constant(samples(10, 4), name="table"), ids)
    return g.model(g.op("Mul", rows, g.op("Unsqueeze", g.op("Cast", mask, to=1), np.array([2]))))


def test_i64_inputs_take_i32_and_readers_get_what_they_got() -> None:
    model, names = with_i32_inputs(tokens())
    assert names == ("ids", "mask")
    assert [value.dtype for value in model.graph.inputs] == [SHORT, SHORT]
    feeds = {"ids": np.array([[1, 9]]), "mask": np.array([[1, 0]])}
    short = {name: array.astype(np.int32) for name, array in feeds.items()}
    np.testing.assert_array_equal(run(model, short)[0], run(tokens(), feeds)[0])


def test_a_model_without_i64_inputs_says_so() -> None:
    g = Graph()
    with pytest.raises(UsageError, match="--int32-inputs: the model has no input of i64"):
        with_i32_inputs(g.model(g.op("Relu", g.input("x", [2]))))


def test_an_input_that_is_an_output_or_has_a_default_is_refused() -> None:
    g = Graph()
    x = g.input("x", [2], LONG)
    with pytest.raises(UsageError, match="the input 'x' is also an output"):
        with_i32_inputs(g.model(g.op("Neg", x), x))
    g = Graph()
    default = g.constant(np.array([1, 2]), name="d")
    g.inputs.append(default)
    with pytest.raises(UsageError, match="the input 'd' has a default of i64"):
        with_i32_inputs(g.model(g.op("Neg", default)))


def test_axes_get_new_names_wherever_they_are_known() -> None:
    g = Graph()
    one, other = g.input("one", ["unk__6", 4]), g.input("other", ["unk__7", 4])
    y = g.op("Add", one, other)
    y.shape = ir.Shape(["unk__6", 4])
    model = g.model(y)
    found = with_axes_renamed(model, {"unk__6": "batch", "unk__7": "batch"})
    shapes = [value.shape for value in (*found.graph.inputs, *found.graph.outputs)]
    assert shapes == [ir.Shape(["batch", 4])] * 3
    assert model.graph.inputs[0].shape == ir.Shape(["unk__6", 4])


def test_an_axis_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no input or output has an axis 'bach'") as caught:
        with_axes_renamed(tokens(), {"bach": "batch"})
    assert "did you mean 'batch'" in caught.value.hint


def test_a_converted_model_can_be_fed_like_the_original() -> None:
    g = Graph()
    scores = g.op("Softmax", g.op("MatMul", g.input("x", [2, 4]), samples(4, 4)))
    original = g.model(scores)
    adapted = with_interface_of(in_half(original).model, original)
    assert op_types(adapted) == ["Cast", "MatMul", "Softmax", "Cast"]
    feeds = {"x": samples(2, 4)}
    (wide,), (found,) = run(original, feeds), run(adapted, feeds)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wide, atol=1e-2)
    assert [value.name for value in adapted.graph.outputs] == ["out0"]


def test_a_model_without_nodes_gets_its_casts() -> None:
    g, half = Graph(), Graph()
    original = g.model(g.input("x", [2]))
    copy = half.model(half.input("x", [2], ir.DataType.FLOAT16))
    assert op_types(with_interface_of(copy, original)) == ["Cast", "Cast"]
