from __future__ import annotations

import pytest

from burnish.zoo.exporting.last_lines import first_cause, last_of, raised_at


def _failed() -> Exception:
    cause = ValueError("Cannot view a tensor\nsecond\n\nthird\nfourth\nfifth")
    with pytest.raises(RuntimeError) as raised:
        raise RuntimeError("step 1 of 3 failed") from cause
    return raised.value


def test_the_first_cause_tells_why_in_a_few_lines() -> None:
    assert first_cause(_failed()) == (
        "ValueError: Cannot view a tensor",
        "second",
        "third",
        "fourth",
    )


def test_a_long_line_is_cut() -> None:
    assert first_cause(ValueError("x" * 1000))[0].endswith("xxx …")


def test_the_place_is_the_innermost() -> None:
    assert raised_at(_failed()).endswith('raise RuntimeError("step 1 of 3 failed") from cause')
    assert raised_at(ValueError("never raised")) == ""


def test_what_was_said_is_cut_to_its_last_lines() -> None:
    assert last_of("") == ()
    assert last_of("\n".join(f"line {number}\n" for number in range(9))) == (
        "line 5",
        "line 6",
        "line 7",
        "line 8",
    )
