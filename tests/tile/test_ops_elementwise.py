from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, judged, lowered, numbers, one_node
from tile.operands import FLOATS, INTEGERS, UNTIMED, together

TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12}


def assert_same(op_type: str, inputs: dict[str, Array], **attributes: object) -> None:
    dtype = next(iter(inputs.values())).dtype.name
    tolerance = TOLERANCE.get(dtype, 0.0)
    model = one_node(op_type, inputs, **attributes)
    assert_as_runtime(model, inputs, rtol=tolerance, atol=tolerance)


@UNTIMED
@given(inputs=together((*FLOATS, *INTEGERS), 2), op_type=st.sampled_from(["Add", "Sub", "Mul"]))
def test_arithmetic_broadcasts_and_integers_wrap(inputs: dict[str, Array], op_type: str) -> None:
    assert_same(op_type, inputs)


@UNTIMED
@given(inputs=together((*FLOATS, *INTEGERS), 2))
def test_division_of_integers_rounds_towards_zero(inputs: dict[str, Array]) -> None:
    left, right = inputs.values()
    if left.dtype.kind in "iu":
        # by zero, and the least number by -1, a processor raises: no runtime defines it
        assume(right.all() and not (left.dtype.kind == "i" and (right == -1).any()))
    assert_same("Div", inputs)


@UNTIMED
@given(inputs=together(INTEGERS, 2), fmod=st.integers(0, 1))
def test_remainders_have_the_sign_that_fmod_says(inputs: dict[str, Array], fmod: int) -> None:
    left, right = inputs.values()
    assume(right.all() and not (left.dtype.kind == "i" and (right == -1).any()))
    # with fmod the runtime computes in doubles, which do not hold all 64-bit numbers
    exact = all(abs(int(n)) < 2**53 for array in inputs.values() for n in array.flat)
    assume(not fmod or exact)
    assert_same("Mod", inputs, fmod=fmod)


@UNTIMED
@given(inputs=together(FLOATS, 2))
def test_remainders_of_floats_are_those_of_c(inputs: dict[str, Array]) -> None:
    assert_same("Mod", inputs, fmod=1)


@UNTIMED
@given(
    inputs=together((*FLOATS, "int8", "int32", "int64", "uint8", "uint32", "uint64"), 3),
    op_type=st.sampled_from(["Min", "Max"]),
)
def test_the_least_and_greatest_of_several_keep_nan(inputs: dict[str, Array], op_type: str) -> None:
    # the runtime compares some numbers of 64 bits by their lower 32
    assume(all(array.dtype.itemsize < 8 or _fit_32_bits(array) for array in inputs.values()))
    assert_same(op_type, inputs)


def _fit_32_bits(array: Array) -> bool:
    return array.dtype.kind == "f" or all(-(2**31) <= int(n) < 2**31 for n in array.flat)


@UNTIMED
@given(inputs=together(("float32", "float16"), 3), op_type=st.sampled_from(["Sum", "Mean"]))
def test_sum_and_mean_take_any_number(inputs: dict[str, Array], op_type: str) -> None:
    assert_same(op_type, inputs)


UNARY = [
    "Abs", "Neg", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Tanh",
    "Asinh", "Floor", "Ceil", "Round", "Sigmoid", "Reciprocal", "Asin", "Acos", "Acosh", "Atanh",
    "Erf",
]  # fmt: skip


@UNTIMED
@given(inputs=together(("float32",), 1), op_type=st.sampled_from(UNARY))
def test_functions_of_one_number_take_nan_and_infinity(
    inputs: dict[str, Array], op_type: str
) -> None:
    # the runtime knows no sine of infinity
    assume(op_type not in ("Sin", "Cos", "Tan") or np.isfinite(inputs["x0"]).all())
    model = one_node(op_type, inputs)
    assert_as_runtime(model, inputs, rtol=3e-5, atol=1e-6)


@UNTIMED
@given(
    inputs=together(("float32", "float64", *INTEGERS), 1), op_type=st.sampled_from(["Abs", "Sign"])
)
def test_size_and_sign_of_all_types(inputs: dict[str, Array], op_type: str) -> None:
    # ONNX Runtime 1.31.1 looks at the lower half of an i64 for its sign
    assume(op_type == "Abs" or inputs["x0"].dtype.itemsize < 8 or (abs(inputs["x0"]) < 2**31).all())
    assert_same(op_type, inputs)


@pytest.mark.parametrize("base", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("exponent", ["float32", "float64", "int32", "int64"])
def test_a_power_has_the_type_of_its_base(base: str, exponent: str) -> None:
    inputs = {
        "x": np.array([1, 2, 3, 5, -2, 0], base),
        "y": np.array([0, 1, 2, 3, 3, 2], exponent),
    }
    assert_as_runtime(one_node("Pow", inputs), inputs)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0, 3.0, -1.0, 1.5])
def test_a_constant_power_is_a_few_products_where_that_is_exact(exponent: float) -> None:
    inputs = {"x": np.abs(numbers((3, 4)))}
    model = one_node("Pow", inputs, {"y": np.array(exponent, np.float32)})
    assert_as_runtime(model, inputs)
    calls = str(lowered(model).ops[0].body)
    assert ("power" in calls) == (exponent not in (0.5, 1.0, 2.0, 3.0))


def test_a_constant_of_one_element_is_a_number_and_no_read() -> None:
    inputs = {"x": numbers((2, 3))}
    graph = lowered(one_node("Mul", inputs, {"y": np.full((1, 1), 0.5, np.float32)}))
    assert [read.tensor for read in graph.ops[0].reads] == ["x"]
    assert not graph.constants


def test_a_constant_of_one_element_still_gives_its_rank() -> None:
    inputs = {"x": numbers((3,))}
    model = one_node("Add", inputs, {"y": np.full((1, 1, 1), 2.0, np.float32)})
    assert judged(model, inputs)["out"].shape == (1, 1, 3)
    assert_as_runtime(model, inputs)


def test_half_precision_is_computed_in_f32_and_rounded_once() -> None:
    inputs = {name: np.array([value], np.float16) for name, value in
              {"x0": 2048.0, "x1": 1.0, "x2": 1.0}.items()}  # fmt: skip
    assert judged(one_node("Sum", inputs), inputs)["out"].item() == 2050


def test_broadcasting_by_an_attribute_is_left() -> None:
    inputs = {"x": numbers((2, 3)), "y": numbers((2,))}
    model = one_node("Add", inputs, opset=6, broadcast=1, axis=0)
    with pytest.raises(ModelError, match="broadcasting by an attribute, as before opset 7"):
        lowered(model)


def test_an_operand_that_is_left_out_is_named() -> None:
    inputs = {"x": numbers((2, 3))}
    model = one_node("Sum", inputs, order=["x", ""])
    with pytest.raises(ModelError, match="an operand is left out"):
        lowered(model)


def test_shapes_that_do_not_fit_are_named() -> None:
    inputs = {"x": numbers((2, 3)), "y": numbers((4,))}
    model = one_node("Add", inputs)
    with pytest.raises(ModelError, match=r"shapes \(2, 3\), \(4,\) do not fit together"):
        lowered(model)


@pytest.mark.parametrize("operator", ["Div", "Mod"])
def test_a_constant_0_is_no_divisor_of_whole_numbers(operator: str) -> None:
    inputs = {"x": np.array([4, -3, 0])}
    with pytest.raises(ModelError, match="it divides whole numbers by 0"):
        lowered(one_node(operator, inputs, {"by": np.array([2, 0, 1])}))
