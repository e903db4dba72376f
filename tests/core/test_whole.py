from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.whole import whole


@given(st.integers(0, 10**18 - 1))
def test_a_number_is_itself(number: int) -> None:
    assert whole(str(number)) == number


@pytest.mark.parametrize(
    "text", ["", "²", "٣", "-1", "+1", "1_000", " 1", "1.0", "9" * 19, "9" * 5000]
)
def test_what_is_no_number_of_plain_digits_is_none(text: str) -> None:
    assert whole(text) is None


@given(st.text())
def test_any_text_is_a_number_or_none(text: str) -> None:
    found = whole(text)
    assert found is None or found >= 0
