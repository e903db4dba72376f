from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

from burnish.report.dashboard import data, page
from burnish.report.over_time import Series, TrendPoint, series_of

HOSTILE = "</script><img src=x onerror=alert(1)>"


def point(number: int, median_s: float | None, status: str = "ok", **changes: str) -> TrendPoint:
    low, high = (None, None) if median_s is None else (median_s * 0.98, median_s * 1.02)
    made = TrendPoint(
        number, f"2026-11-{number:02}T12:00:00+00:00", status, median_s, low, high, "e", "k"
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def series(model: str, engine: str, *points: TrendPoint, machine: str = "here") -> Series:
    return Series(model, engine, "f32", 2, {"batch": 1}, machine, points)


SAMPLE = (
    series("bert", "onnxruntime-cpu", point(1, 0.012), point(2, 0.011), point(3, 0.010)),
    series("bert", "burnish", point(1, 0.015), point(2, 0.014, environment="new"), point(3, 0.014)),
    series("bert", "openvino", point(1, 0.005, "wrong")),
    series("resnet", "onnxruntime-cpu", point(1, 0.020)),
    series("resnet", "burnish", point(1, 0.0201)),
    series("resnet", "openvino", point(1, None, "crashed")),
    series("gpt2", "burnish", point(1, 0.030)),
    series("gpt2", "burnish", point(1, 0.001), machine="there"),
)
MACHINES = {"here": "a processor, 2 cores", "there": "another, 8 cores"}


def test_the_page_runs_its_own_script_and_no_other() -> None:
    text = page(SAMPLE, MACHINES)
    (own,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert not re.findall(r"(?:src|href)=[\"'](?!data:)", text)


def test_names_cannot_break_out_of_the_page() -> None:
    hostile = [series(HOSTILE, HOSTILE, point(1, 0.01))]
    assert "<img" not in page(hostile, {"here": HOSTILE})


def test_a_series_has_its_measurements_in_order() -> None:
    found = data(SAMPLE, MACHINES)["series"]
    assert [point["s"] for point in found[0]["points"]] == [0.012, 0.011, 0.010]
    assert found[0]["sizes"] == "batch=1"
    assert series_of(()) == ()


def test_only_right_results_have_a_time_to_compare() -> None:
    assert [len(one.timed) for one in SAMPLE] == [3, 3, 0, 1, 1, 0, 1, 1]
