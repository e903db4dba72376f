from __future__ import annotations

import math
from random import Random

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import ArrayLike, DTypeLike

from burnish.closeness import apart as elements
from burnish.closeness.apart import scale_of
from burnish.closeness.tolerance import ARITHMETIC
from burnish.parity import compare as module
from burnish.parity.compare import TensorDiff, compare, compare_tensor
from burnish.parity.tolerances import Tolerances

DEFAULT = Tolerances()

FINITE = st.floats(-1e6, 1e6, width=32)
TENSORS = hnp.arrays(
    np.float32, hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=5), elements=FINITE
)


def diff(
    reference: ArrayLike, candidate: ArrayLike, tolerances: Tolerances = DEFAULT
) -> TensorDiff:
    return compare_tensor("y", np.asarray(reference), np.asarray(candidate), tolerances)


def plain_scale(reference: np.ndarray) -> float:
    magnitudes = np.abs(reference.astype(np.float64)).ravel()
    positive = magnitudes[magnitudes > 0]
    if positive.size == 0:
        return 0.0
    kept = magnitudes[magnitudes <= 1e4 * np.quantile(positive, 0.25)]
    return float(np.sqrt(np.mean(kept**2)))


def plain_passes(reference: np.ndarray, candidate: np.ndarray) -> bool:
    """The judge: the formula of the module `tolerances`, spelled out once more."""
    tolerance = ARITHMETIC["f32"]
    left, right = reference.astype(np.float64), candidate.astype(np.float64)
    magnitude = np.maximum(np.abs(left), plain_scale(reference))
    allowed = tolerance.absolute + tolerance.relative * magnitude
    return bool(np.all(np.abs(right - left) <= allowed))


@given(TENSORS)
def test_a_tensor_agrees_with_itself(tensor: np.ndarray) -> None:
    found = diff(tensor, tensor.copy())
    assert found.passed
    assert (found.max_abs, found.max_rel, found.severity, found.reason) == (0.0, 0.0, 0.0, "")
    assert found.cosine == pytest.approx(1.0)


@given(TENSORS, st.data())
def test_the_plain_formula_gives_the_same_verdict(tensor: np.ndarray, data: st.DataObject) -> None:
    noise = data.draw(hnp.arrays(np.float32, tensor.shape, elements=st.floats(-2, 2, width=32)))
    size = data.draw(st.sampled_from([1e-7, 1e-5, 1e-4, 1e-2]))
    candidate = tensor + np.float32(size * max(plain_scale(tensor), 1.0)) * noise
    found = diff(tensor, candidate)
    assume(abs(found.severity - 1) > 1e-6)
    assert found.passed == plain_passes(tensor, candidate)
    assert found.passed == (found.severity <= 1)
    distance = np.abs(candidate.astype(np.float64) - tensor.astype(np.float64))
    assert found.max_abs == pytest.approx(float(distance.max()))


@given(TENSORS, st.data())
def test_a_planted_error_is_found_at_its_index(tensor: np.ndarray, data: st.DataObject) -> None:
    flat = data.draw(st.integers(0, tensor.size - 1))
    index = np.unravel_index(flat, tensor.shape)
    allowed = ARITHMETIC["f32"].allowance(max(abs(float(tensor[index])), plain_scale(tensor)))
    candidate = tensor.astype(np.float64)
    candidate[index] += data.draw(st.sampled_from([-10, 10, 1000])) * allowed
    found = diff(tensor, candidate.astype(np.float32))
    assert not found.passed
    assert found.worst_index == tuple(map(int, index))


@given(TENSORS, st.randoms(use_true_random=False))
def test_the_order_of_elements_does_not_matter(tensor: np.ndarray, random: Random) -> None:
    candidate = tensor * np.float32(1.00005) + np.float32(1e-3)
    order = list(range(tensor.size))
    random.shuffle(order)
    straight = diff(tensor.ravel(), candidate.ravel())
    shuffled = diff(tensor.ravel()[order], candidate.ravel()[order])
    assert shuffled.passed == straight.passed
    assert shuffled.max_abs == straight.max_abs
    assert shuffled.severity == pytest.approx(straight.severity)


@given(TENSORS, st.integers(-20, 20))
def test_scaling_by_a_power_of_two_leaves_the_relative_error(
    tensor: np.ndarray, power: int
) -> None:
    candidate = tensor * np.float32(1.0001)
    factor = np.float64(2.0**power)
    wide, narrow = tensor.astype(np.float64), candidate.astype(np.float64)
    found, scaled = diff(wide, narrow), diff(wide * factor, narrow * factor)
    assert scaled.max_rel == pytest.approx(found.max_rel)


def test_pieces_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    reference = random.normal(size=(37, 53)).astype(np.float32)
    candidate = reference + random.normal(size=reference.shape).astype(np.float32) * 1e-3
    candidate[20, 7] += 1
    whole = diff(reference, candidate)
    monkeypatch.setattr(module, "CHUNK", 100)
    monkeypatch.setattr(elements, "CHUNK", 100)
    pieces = diff(reference, candidate)
    assert pieces.worst_index == whole.worst_index == (20, 7)
    assert pieces.reason == whole.reason
    assert pieces.top1_agreement == whole.top1_agreement
    assert (pieces.max_abs, pieces.severity) == pytest.approx((whole.max_abs, whole.severity))
    assert (pieces.cosine, pieces.scale) == pytest.approx((whole.cosine, whole.scale))


def test_an_element_near_zero_is_judged_by_the_size_of_its_tensor() -> None:
    assert diff(np.float32([1e-9, 1.0]), np.float32([5e-6, 1.0])).passed


def test_a_tensor_of_small_values_is_judged_by_its_own_size() -> None:
    assert not diff(np.float32([1e-4, 2e-4]), np.float32([2e-4, 1e-4])).passed


def test_fill_values_of_masked_scores_do_not_hide_wrong_scores() -> None:
    reference = np.float32([0.5, -0.7, 1.2, *[np.finfo(np.float32).min] * 5])
    candidate = reference.copy()
    candidate[1] = -0.6
    assert scale_of(reference) == pytest.approx(0.8524, abs=1e-3)
    assert diff(reference, candidate).worst_index == (1,)


def test_the_scale_of_a_sparse_tensor_comes_from_all_of_it() -> None:
    sparse = np.zeros(1 << 18, np.float32)
    sparse[1] = 4.0
    assert scale_of(sparse) == pytest.approx(4.0 / 512)


def test_zeros_are_judged_absolutely() -> None:
    assert diff(np.zeros(4, np.float32), np.full(4, 5e-7, np.float32)).passed
    assert not diff(np.zeros(4, np.float32), np.full(4, 5e-6, np.float32)).passed


def test_cosine_of_zeros() -> None:
    zeros, ones = np.zeros(3, np.float32), np.ones(3, np.float32)
    assert diff(zeros, zeros).cosine == 1.0
    assert diff(zeros, ones).cosine == 0.0
    assert diff(ones, -ones).cosine == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ([1.0, 2.0], [1.0, math.nan]),
        ([1.0, math.nan], [1.0, 2.0]),
        ([1.0, math.inf], [1.0, -math.inf]),
        ([1.0, math.inf], [1.0, 3e38]),
        ([1.0, math.inf], [1.0, math.nan]),
    ],
)
def test_nan_or_infinity_on_one_side_fails(reference: ArrayLike, candidate: ArrayLike) -> None:
    found = diff(np.float32(reference), np.float32(candidate))
    assert not found.passed
    assert found.non_finite_mismatches == 1
    assert found.worst_index == (1,)
    assert found.severity == math.inf
    assert found.reason == "1 of 2 elements NaN or infinite on one side only"


def test_nan_and_infinity_on_both_sides_agree_and_are_counted() -> None:
    tensor = np.float32([1.0, math.nan, math.inf, -math.inf])
    found = diff(tensor, tensor.copy())
    assert found.passed
    assert found.non_finite_shared == 3


def test_a_wrong_shape_is_named() -> None:
    found = diff(np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32))
    assert not found.passed
    assert found.reason == "the shape is [3, 2], the reference has [2, 3]"


def test_a_wrong_element_type_is_named() -> None:
    found = diff(np.zeros(3, np.float32), np.zeros(3, np.float16))
    assert not found.passed
    assert found.reason == "the element type is f16, the reference has f32"


def test_a_missing_output_fails() -> None:
    (found,) = compare({"logits": np.zeros(3, np.float32)}, {}, DEFAULT)
    assert not found.passed
    assert found.reason == "the candidate has no output of this name"


def test_an_empty_tensor_passes() -> None:
    found = diff(np.zeros((0, 4), np.float32), np.zeros((0, 4), np.float32))
    assert found.passed
    assert (found.elements, found.worst_index) == (0, ())


def test_the_reason_names_the_worst_element() -> None:
    reference = np.ones((2, 3), np.float32)
    candidate = reference.copy()
    candidate[1, 2] = 1.5
    assert diff(reference, candidate).reason == (
        "1 of 6 elements out of tolerance, the worst at [1, 2]: 1.5, the reference has 1 "
        "(off by 0.5 at most)"
    )


def test_integers_are_exact_even_where_f64_cannot_tell_them_apart() -> None:
    reference = np.array([2**60, 5], np.int64)
    found = diff(reference, reference + np.array([1, 0]))
    assert not found.passed
    assert (found.worst_index, found.max_abs) == ((0,), 1.0)


def test_quantised_integers_may_be_off_by_one() -> None:
    quantised = Tolerances(quantised=frozenset({"y"}))
    reference = np.array([250, 7], np.uint8)
    assert diff(reference, reference + np.uint8(1), quantised).passed
    assert not diff(reference, reference + np.uint8(2), quantised).passed
    assert not diff(reference, reference + np.uint8(1)).passed


def test_booleans_are_exact() -> None:
    assert diff([True, False], [True, False]).passed
    assert not diff([True, False], [True, True]).passed


def test_texts_are_exact() -> None:
    reference = np.array(["a", "b"], object)
    assert diff(reference, reference.copy()).passed
    found = diff(reference, np.array(["a", "c"], object))
    assert found.reason == "1 of 2 elements out of tolerance, the first at [1]"


def test_complex_numbers_are_pairs() -> None:
    reference = np.array([1 + 2j, 3 + 4j], np.complex64)
    candidate = reference.copy()
    candidate[1] += 1j
    assert diff(reference, reference.copy()).passed
    assert diff(reference, candidate).worst_index == (1, 1)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_narrow_floats_are_judged_by_their_own_type(dtype: DTypeLike) -> None:
    reference = np.linspace(0.5, 2, 32).astype(dtype)
    rounded_once_more = (reference.astype(np.float64) * (1 + float(_spacing(dtype)))).astype(dtype)
    assert diff(reference, rounded_once_more).passed
    assert not diff(reference, (reference.astype(np.float32) * 2).astype(dtype)).passed


def _spacing(dtype: DTypeLike) -> float:
    return float(ml_dtypes.finfo(dtype).eps)


def test_top1_agreement_counts_rows_with_the_same_largest_element() -> None:
    reference = np.eye(4, 20, dtype=np.float32)
    candidate = reference.copy()
    candidate[3] = np.roll(candidate[3], 1)
    assert diff(reference, candidate).top1_agreement == 0.75


@pytest.mark.parametrize("shape", [(20,), (4, 15), (0, 20)])
def test_tensors_that_are_not_scores_have_no_top1_agreement(shape: tuple[int, ...]) -> None:
    tensor = np.zeros(shape, np.float32)
    assert diff(tensor, tensor).top1_agreement is None


def test_huge_f64_values_do_not_pass_for_want_of_a_finite_scale() -> None:
    reference = np.array([1e300, -1e300, 1e-3])
    assert diff(reference, reference).passed
    assert not diff(reference, reference * 1.5).passed
