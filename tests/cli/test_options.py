from __future__ import annotations

import pytest

from burnish.core.errors import UsageError
from burnish.study.requests.vocabulary import seconds


@pytest.mark.parametrize(
    ("text", "found"), [("60s", 60), ("5m", 300), ("90", 90), ("0", 0), ("1.5m", 90), ("1h", 3600)]
)
def test_budgets_are_read_as_people_write_them(text: str, found: float) -> None:
    assert seconds(text) == found


@pytest.mark.parametrize("text", ["soon", "-3s", "m", "", "inf", "nan"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time") as caught:
        seconds(text)
    assert caught.value.hint == "write for instance 60s or 5m: --budget 60s"
