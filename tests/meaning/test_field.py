from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.meaning.evaluate import Evaluator
from burnish.meaning.field import LARGEST_SUM, ROOT, P, PrimeField, Q
from burnish.meaning.node import NotEvaluatedError

HEAD = '<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1]>'
RANDOM = np.random.default_rng(0)
FEEDS = {
    "x": RANDOM.standard_normal((3, 4)).astype(np.float32),
    "y": RANDOM.standard_normal((3, 4)).astype(np.float32),
    "w": RANDOM.standard_normal((4, 4)).astype(np.float32),
}


def image(body: str, seed: int = 0, weights: dict[str, Array] | None = None) -> Array:
    """Return what a graph gives in the field."""
    text = f"g (float[3, 4] x, float[3, 4] y, float[4, 4] w) => (float[3, 4] z) {{ {body} }}"
    proto = onnx.parser.parse_model(f"{HEAD} {text}")
    arrays = (weights or {}).items()
    proto.graph.initializer.extend(onnx.numpy_helper.from_array(v, k) for k, v in arrays)
    model = Evaluator(ir.serde.deserialize_model(proto))
    numbers = PrimeField(seed)
    return numbers.array(model.outputs(FEEDS, numbers)["z"].value)


def is_prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def test_the_moduli_are_primes_and_the_root_has_the_order_of_the_smaller() -> None:
    assert is_prime(P)
    assert is_prime(Q)
    assert (P - 1) % Q == 0
    assert ROOT != 1
    assert pow(ROOT, Q, P) == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a = Add(x, y) z = MatMul(a, w)", "a = MatMul(x, w) b = MatMul(y, w) z = Add(a, b)"),
        ("z = Div(x, y)", "a = Reciprocal(y) z = Mul(a, x)"),
        ("a = Exp(x) b = Exp(y) z = Mul(a, b)", "a = Add(x, y) z = Exp(a)"),
        ("z = Softmax(x)", "e = Exp(x) s = ReduceSum(e, last) z = Div(e, s)"),
        ("z = Softmax(x)", "a = Add(x, half) z = Softmax(a)"),
        ("a = Mul(x, half) z = Add(a, y)", "a = Div(x, two) z = Add(y, a)"),
        ("z = Sigmoid(x)", "n = Neg(x) e = Exp(n) o = Add(e, one) z = Reciprocal(o)"),
        ("a = Tanh(x) z = Add(a, a)", "a = Tanh(x) z = Mul(two, a)"),
    ],
)
def test_right_forms_are_equal(left: str, right: str) -> None:
    weights = {
        "half": np.float32(0.5), "two": np.float32(2), "one": np.float32(1),
        "last": np.array([-1]),
    }  # fmt: skip
    arrays = {name: np.asarray(value) for name, value in weights.items()}
    for seed in range(3):
        np.testing.assert_array_equal(image(left, seed, arrays), image(right, seed, arrays))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("z = Mul(x, y)", "z = Add(x, y)"),
        ("z = Tanh(x)", "z = Erf(x)"),
        ("z = Sub(x, y)", "z = Sub(y, x)"),
        ("z = Softmax(x)", "z = Softmax<axis = 0>(x)"),
        ("z = Mul(x, small)", "z = Mul(x, almost)"),
    ],
)
def test_wrong_forms_differ_nearly_everywhere(left: str, right: str) -> None:
    arrays = {
        "small": np.asarray(np.float32(1)),
        "almost": np.asarray(np.nextafter(np.float32(1), np.float32(2))),
    }
    assert (image(left, 0, arrays) != image(right, 0, arrays)).mean() > 0.9


@given(st.floats(-(2.0**90), 2.0**90, width=32), st.floats(-(2.0**90), 2.0**90, width=32))
def test_the_images_of_floats_multiply_as_the_floats_do(a: float, b: float) -> None:
    from fractions import Fraction

    numbers = PrimeField(0)
    found = numbers.call("multiply", [numbers.number(a, "f32"), numbers.number(b, "f32")], "f32")
    exact = Fraction(a) * Fraction(b)
    assert int(found.p) == exact.numerator * pow(exact.denominator, -1, P) % P
    assert int(found.q) == exact.numerator * pow(exact.denominator, -1, Q) % Q


def test_matrix_products_are_exact() -> None:
    numbers = PrimeField(3)
    left = numbers.held(RANDOM.standard_normal((5, 300)), "f64")
    right = numbers.held(RANDOM.standard_normal((300, 4)), "f64")
    found = numbers.product(left, right, "f64")
    for modulus, pair, result in ((P, (left.p, right.p), found.p), (Q, (left.q, right.q), found.q)):
        a, b = (side.astype(object) for side in pair)
        np.testing.assert_array_equal(result, (a @ b) % modulus)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("a = Exp(x) z = Exp(a)", "an exponential of an exponential"),
        ("a = Cast<to = 7>(x) z = Cast<to = 1>(a)", "numbers are cut to i64"),
        ("c = Less(x, y) z = Where(c, x, y)", "less of numbers gives no number"),
    ],
)
def test_what_has_no_image_is_said(body: str, reason: str) -> None:
    with pytest.raises(NotEvaluatedError, match=reason):
        image(body)


def test_an_infinite_constant_has_no_image() -> None:
    with pytest.raises(NotEvaluatedError, match="NaN or infinite"):
        PrimeField(0).number(float("inf"), "f32")


def test_sums_that_are_too_long_are_refused() -> None:
    numbers = PrimeField(0)
    long = numbers.held(np.zeros((1, LARGEST_SUM + 1)), "f32")
    with pytest.raises(NotEvaluatedError, match="a sum of 1,048,577 products"):
        numbers.product(long, numbers.each(np.transpose, long), "f32")


def test_a_size_that_is_cast_is_an_element_like_others() -> None:
    sized = "s = Shape (x) r = Gather <axis = 0> (s, i) f = Cast <to = 1> (r) z = Mul (x, f)"
    plain = "z = Mul (x, f)"
    index, number = np.array([1]), np.array([4], np.float32)
    assert np.array_equal(image(sized, weights={"i": index}), image(plain, weights={"f": number}))
