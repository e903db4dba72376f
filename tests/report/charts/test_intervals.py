from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

from burnish.report.charts.intervals import LatencyBar, chart

LATENCIES = (
    LatencyBar(
        "bert/dynamo", "onnxruntime-cpu", "baseline", 1.2e-3, 1.1e-3, 1.3e-3, (1.1e-3, 1.3e-3)
    ),
    LatencyBar("bert/dynamo_optimized", "onnxruntime-cpu", "accent", 8e-4, 7.9e-4, 8.2e-4, (8e-4,)),
    LatencyBar("<b>", "openvino", "bad", 5e-4),
    LatencyBar("bert/dynamo_optimized", "tensorrt", "accent", None, remark="failed"),
)


def test_the_drawing_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    drawing = chart(LATENCIES)
    assert ET.fromstring(drawing).tag.endswith("svg")
    golden(drawing.replace("><", ">\n<") + "\n", suffix="svg")


def test_the_drawing_says_in_words_what_it_shows() -> None:
    label = ET.fromstring(chart(LATENCIES)).get("aria-label")
    assert label == (
        "Median latency: bert/dynamo on onnxruntime-cpu: 1.20 ms; bert/dynamo_optimized on"
        " onnxruntime-cpu: 800 µs; <b> on openvino: 500 µs; bert/dynamo_optimized on tensorrt:"
        " failed"
    )


def test_lengths_are_in_proportion_from_zero() -> None:
    bars = [
        float(bar.get("width", "0"))
        for bar in ET.fromstring(chart(LATENCIES)).iter("{http://www.w3.org/2000/svg}rect")
    ]
    assert [round(bar / bars[0], 2) for bar in bars] == [1.0, 0.67, 0.42]


def test_nothing_measured_is_drawn_too() -> None:
    ET.fromstring(chart(()))
    ET.fromstring(chart((LATENCIES[3],)))
