from __future__ import annotations

import pytest

from burnish.core.errors import UsageError
from burnish.study.requests.several import element_types
from burnish.study.requests.vocabulary import positive, sizes


def test_a_past_may_be_empty_and_nothing_else() -> None:
    assert sizes("batch=2,past_sequence=0") == {"batch": 2, "past_sequence": 0}
    with pytest.raises(UsageError, match="--shape batch=0: a size is at least 1") as raised:
        positive({"past": 0, "batch": 0})
    assert raised.value.hint == "write --shape batch=1"


def test_types_have_one_name_and_what_is_none_is_refused_before_anything_is_measured() -> None:
    assert element_types("float16,fp32,tf32,half") == ("f16", "f32", "tf32")
    with pytest.raises(UsageError, match="'fp17' is no type of numbers") as raised:
        element_types(["fp32", "fp17"])
    assert "fp16" in raised.value.hint
