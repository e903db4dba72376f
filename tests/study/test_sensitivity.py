"""Sensitivity: every axis, every branch and several sizes, with a front and a chart."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import onnx
import onnx_ir as ir
from hypothesis import given
from hypothesis import strategies as st

import burnish
from burnish.report.charts.pareto import ParetoPoint, chart, front
from prune_samples import SAMPLES

CHOICES = st.lists(
    st.builds(ParetoPoint, st.just("one"), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9
)


@given(CHOICES)
def test_nothing_on_the_front_is_beaten_and_all_else_is(choices: list[ParetoPoint]) -> None:
    best = front(choices)
    for one in choices:
        as_good = [c for c in best if c.saved >= one.saved and c.error <= one.error]
        assert as_good
        if one in best:
            assert as_good == [one]


def test_the_chart_has_a_mark_for_every_choice() -> None:
    drawn = chart(
        [ParetoPoint("a <b>", 0.1, 0.2), ParetoPoint("c", 0.5, 0.6), ParetoPoint("d", 0.4, 0.7)]
    )
    root = ET.fromstring(drawn)
    assert sum(element.tag.endswith("circle") for element in root.iter()) == 3


def test_every_axis_and_branch_is_tried_and_drawn(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(ir.serde.serialize_model(SAMPLES["separate products"].make()), path)
    report = burnish.sensitivity(path, output=tmp_path / "front.svg", samples=4)
    kinds = [trade.what for trade in report.trades]
    assert (kinds.count("axis"), kinds.count("block")) == (2, 2)
    assert kinds.count("whole") >= 3
    assert any(trade.on_front for trade in report.trades)
    assert all(trade.error > 0 and 0 < trade.saved < 1 for trade in report.trades)
    ET.parse(tmp_path / "front.svg")
    shown = burnish.show(report)
    assert "no command leaves them out" in shown
    assert "synthetic: accuracy not proven" in shown
