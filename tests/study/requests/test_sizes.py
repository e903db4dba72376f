from __future__ import annotations

import pytest

from burnish.core.errors import UsageError
from burnish.study.requests.vocabulary import positive, sizes


def test_a_past_may_be_empty_and_nothing_else() -> None:
    assert sizes("batch=2,past_sequence=0") == {"batch": 2, "past_sequence": 0}
    with pytest.raises(UsageError, match="--shape batch=0: a size is at least 1") as raised:
        positive({"past": 0, "batch": 0})
    assert raised.value.hint == "write --shape batch=1"
