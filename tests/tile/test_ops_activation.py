from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.tile.expr import Constant, walk
from tile.one_node import assert_as_runtime, judged, lowered, numbers, one_node
from tile.operands import UNTIMED, together

PLAIN = {
    "Relu": {}, "LeakyRelu": {"alpha": 0.3}, "Elu": {"alpha": 1.5}, "Selu": {}, "Softplus": {},
    "Softsign": {}, "HardSigmoid": {"alpha": 0.4, "beta": 0.3}, "HardSwish": {}, "Mish": {},
    "Celu": {"alpha": 2.0}, "ThresholdedRelu": {"alpha": 0.7}, "Gelu": {},
    "Shrink": {"lambd": 1.0, "bias": 0.5}, "com.microsoft.Gelu": {},
    "com.microsoft.QuickGelu": {"alpha": 1.1}, "com.microsoft.FastGelu": {},
}  # fmt: skip


@UNTIMED
@given(inputs=together(("float32",), 1), op_type=st.sampled_from(sorted(PLAIN)))
def test_activations_take_nan_and_infinity(inputs: dict[str, Array], op_type: str) -> None:
    model = one_node(op_type, inputs, **PLAIN[op_type])
    found = inputs["x0"]
    if op_type in ("com.microsoft.FastGelu", "com.microsoft.QuickGelu"):
        # the runtime's approximations of these turn infinity into other numbers, by position
        inputs = {"x0": np.nan_to_num(found, nan=0.0, posinf=3.0, neginf=-3.0)}
        assume(found.ndim)
    assert_as_runtime(model, inputs, rtol=2e-5, atol=2e-6)


@UNTIMED
@given(inputs=together(("float16",), 1, special=False), op_type=st.sampled_from(sorted(PLAIN)))
def test_activations_of_half_precision(inputs: dict[str, Array], op_type: str) -> None:
    if op_type == "Celu" or op_type.startswith("com.microsoft"):
        wide = {"x0": inputs["x0"].astype(np.float32)}
        expected = judged(one_node(op_type, wide, **PLAIN[op_type]), wide)["out"]
        found = judged(one_node(op_type, inputs, **PLAIN[op_type]), inputs)["out"]
        np.testing.assert_array_equal(found, expected.astype(np.float16))
    else:
        model = one_node(op_type, inputs, **PLAIN[op_type])
        assert_as_runtime(model, inputs, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("dtype", ["int8", "int32", "float64"])
def test_relu_takes_other_types(dtype: str) -> None:
    inputs = {"x": np.array([-3, 0, 4], dtype)}
    assert_as_runtime(one_node("Relu", inputs), inputs)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_has_two_forms(approximate: str) -> None:
    inputs = {"x": numbers((3, 5))}
    assert_as_runtime(one_node("Gelu", inputs, approximate=approximate), inputs)


def test_another_approximation_of_gelu_is_left() -> None:
    model = one_node("Gelu", {"x": numbers((3,))}, approximate="sigmoid")
    with pytest.raises(ModelError, match="the approximation 'sigmoid'"):
        lowered(model)


@pytest.mark.parametrize("op_type", ["com.microsoft.BiasGelu", "com.microsoft.FastGelu"])
def test_gelu_of_a_sum(op_type: str) -> None:
    inputs = {"x": numbers((2, 3, 8)), "bias": numbers((8,), seed=1)}
    assert_as_runtime(one_node(op_type, inputs), inputs, rtol=1e-4, atol=1e-5)


def test_swish_multiplies_by_a_sigmoid() -> None:
    inputs = {"x": numbers((4, 5))}
    found = judged(one_node("Swish", inputs, opset=24, alpha=0.5), inputs)["out"]
    x = inputs["x"].astype(np.float64)
    np.testing.assert_allclose(found, x / (1 + np.exp(-0.5 * x)), rtol=1e-5)


@UNTIMED
@given(inputs=together(("float32", "float16"), 1, special=False))
def test_a_slope_may_be_per_element(inputs: dict[str, Array]) -> None:
    both = {**inputs, "slope": np.full(inputs["x0"].shape[-1:], 0.25, inputs["x0"].dtype)}
    assert_as_runtime(one_node("PRelu", both), both, rtol=1e-3)


def test_a_slope_before_opset_7_is_left() -> None:
    inputs = {"x": numbers((1, 3, 2)), "slope": numbers((3,))}
    with pytest.raises(ModelError, match="its slope is broadcast as before opset 7"):
        lowered(one_node("PRelu", inputs, opset=6))


LIMITS = st.sampled_from([None, -1.0, 0.5, 2.0, math.inf, -math.inf])


@UNTIMED
@given(inputs=together(("float32", "float64", "float16"), 1), low=LIMITS, high=LIMITS)
def test_clip_keeps_nan_and_lets_the_upper_limit_win(
    inputs: dict[str, Array], low: float | None, high: float | None
) -> None:
    kind = inputs["x0"].dtype
    limits = {"low": low, "high": high}
    held = {name: np.array(value, kind) for name, value in limits.items() if value is not None}
    order = ["x0", *(name if name in held else "" for name in limits)]
    assert_as_runtime(one_node("Clip", inputs, held, order=order), inputs)
    fed = {**inputs, **held}
    assert_as_runtime(one_node("Clip", fed, order=order), fed)


def test_clip_ignores_a_limit_that_is_nan() -> None:
    inputs = {"x": np.array([1.0, -1.0, np.nan], np.float32)}
    held = {"low": np.array(np.nan, np.float32)}
    assert_as_runtime(one_node("Clip", inputs, held), inputs)


def test_clip_of_integers() -> None:
    inputs = {"x": np.array([-100, 0, 100], np.int8)}
    held = {"low": np.array(-5, np.int8), "high": np.array(7, np.int8)}
    assert_as_runtime(one_node("Clip", inputs, held), inputs)


def test_clip_before_opset_11_has_attributes() -> None:
    inputs = {"x": numbers((4, 4))}
    assert_as_runtime(one_node("Clip", inputs, opset=10, min=-0.5, max=0.25), inputs)
    assert_as_runtime(one_node("Clip", inputs, opset=10), inputs)


def test_a_limit_of_several_numbers_is_left() -> None:
    inputs = {"x": numbers((3,)), "low": numbers((3,))}
    with pytest.raises(ModelError, match="a limit that is not a single number"):
        lowered(one_node("Clip", inputs))


SIXTH = float(np.float32(1 / 6))


@pytest.mark.parametrize(("kind", "alpha"), [("float32", 1 / 6), ("float64", SIXTH)])
def test_the_slope_of_a_line_is_the_fraction_that_f32_cannot_hold(kind: str, alpha: float) -> None:
    model = one_node("HardSigmoid", {"x": numbers((3, 4), kind)}, alpha=SIXTH, beta=0.5)
    (op,) = lowered(model).ops
    found = {part.value for part in walk(op.body) if isinstance(part, Constant)}
    assert found == {alpha, 0.5, 0.0, 1.0}


@pytest.mark.parametrize("alpha", [0.1667, 0.16666674613952637, 0.3333])
def test_another_slope_stays_what_it_is(alpha: float) -> None:
    kept = float(np.float32(alpha))
    (op,) = lowered(one_node("HardSigmoid", {"x": numbers((2,))}, alpha=kept, beta=0.5)).ops
    assert kept in {part.value for part in walk(op.body) if isinstance(part, Constant)}
