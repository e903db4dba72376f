"""What is fed is checked, and the message names the input."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from burnish.core.errors import UsageError
from burnish.core.tensors import TensorSpec
from burnish.feeds.check import check_feeds

INPUTS = (TensorSpec("ids", "i64", ("batch", 4)), TensorSpec("scale", "bf16", ()))


def good() -> dict[str, np.ndarray]:
    return {"ids": np.zeros((2, 4), np.int64), "scale": np.array(1, ml_dtypes.bfloat16)}


def test_fitting_feeds_pass() -> None:
    check_feeds(good(), INPUTS)


def test_an_input_of_any_rank_takes_any_shape() -> None:
    check_feeds({"x": np.zeros((1, 2, 3), np.float32)}, [TensorSpec("x", "f32", ("...",))])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"ids": np.zeros((2, 4), np.int32)},
         "input 'ids' has the wrong element type: found i32[2, 4], expected i64[batch, 4]"),
        ({"ids": np.zeros((2, 5), np.int64)},
         "input 'ids' has the wrong shape: found i64[2, 5], expected i64[batch, 4]"),
        ({"ids": np.zeros(4, np.int64)},
         "input 'ids' has the wrong shape: found i64[4], expected i64[batch, 4]"),
        ({"scale": np.array(1, np.float16)},
         "input 'scale' has the wrong element type: found f16[], expected bf16[]"),
        ({"idz": np.zeros(1)}, "the model has no input 'idz'"),
        ({1: np.zeros(1)}, "the model has no input 1"),
        ({"ids": [[0, 1, 2, 3]]}, "input 'ids' is a list, not an array"),
        ({"ids": np.zeros((2, 4), ">i8")},
         "input 'ids' has its bytes in the other order (>i8)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(change: dict[str, np.ndarray], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_feeds({**good(), **change}, INPUTS)
    assert caught.value.problem == problem


def test_arrays_without_names_are_refused_with_the_names() -> None:
    with pytest.raises(UsageError) as caught:
        check_feeds(list(good().values()), INPUTS)
    assert caught.value.problem == "the inputs are a list, not arrays by their names"
    assert caught.value.hint == "feed {'ids': …, 'scale': …}"


def test_a_missing_input_says_what_is_expected() -> None:
    with pytest.raises(UsageError) as caught:
        check_feeds({"ids": good()["ids"]}, INPUTS)
    assert caught.value.problem == "input 'scale' is missing; the model expects scale: bf16[]"
    assert "burnish inputs" in caught.value.hint


def test_an_unknown_input_suggests_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        check_feeds({**good(), "idz": np.zeros(1)}, INPUTS)
    assert caught.value.hint == "did you mean 'ids'? known: ids, scale"
