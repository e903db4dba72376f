"""A build that is as fast and wrong does not pass, whatever is left of the one before it."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import onnxruntime as ort
import pytest

from bench.simulation import NOISES, PLACED, measurements
from burnish.bench import machine
from burnish.bench.gate import GateOutcome, joined
from burnish.bench.measure import BenchReport
from burnish.bench.rounds import Judge
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.cli.main import run
from burnish.core.errors import MissingCapabilityError, ModelError, WrongResultError
from burnish.feeds.feed import Feeds
from burnish.pytest_plugin import _judged
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.study import bench, gate, measuring
from burnish.study.requests.guarding import GateCommand
from burnish.study.requests.judging import BenchCommand
from rewriting import Graph

NOISE = NOISES["process luck of 1 %"]


def layer(path: Path, factor: float = 1.0, *, op: str = "Tanh", name: str = "y") -> Path:
    graph = Graph()
    weight = np.random.default_rng(0).normal(0, 0.3, (64, 64)).astype(np.float32) * factor
    value = graph.op(op, graph.op("MatMul", graph.input("x", (8, 64)), graph.constant(weight)))
    model = graph.model(value)
    model.graph.outputs[0].name = name
    onnx_files.write(model, path, history=History("", ()))
    return path


def timed_by_simulation(
    subjects: Sequence[BenchSubject],
    feeds: Feeds,
    options: BenchOptions,
    *,
    judge: Judge | None = None,
    **_: object,
) -> BenchReport:
    """Give times of a simulated machine, and have what ONNX Runtime computes judged."""
    found = measurements(dict.fromkeys([one.label for one in subjects], 0.02), NOISE,
                         seed=len(subjects), options=options)  # fmt: skip
    marks = {}
    for one in subjects if judge else ():
        session = ort.InferenceSession(one.model.onnx)
        names = [each.name for each in session.get_outputs()]
        outputs = dict(zip(names, session.run(None, dict(feeds.arrays)), strict=True))
        marks[one.label] = judge(one.label, PLACED, outputs)
    rows = tuple(
        dataclasses.replace(
            row, engine="onnxruntime-cpu", file=str(one.model.onnx),
            model_key=onnx_files.content_key(one.model.onnx),
            status="ok" if row.subject not in marks or marks[row.subject].passed else "wrong",
        )
        for row, one in zip(found, subjects, strict=True)
    )  # fmt: skip
    return BenchReport(rows[0].subject, rows, (), machine.here(), 0, "", parity=marks)


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BURNISH_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setattr(gate, "bench", timed_by_simulation)
    monkeypatch.setattr(measuring, "bench", timed_by_simulation)
    place = tmp_path / "b.json"
    model = layer(tmp_path / "m.onnx")
    bench.answer(BenchCommand([model], engine="onnxruntime-cpu", output=place))
    return place


def gated(baseline: Path, model: Path, **asked: object) -> tuple[GateCommand, object]:
    request = GateCommand(model, baseline=str(baseline), **asked)  # type: ignore[arg-type]
    return request, gate.answer(request)


def test_a_model_that_took_the_place_of_the_baselines_and_is_wrong_fails(
    baseline: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The case of every CI: the file of the build before was written over."""
    model = layer(tmp_path / "m.onnx", 1.05)
    outputs = [tmp_path / name for name in ("gate.md", "gate.xml")]
    request, report = gated(baseline, model, output=outputs)
    assert isinstance(report, gate.GateReport)
    (row,) = report.rows
    assert (row.outcome, row.side_by_side, row.tries) == (GateOutcome.WRONG, False, 1)
    with pytest.raises(WrongResultError, match="does not compute what the baseline did: ") as no:
        gate.require(request, report)
    assert no.value.exit_code == 5
    assert no.value.hint == (
        f"if that is meant, make the baseline again: burnish bench {model} -o {baseline}"
    )
    assert report.headline == "m: does not compute what the baseline did, on onnxruntime-cpu"
    assert "WRONG" in outputs[0].read_text()
    failure = ET.fromstring(outputs[1].read_text()).find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "wrong results"
    words = ["gate", str(model), "--baseline", str(baseline)]
    assert run(words) == 5
    assert "WRONG" in capsys.readouterr().out
    assert run(["-q", *words, "--no-verify"]) == 0


def test_a_right_rewrite_in_its_place_passes(baseline: Path, tmp_path: Path) -> None:
    other = layer(tmp_path / "m.onnx", 1.0)
    written = onnx_files.read(other)
    written.graph.name = "another"
    onnx_files.write(written, other, history=History("", ()))
    request, report = gated(baseline, other)
    assert isinstance(report, gate.GateReport)
    (row,) = report.rows
    assert row.outcome is GateOutcome.PASSED
    assert row.parity is not None
    assert row.parity.word == "same"
    gate.require(request, report)


def test_a_wrong_model_beside_the_baselines_own_fails(baseline: Path, tmp_path: Path) -> None:
    model = layer(tmp_path / "new.onnx", 1.05)
    _, report = gated(baseline, model)
    assert isinstance(report, gate.GateReport)
    assert [(row.outcome, row.side_by_side) for row in report.rows] == [(GateOutcome.WRONG, True)]


@pytest.mark.parametrize("change", [{"op": "Sigmoid"}, {"name": "z"}])
def test_so_does_one_of_another_operator_or_with_other_outputs(
    baseline: Path, tmp_path: Path, change: dict[str, str]
) -> None:
    model = layer(tmp_path / "m.onnx", **change)  # type: ignore[arg-type]
    _, report = gated(baseline, model)
    assert isinstance(report, gate.GateReport)
    assert [row.outcome for row in report.rows] == [GateOutcome.WRONG]


def test_where_nothing_was_kept_a_fast_build_is_no_pass(baseline: Path, tmp_path: Path) -> None:
    stored = json.loads(baseline.read_text())
    assert stored["results"][0]["subjects"] == ["m@onnxruntime-cpu"]
    stored["results"] = []
    baseline.write_text(json.dumps(stored))
    request, report = gated(baseline, layer(tmp_path / "m.onnx", 1.05))
    assert isinstance(report, gate.GateReport)
    assert [row.outcome for row in report.rows] == [GateOutcome.UNSEEN]
    assert report.headline == "m: results could not be compared with the baseline's"
    with pytest.raises(MissingCapabilityError, match="nothing of what it gave was kept") as no:
        gate.require(request, report)
    assert no.value.hint.endswith("or ask for speed alone: --no-verify")
    speed, alone = gated(baseline, tmp_path / "m.onnx", verify=False)
    assert isinstance(alone, gate.GateReport)
    gate.require(speed, alone)
    assert alone.rows[0].parity is None


def test_results_of_other_inputs_say_nothing(baseline: Path, tmp_path: Path) -> None:
    stored = json.loads(baseline.read_text())
    stored["results"][0]["inputs_key"] = "0" * 64
    baseline.write_text(json.dumps(stored))
    request, report = gated(baseline, layer(tmp_path / "m.onnx", 1.05))
    assert isinstance(report, gate.GateReport)
    with pytest.raises(MissingCapabilityError, match="was fed other inputs than are made now"):
        gate.require(request, report)


def test_results_that_cannot_be_read_are_an_error(baseline: Path, tmp_path: Path) -> None:
    stored = json.loads(baseline.read_text())
    stored["results"][0]["outputs"]["y"]["elements"] = "AAAA"
    baseline.write_text(json.dumps(stored))
    with pytest.raises(ModelError, match="results that were kept cannot be read") as no:
        gated(baseline, layer(tmp_path / "m.onnx", 1.05))
    assert no.value.hint == "make it again: burnish bench -o FILE"


def test_the_very_model_of_the_baseline_is_held_to_itself(baseline: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copy(tmp_path / "m.onnx", tmp_path / "n.onnx"))
    _, report = gated(baseline, copied)
    assert isinstance(report, gate.GateReport)
    (row,) = report.rows
    assert row.outcome is GateOutcome.PASSED
    assert row.parity is not None
    assert row.unjudged == ""


def test_in_pytest_a_wrong_build_is_a_failure_and_no_skip(baseline: Path, tmp_path: Path) -> None:
    request = GateCommand(layer(tmp_path / "m.onnx", 1.05), baseline=str(baseline))
    with pytest.raises(pytest.fail.Exception, match="does not compute what the baseline did"):
        _judged(request, gate.answer, gate.require)


def test_a_row_is_as_wrong_as_any_of_its_tries(baseline: Path) -> None:
    stored = gate.stored(baseline)
    wrong = dataclasses.replace(stored.measurements[0], status="wrong")
    assert joined(stored.measurements[0], wrong).status == "wrong"
