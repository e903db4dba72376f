from __future__ import annotations

import json

from burnish.trace import chrome
from timelines import run, span, trace


def test_a_timeline_opens_in_a_trace_viewer() -> None:
    document = json.loads(chrome.text(trace(run(0, 90), span('q"uote', 1, 30, track="stream 4"))))
    lanes = {e["tid"]: e["args"]["name"] for e in document["traceEvents"] if e["ph"] == "M"}
    (node,) = (e for e in document["traceEvents"] if e.get("cat") == "node")
    assert lanes[node["tid"]] == "stream 4"
    assert (node["name"], node["ts"], node["dur"]) == ('q"uote', 1.0, 30.0)
    assert node["args"] == {"run": 0, "node": 'q"uote', "op_type": "Add"}
    assert document["otherData"]["source"] == "by hand"
