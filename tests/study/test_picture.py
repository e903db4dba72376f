from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from burnish.engines import isolated
from burnish.report.graph.overlay import leads
from burnish.report.graph.picture import overlay
from burnish.store import layout
from burnish.study.picture import change_of, picture
from burnish.study.timeline import TimelineRequest


def test_the_published_trace_gives_its_known_times(shared: Path) -> None:
    traces = shared / "data" / "traces"
    model = layout.resolve(str(traces / "bert-mini_layer.onnx"), traces)
    found = picture(TimelineRequest(model=model), trace=traces / "trace_dense_layer.json")
    time = overlay(found)
    assert time is not None
    assert time.wall_s == pytest.approx(3218e-6, abs=1e-6)
    assert time.attributed_s + time.unattributed_s == pytest.approx(98e-6, abs=1e-6)
    # biases are inside the products, so the additions after them show no time of their own
    assert "/intermediate/dense/Add" not in leads(time)
    assert "/intermediate/dense/MatMul" in leads(time)


def test_options_and_a_file_make_one_change(tmp_path: Path) -> None:
    speedups = tmp_path / "speedups.json"
    speedups.write_text('{"speedups": [{"op_type": "softmax", "speedup": 2}]}')
    change = change_of(("MatMul=2",), speedups)
    assert change is not None
    assert (change.name, len(change.actions)) == ("MatMul=2, speedups", 2)
    assert change_of((), None) is None


def test_a_graph_without_times_is_not_run_and_sizes_that_nobody_gave_stay_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "open_session", lambda *_, **__: pytest.fail("it was run"))
    text = (
        '<ir_version: 8, opset_import: ["": 17]> g (float[n, 4] x) => (float[n, 4] y) {y = Neg(x)}'
    )
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    model = layout.resolve(str(tmp_path / "m.onnx"), tmp_path)
    drawn = [picture(TimelineRequest(model=model, shape=shape)).graph for shape in ({}, {"n": 3})]
    assert [graph.tensors["y"].shape for graph in drawn] == [("n", 4), (3, 4)]
