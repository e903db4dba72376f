from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from burnish.trace import chrome
from burnish.trace.events import Trace
from timelines import run, span, trace, traces


def slices(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return [event for event in found if event["ph"] == "X"]


def test_a_timeline_opens_in_a_trace_viewer() -> None:
    document = json.loads(chrome.text(trace(run(0, 90), span('q"uote', 1, 30, track="stream 4"))))
    lanes = {e["tid"]: e["args"]["name"] for e in document["traceEvents"] if e["ph"] == "M"}
    (node,) = (e for e in document["traceEvents"] if e.get("cat") == "node")
    assert lanes[node["tid"]] == "stream 4"
    assert (node["name"], node["ts"], node["dur"]) == ('q"uote', 1.0, 30.0)
    assert node["args"] == {"run": 0, "node": 'q"uote', "op_type": "Add"}
    assert document["otherData"]["source"] == "by hand"


@given(traces())
@settings(deadline=None, max_examples=60)
def test_slices_of_a_lane_nest_as_perfetto_demands(drawn: Trace) -> None:
    text = chrome.text(drawn)
    lanes = defaultdict(list)
    for event in slices(text):
        assert {"name", "cat", "pid", "tid", "ts", "dur"} <= set(event)
        lanes[event["tid"]].append((round(event["ts"] * 1000), -round(event["dur"] * 1000)))
    named = [event for event in json.loads(text)["traceEvents"] if event["ph"] == "M"]
    assert {event["tid"] for event in named} == set(lanes)
    for lane in lanes.values():
        ends: list[int] = []
        for begin, negated in sorted(lane):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or begin - negated <= ends[-1]
            ends.append(begin - negated)


def test_rounding_lets_nothing_overlap_that_did_not() -> None:
    first = replace(span("a", 0, 0), start_s=0.0, duration_s=1.0004e-9)
    second = replace(span("b", 0, 0), start_s=1.0004e-9, duration_s=1.4e-9)
    one, other = slices(chrome.text(trace(first, second)))
    assert one["tid"] == other["tid"]
    assert one["ts"] + one["dur"] <= other["ts"]


def test_kernels_of_one_stream_that_overlap_stand_on_two_lanes() -> None:
    text = chrome.text(
        trace(span("a", 0, 10, track="stream 7"), span("b", 8, 10, track="stream 7"))
    )
    names = [e["args"]["name"] for e in json.loads(text)["traceEvents"] if e["ph"] == "M"]
    assert names == ["stream 7", "stream 7 (2)"]
