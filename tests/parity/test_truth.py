from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from numpy.typing import NDArray

from burnish.meaning.node import TypedArray
from burnish.parity.noise import Noise
from burnish.parity.truth import Truth


def _noise(values: NDArray[np.float64], moved: NDArray[np.float64]) -> Noise:
    noise = Noise()
    noise.add({"y": TypedArray(values, "f32")}, {"y": TypedArray(values + moved, "f32")})
    return noise


def test_what_is_left_of_large_numbers_may_move_as_these_do() -> None:
    values, moved = np.ones(1000), np.full(1000, 1e-8)
    values[7], moved[7] = 1e-5, 0.0
    allowed = _noise(values, moved).of("y", 5.0)
    assert allowed is not None
    np.testing.assert_allclose(allowed, 5e-8, rtol=1e-3)


def test_what_is_zero_and_never_moves_may_not_move() -> None:
    values, moved = np.ones(1000), np.full(1000, 1e-8)
    values[7] = moved[7] = 0.0
    allowed = _noise(values, moved).of("y", 5.0)
    assert allowed is not None
    assert allowed[7] == 0.0


def test_larger_elements_may_move_farther() -> None:
    values = np.r_[np.ones(1000), 100.0]
    allowed = _noise(values, values * np.r_[np.full(1000, 1e-8), 0.0]).of("y", 1.0)
    assert allowed is not None
    assert 9e-7 < allowed[-1] < 1.1e-6


def test_a_single_number_has_noise_too() -> None:
    allowed = _noise(np.asarray(2.0), np.asarray(1e-7)).of("y", 3.0)
    assert allowed is not None
    np.testing.assert_allclose(allowed, 3e-7, rtol=1e-6)


def _reference(text: str) -> Truth:
    head = '<ir_version: 10, opset_import: ["" : 20]>'
    proto = onnx.parser.parse_model(f"{head} g (float[n] x) => (float[n] y) {{ {text} }}")
    return Truth(ir.from_proto(proto), None, lambda *_: ())


@pytest.mark.parametrize(
    ("text", "x", "overflows"),
    [
        ("e = Exp(x)  y = Div(e, e)", 1000.0, True),
        ("e = Exp(x)  y = Div(e, e)", 100.0, False),
        ("y = Div(x, x)", 0.0, False),
        ("y = Exp(x)", np.inf, False),
    ],
)
def test_where_f64_ends_what_the_candidate_means_counts(
    text: str, x: float, overflows: bool
) -> None:
    truth = _reference(text)
    found = truth.of_reference({"x": np.float32([x, 1.0])})
    assert found is not None
    assert truth.overflowed is overflows
    meant = {"y": TypedArray(np.array([5.0, 6.0]), "f32")}
    mended = truth.mended(found, meant)["y"].value
    assert mended[1] == found["y"].value[1]
    assert bool(mended[0] == 5.0) is overflows
