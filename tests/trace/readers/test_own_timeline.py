"""What --trace-out writes is read back as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings

from burnish.analyze.profile import ProfiledSubject, profile_of
from burnish.core.errors import ModelError
from burnish.trace import chrome
from burnish.trace.events import Span, Trace
from burnish.trace.formats import read_any
from burnish.trace.runs import warm
from timelines import run, span, trace, traces


def again(of: Trace, folder: Path) -> Trace:
    """Return a timeline, written and read."""
    path = folder / "timeline.json"
    path.write_text(chrome.text(of))
    return read_any(path)


def rounded(one: Span) -> Span:
    """Return a span with its times in whole nanoseconds."""
    return replace(one, start_s=round(one.start_s, 9), duration_s=round(one.duration_s, 9))


@given(traces())
@settings(deadline=None, max_examples=60)
def test_shares_are_the_same_when_a_timeline_is_read_again(drawn: Trace) -> None:
    with TemporaryDirectory() as folder:
        found = again(drawn, Path(folder))
        assert chrome.text(found) == chrome.text(drawn)
    assert list(map(rounded, found.spans)) == list(map(rounded, drawn.spans))
    subject = ProfiledSubject("m", drawn.source, None, None)
    (now, _), (then, _) = profile_of(warm(found), subject), profile_of(drawn, subject)
    times = [{row.label: row.seconds_s for row in one.by_operator.rows} for one in (now, then)]
    assert times[0] == pytest.approx(times[1], abs=1e-9)


def test_all_that_is_known_of_a_span_and_of_the_whole_is_kept(tmp_path: Path) -> None:
    kernel = replace(
        span("mm", 8, 10, track="stream 7"), category="kernel", node="a", nodes=("a", "b"),
        confidence="correlation", parent=0, cause=1, device=0, stream=7,
        attributes={"bytes": 12, "shapes": ("2x3",), "grid": (1, 2), "rate": 0.5},
    )  # fmt: skip
    given = replace(
        trace(run(0, 90), span("a", 1, 30, track="stream 7"), kernel),
        notes=("one is missing",), origins={"a": ("x", "y")},
    )  # fmt: skip
    found = again(given, tmp_path)
    assert found == replace(given, spans=found.spans, is_warm=True)
    assert list(map(rounded, found.spans)) == list(map(rounded, given.spans))


def test_a_slow_first_inference_that_was_kept_stays(tmp_path: Path) -> None:
    slow = [run(0, 90), run(100, 10), run(120, 10)]
    given = trace(*(replace(one, run=number) for number, one in enumerate(slow)))
    assert warm(given).runs == 2
    assert warm(again(given, tmp_path)).runs == 3


Change = Callable[[dict[str, Any]], object]
ODD: dict[str, Change] = {
    "schema": lambda data: data["otherData"].update(schema=99),
    "source": lambda data: data["otherData"].pop("source"),
    "events": lambda data: data.update(traceEvents=7),
    "run": lambda data: data["traceEvents"][-1]["args"].update(run="first"),
    "parent": lambda data: data["traceEvents"][-1]["args"].update(parent=70),
    "lane": lambda data: data["traceEvents"][-1].update(tid=70),
    "length": lambda data: data["traceEvents"][-1].update(dur=-1),
    "begin": lambda data: data["traceEvents"][-1].update(ts="later"),
}


@pytest.mark.parametrize("what", ODD)
def test_what_was_changed_is_refused(what: str, tmp_path: Path) -> None:
    data = json.loads(chrome.text(trace(run(0, 90), span("a", 1, 30))))
    ODD[what](data)
    path = tmp_path / "timeline.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ModelError, match="is no timeline of burnish") as caught:
        read_any(path)
    assert caught.value.hint == "write it again with burnish profile MODEL --trace-out FILE"
