from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, lowered, numbers, one_node
from tile.operands import FLOATS, INTEGERS, UNTIMED, together, values


@UNTIMED
@given(
    inputs=together((*FLOATS, *INTEGERS), 2),
    op_type=st.sampled_from(["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]),
)
def test_comparisons_say_no_to_nan(inputs: dict[str, Array], op_type: str) -> None:
    assert_as_runtime(one_node(op_type, inputs, results=["bool"]), inputs)


@UNTIMED
@given(inputs=together(("bool",), 2), op_type=st.sampled_from(["And", "Or", "Xor", "Equal"]))
def test_logic_of_two(inputs: dict[str, Array], op_type: str) -> None:
    assert_as_runtime(one_node(op_type, inputs), inputs)


@UNTIMED
@given(inputs=together(("bool",), 1))
def test_logic_of_one(inputs: dict[str, Array]) -> None:
    assert_as_runtime(one_node("Not", inputs), inputs)


@UNTIMED
@given(
    inputs=together(INTEGERS, 2),
    op_type=st.sampled_from(["BitwiseAnd", "BitwiseOr", "BitwiseXor"]),
)
def test_bits_of_two(inputs: dict[str, Array], op_type: str) -> None:
    assert_as_runtime(one_node(op_type, inputs), inputs)


@UNTIMED
@given(inputs=together(INTEGERS, 1))
def test_bits_of_one(inputs: dict[str, Array]) -> None:
    assert_as_runtime(one_node("BitwiseNot", inputs), inputs)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64"])
def test_bits_are_shifted(direction: str, dtype: str) -> None:
    inputs = {"x": np.array([1, 3, 200, 255], dtype), "y": np.array([0, 1, 3, 7], dtype)}
    assert_as_runtime(one_node("BitShift", inputs, direction=direction), inputs)


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("negative", [0, 1])
def test_infinities_are_found_on_the_sides_that_are_asked_for(positive: int, negative: int) -> None:
    inputs = {"x": np.array([np.inf, -np.inf, np.nan, 0, 1], np.float32)}
    model = one_node(
        "IsInf", inputs, results=["bool"], detect_positive=positive, detect_negative=negative
    )
    assert_as_runtime(model, inputs)


@UNTIMED
@given(inputs=together(FLOATS, 1))
def test_nan_is_found(inputs: dict[str, Array]) -> None:
    assert_as_runtime(one_node("IsNaN", inputs, results=["bool"]), inputs)


@UNTIMED
@given(
    others=together(("float32", "float64", "int8", "int32", "int64", "uint8", "uint32"), 2),
    data=st.data(),
)
def test_where_chooses_and_broadcasts(others: dict[str, Array], data: st.DataObject) -> None:
    shape = np.broadcast_shapes(*(array.shape for array in others.values()))
    condition = data.draw(values("bool", shape[-1:]))
    inputs = {"c": condition, **others}
    model = one_node("Where", inputs, results=[others["x0"].dtype.name])
    assert_as_runtime(model, inputs)


def test_comparing_with_a_broadcasting_attribute_is_left() -> None:
    inputs = {"x": numbers((2, 3)), "y": numbers((2,))}
    model = one_node("Less", inputs, opset=6, results=["bool"], broadcast=1, axis=0)
    with pytest.raises(ModelError, match="broadcasting by an attribute, as before opset 7"):
        lowered(model)
