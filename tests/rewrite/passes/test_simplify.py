"""Operators that do nothing go; those that only look like it stay."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.element_types import holds_exactly
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

Body = Callable[[Graph, ir.Value], ir.Value]
F16, F32, F64 = ir.DataType.FLOAT16, ir.DataType.FLOAT, ir.DataType.DOUBLE
I32, I64 = ir.DataType.INT32, ir.DataType.INT64


def simplified(
    body: Body, *, opset: int = 17, shape: tuple[Any, ...] = ("batch", 4, 8)
) -> list[str]:
    """Return what is left of a body between two Relu."""
    graph = Graph(opset=opset)
    x = graph.op("Relu", graph.input("x", shape))
    model = graph.model(graph.op("Relu", body(graph, x)))
    sizes = tuple(2 if isinstance(size, str) else size for size in shape)
    result = checked(model, {"x": samples(*sizes)})
    return op_types(result.model)[1:-1]


GONE: dict[str, Body] = {
    "Identity": lambda g, x: g.op("Identity", x),
    "Dropout": lambda g, x: g.op("Dropout", x),
    "Dropout told not to train": lambda g, x: g.op("Dropout", x, 0.5, np.array(False)),
    "Cast to its own type": lambda g, x: g.op("Cast", x, to=F32),
    "CastLike": lambda g, x: g.op("CastLike", x, 1.0),
    "Cast there and back": lambda g, x: g.op("Cast", g.op("Cast", x, to=F64), to=F32),
    "x + 0": lambda g, x: g.op("Add", 0.0, x),
    "x - 0": lambda g, x: g.op("Sub", x, [0.0]),
    "x · 1": lambda g, x: g.op("Mul", np.ones((1, 1, 1)), x),
    "x / 1": lambda g, x: g.op("Div", x, np.ones(8)),
    "x ** 1": lambda g, x: g.op("Pow", x, 1.0),
    "a choice that is made": lambda g, x: g.op("Where", np.ones((4, 1), bool), x, np.zeros(8)),
    "a choice that is not made": lambda g, x: g.op("Where", np.zeros(8, bool), 1.0, x),
    "Concat of one": lambda g, x: g.op("Concat", x, axis=1),
    "Sum of one": lambda g, x: g.op("Sum", x),
    "Transpose that moves nothing": lambda g, x: g.op("Transpose", x, perm=[0, 1, 2]),
    "Transpose and its inverse": lambda g, x: g.op(
        "Transpose", g.op("Transpose", x, perm=[1, 2, 0]), perm=[2, 0, 1]
    ),
    "Reshape to its own shape": lambda g, x: g.op("Reshape", x, np.array([0, 4, 8])),
    "Reshape with one open size": lambda g, x: g.op("Reshape", x, np.array([-1, 4, 8])),
    "Reshape there and back": lambda g, x: g.op(
        "Reshape", g.op("Reshape", x, np.array([-1, 32])), np.array([-1, 4, 8])
    ),
    "Expand to less": lambda g, x: g.op("Expand", x, np.array([1, 8])),
    "Slice of everything": lambda g, x: g.op(
        "Slice", x, np.array([0, 0]), np.array([2**63 - 1, 4]), np.array([0, 1])
    ),
    "Unsqueeze and Squeeze": lambda g, x: g.op(
        "Squeeze", g.op("Unsqueeze", x, np.array([1])), np.array([1])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GONE)
def test_what_does_nothing_goes(name: str) -> None:
    assert simplified(GONE[name]) == []


STAYS: dict[str, tuple[Body, list[str]]] = {
    "a choice that stretches": (
        lambda g, x: g.op("Where", np.ones((1, 1, 1, 1), bool), x, 0.0), ["Where"],
    ),
    "a choice element by element": (
        lambda g, x: g.op("Where", np.arange(8) % 2 == 0, x, 0.0),
        ["Where"],
    ),
    "Cast through an integer": (
        lambda g, x: g.op("Cast", g.op("Cast", x, to=I32), to=F32), ["Cast", "Cast"],
    ),
    "Cast through a narrower type": (
        lambda g, x: g.op("Cast", g.op("Cast", x, to=F16), to=F32), ["Cast", "Cast"],
    ),
    "0 - x": (lambda g, x: g.op("Sub", 0.0, x), ["Sub"]),
    "1 / x": (lambda g, x: g.op("Div", 1.0, g.op("Add", x, 1.0)), ["Add", "Div"]),
    "a one that stretches": (lambda g, x: g.op("Mul", x, np.ones((1, 1, 1, 1))), ["Mul"]),
    "ones where the size is open": (lambda g, x: g.op("Mul", x, np.ones((2, 1, 1))), ["Mul"]),
    "a one that is not all ones": (lambda g, x: g.op("Mul", x, np.arange(8.0)), ["Mul"]),
    "Transpose twice, not its own inverse": (
        lambda g, x: g.op("Transpose", g.op("Transpose", x, perm=[1, 2, 0]), perm=[1, 2, 0]),
        ["Transpose"],
    ),
    "Reshape with two open sizes": (
        lambda g, x: g.op("Reshape", x, np.array([4, -1, 8])), ["Reshape"],
    ),
    "Reshape of Reshape that copies a size": (
        lambda g, x: g.op("Reshape", g.op("Reshape", x, np.array([4, -1, 8])), np.array([0, -1])),
        ["Reshape", "Reshape"],
    ),
    "Slice that leaves out the last": (
        lambda g, x: g.op("Slice", x, np.array([0]), np.array([-1]), np.array([1])), ["Slice"],
    ),
    "Slice backwards": (
        lambda g, x: g.op(
            "Slice", x, np.array([-1]), np.array([-(2**63)]), np.array([1]), np.array([-1])
        ),
        ["Slice"],
    ),
    "Squeeze of another axis": (
        lambda g, x: g.op("Squeeze", g.op("Unsqueeze", g.op("Unsqueeze", x, np.array([1])),
                                          np.array([0])), np.array([2])),
        ["Unsqueeze", "Unsqueeze", "Squeeze"],
    ),
    "Expand to more": (lambda g, x: g.op("Expand", x, np.array([3, 1, 1, 1])), ["Expand"]),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_what_only_looks_like_it_stays(name: str) -> None:
    body, expected = STAYS[name]
    assert simplified(body) == expected


def _widened(g: Graph, x: ir.Value, op_type: str, like: ir.Value) -> ir.Value:
    narrow = g.op("ReduceMax", x, axes=[1])
    asked = narrow if op_type == "Add" else g.op("IsNaN", narrow)
    wide = g.op("Expand", asked, g.op("Shape", like))
    return g.op("Add", wide, x) if op_type == "Add" else g.op("Where", wide, 1.0, x)


@pytest.mark.parametrize("op_type", ["Add", "Where"])
def test_nothing_is_made_as_wide_as_what_it_is_combined_with(op_type: str) -> None:
    assert "Expand" not in simplified(lambda g, x: _widened(g, x, op_type, x))


def test_what_is_made_wider_than_the_other_operand_stays_so() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        return _widened(g, x, "Add", g.op("Concat", x, x, axis=0))

    assert "Expand" in simplified(body, shape=(1, 4, 8))


def test_dropout_that_trains_stays() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    training = graph.input("training", [], ir.DataType.BOOL)
    model = graph.model(graph.op("Dropout", x, 0.5, training))
    feeds = {"x": samples(4), "training": np.array(False)}
    assert op_types(checked(model, feeds).model) == ["Dropout"]


def test_dropout_whose_mask_is_read_stays() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    kept, mask = graph.ops("Dropout", x, outputs=2)
    model = graph.model(graph.op("Relu", kept), graph.op("Cast", mask, to=F32))
    assert "Dropout" in op_types(checked(model, {"x": samples(4)}).model)


def test_cast_of_a_large_integer_through_float_stays() -> None:
    graph = Graph()
    x = graph.input("x", [2], I64)
    y = graph.op("Cast", graph.op("Cast", x, to=F32), to=I64)
    y.type = ir.TensorType(I64)
    result = checked(graph.model(y), {"x": np.array([2**40 + 1, 3])})
    assert op_types(result.model) == ["Cast", "Cast"]


def test_numbers_that_become_text_keep_the_type_they_are_written_in() -> None:
    graph = Graph()
    x = graph.input("x", [2], I32)
    y = graph.op("Cast", graph.op("Cast", x, to=F64), to=ir.DataType.STRING)
    y.type = ir.TensorType(ir.DataType.STRING)
    assert op_types(optimize(graph.model(y)).model) == ["Cast", "Cast"]


def test_outputs_keep_their_names_when_what_computes_them_goes() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    inner = graph.op("Relu", x)
    model = graph.model(graph.op("Identity", inner), graph.op("Identity", x))
    result = checked(model, {"x": samples(4)})
    assert [value.name for value in result.model.graph.outputs] == ["out0", "out1"]
    assert op_types(result.model) == ["Relu", "Identity"]


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(4)), st.permutations(range(4)))
def test_two_transposes_become_at_most_one(first: list[int], second: list[int]) -> None:
    graph = Graph()
    x = graph.input("x", [2, 3, 4, 5])
    y = graph.op("Transpose", graph.op("Transpose", x, perm=first), perm=second)
    result = checked(graph.model(graph.op("Relu", y)), {"x": samples(2, 3, 4, 5)})
    assert op_types(result.model).count("Transpose") <= 1


def test_a_type_holds_another_exactly_only_if_values_survive_the_way_there_and_back() -> None:
    probes = [0, 1, -1, 3, 255, -128, 2047, 2049, 65535, 2**24 + 1, 2**31 - 1, 2**53 + 1, 0.5]
    kinds = (I64, I32, ir.DataType.INT8, ir.DataType.UINT8, F64, F32, F16, ir.DataType.BOOL)
    for container, content in permutations(kinds, 2):
        values = [v for v in probes if _is_value_of(content, v)]
        with np.errstate(all="ignore"):
            array = np.array(values).astype(content.numpy())
            back = array.astype(container.numpy()).astype(content.numpy())
        if holds_exactly(container, content):
            assert np.array_equal(back, array), (container, content)
    assert not holds_exactly(F32, I32)
    assert not holds_exactly(F32, I64)
    assert not holds_exactly(I64, F16)
    assert not holds_exactly(ir.DataType.FLOAT16, ir.DataType.BFLOAT16)
    assert holds_exactly(F32, ir.DataType.BFLOAT16)
    assert holds_exactly(F64, I32)


def _is_value_of(kind: ir.DataType, number: float) -> bool:
    dtype = kind.numpy()
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min <= number <= limits.max and number == int(number)
    return dtype.kind != "b" or number in (0, 1)


@pytest.mark.parametrize("spelled", ["ConstantOfShape", "Expand"])
def test_zeros_that_are_made_to_measure_are_not_added(spelled: str) -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 3])
    shape = graph.op("Shape", x)
    if spelled == "Expand":
        zeros = graph.op("Expand", np.float32(0), shape)
    else:
        zeros = graph.op("ConstantOfShape", shape)
    result = checked(graph.model(graph.op("Relu", graph.op("Add", x, zeros))), {"x": samples(2, 3)})
    assert op_types(result.model) == ["Relu"]


def test_zeros_that_stretch_stay() -> None:
    graph = Graph()
    x = graph.input("x", [1, 3])
    zeros = graph.op("ConstantOfShape", np.array([2, 3]))
    result = checked(graph.model(graph.op("Relu", graph.op("Add", x, zeros))), {"x": samples(1, 3)})
    assert "Add" in op_types(result.model)


@pytest.mark.parametrize(
    ("axis", "order", "left"),
    [(1, [0, 1], 0), (-2, [0, 1], 0), (1, [1, 0], 1), (0, [0, 1], 1), (1, [0, 0], 1)],
)
def test_parts_that_are_put_together_again_are_the_whole(
    axis: int, order: list[int], left: int
) -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 3])
    parts = graph.ops("Split", x, np.array([2, 2]), outputs=2, axis=1)
    whole = graph.op("Concat", *(parts[index] for index in order), axis=axis)
    result = checked(graph.model(graph.op("Relu", whole)), {"x": samples(2, 4, 3)})
    assert op_types(result.model).count("Concat") == left
