from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from burnish.core.errors import UsageError
from burnish.report.exports.perfetto import timeline
from burnish.report.graph.picture import Picture
from sample_picture import changed_picture, diamond, sample_picture


def test_the_timeline_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(timeline(sample_picture()), suffix="json")


def test_after_a_change_everything_comes_earlier() -> None:
    def end(text: str) -> float:
        events = json.loads(text)["traceEvents"]
        return max(e["ts"] + e["dur"] for e in events if e["ph"] == "X")

    assert end(timeline(changed_picture())) == end(timeline(sample_picture())) - 5


def test_without_times_there_is_no_timeline() -> None:
    with pytest.raises(UsageError, match="sample has no times, so there is no timeline") as caught:
        timeline(Picture("sample", diamond()))
    assert "--engine onnxruntime-cpu" in caught.value.hint
