from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from bench.simulation import NOISES, measurements
from burnish.bench import machine
from burnish.bench.fingerprint import machine_key
from burnish.bench.gate import GateOutcome
from burnish.bench.measure import SCHEMA, BenchReport, MachineState, Measurement, ParityMark
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.cli.main import run
from burnish.cli.reference import document_types
from burnish.core import records
from burnish.core.errors import CheckFailedError, MissingCapabilityError, UsageError
from burnish.feeds.feed import Feeds
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.study import gate
from burnish.study.requests.guarding import GateCommand, share
from rewriting import Graph

SAME = ParityMark(passed=True, max_rel=0.0)
NOISE = NOISES["process luck of 1 %"]
Written = Callable[..., Path]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return _model(tmp_path / "m.onnx", "Relu")


def _model(path: Path, op: str) -> Path:
    graph = Graph()
    model = graph.model(graph.op(op, graph.input("x", (2, 3))))
    onnx_files.write(model, path, history=History("", ()))
    return path


def simulated(monkeypatch: pytest.MonkeyPatch, speeds: dict[str, float]) -> list[list[str]]:
    """Measure on a machine of known noise instead of this one; return who was measured."""
    asked: list[list[str]] = []

    def bench(
        subjects: Sequence[BenchSubject], _feeds: Feeds, options: BenchOptions, **_: object
    ) -> BenchReport:
        labels = [one.label for one in subjects]
        asked.append(labels)
        found = measurements(
            {label: speeds[label] for label in labels}, NOISE, seed=len(asked), options=options
        )
        return _report(found, machine.here())

    monkeypatch.setattr(gate, "bench", bench)
    return asked


def _report(found: Sequence[Measurement], there: MachineState) -> BenchReport:
    return BenchReport(
        baseline=found[0].subject, measurements=tuple(found), comparisons=(), machine=there,
        seed=0, inputs_key="", parity={one.subject: SAME for one in found},
    )  # fmt: skip


def baseline(path: Path, of: Path, there: MachineState | None = None, *, rounds: int = 12) -> Path:
    (one,) = measurements(
        {"m@onnxruntime-cpu": 0.02}, NOISE, seed=99, options=BenchOptions(rounds=rounds)
    )
    known = dataclasses.replace(
        one, engine="onnxruntime-cpu", file=str(of), model_key=onnx_files.content_key(of)
    )
    report = _report([known], there or machine.here())
    path.write_text(records.text_of(records.document(report, schema=SCHEMA)))
    return path


def test_the_same_model_is_compared_with_stored_samples_and_passes(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = simulated(monkeypatch, {"now": 0.02})
    request = GateCommand(model, baseline=str(baseline(tmp_path / "b.json", model)))
    report = gate.answer(request)
    assert [(row.outcome, row.side_by_side) for row in report.rows] == [(GateOutcome.PASSED, False)]
    assert asked == [["now"]]
    gate.require(request, report)


def test_another_model_takes_turns_with_the_baselines_and_fails_if_slower(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = simulated(monkeypatch, {"baseline": 0.02, "now": 0.022})
    old = _model(tmp_path / "old.onnx", "Abs")
    outputs = [tmp_path / name for name in ("gate.md", "gate.xml", "gate.json")]
    request = GateCommand(model, baseline=str(baseline(tmp_path / "b.json", old)), output=outputs)
    report = gate.answer(request)
    assert [(row.outcome, row.side_by_side) for row in report.rows] == [(GateOutcome.SLOWER, True)]
    assert asked == [["baseline", "now"]] * 3
    with pytest.raises(CheckFailedError, match="is slower than the baseline allows: ") as error:
        gate.require(request, report)
    assert error.value.hint.startswith("see where the time goes: burnish profile ")
    assert "slower, and 5.0 % is not excluded, in 1 of 1 row" in outputs[0].read_text()
    suite = ET.fromstring(outputs[1].read_text())
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    assert suite.find("testcase/failure") is not None
    assert json.loads(outputs[2].read_text())["kind"] == "gate-report"


def test_what_could_not_be_seen_is_neither_a_pass_nor_a_failure(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated(monkeypatch, {"now": 0.02})
    request = GateCommand(
        model, baseline=str(baseline(tmp_path / "b.json", model)), max_slowdown=0.0001
    )
    report = gate.answer(request)
    with pytest.raises(MissingCapabilityError, match="are hidden by the noise") as error:
        gate.require(request, report)
    assert error.value.hint == (
        "use a quieter machine, or allow what can be seen on this one: --max-slowdown 2%"
    )
    assert "could not have been seen" in report.headline


def test_a_model_that_crashes_fails_the_build(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bench(*_: object, **__: object) -> BenchReport:
        (one,) = measurements({"now": 0.02}, NOISE, seed=0, options=BenchOptions(rounds=3))
        crashed = dataclasses.replace(one, failure="the process ended by SIGSEGV")
        return _report([crashed], machine.here())

    monkeypatch.setattr(gate, "bench", bench)
    output = tmp_path / "gate.xml"
    request = GateCommand(model, baseline=str(baseline(tmp_path / "b.json", model)), output=output)
    report = gate.answer(request)
    with pytest.raises(CheckFailedError, match="could not be measured: now failed: ") as error:
        gate.require(request, report)
    assert error.value.hint.endswith("burnish doctor --engine onnxruntime-cpu")
    assert report.headline == "m: could not be measured on onnxruntime-cpu"
    assert ET.fromstring(output.read_text()).get("failures") == "1"


def test_a_baseline_of_another_machine_is_refused(model: Path, tmp_path: Path) -> None:
    there = dataclasses.replace(machine.here(), cpu="another processor")
    request = GateCommand(model, baseline=str(baseline(tmp_path / "b.json", model, there)))
    with pytest.raises(UsageError, match="unlike machines") as error:
        gate.answer(request)
    assert error.value.hint.startswith("make a baseline of this machine: burnish bench ")


def test_a_folder_holds_one_baseline_for_each_machine(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "baselines"
    folder.mkdir()
    request = GateCommand(model, baseline=str(folder))
    with pytest.raises(MissingCapabilityError, match="has no baseline of this machine") as error:
        gate.answer(request)
    place = Path(error.value.hint.rpartition(" ")[2])
    assert place.parent == folder
    simulated(monkeypatch, {"now": 0.02})
    baseline(place, model)
    assert gate.answer(request).rows[0].outcome is GateOutcome.PASSED


def test_a_verdict_never_replaces_the_baseline(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = simulated(monkeypatch, {"now": 0.02})
    place = baseline(tmp_path / f"{machine_key(machine.here())}.json", model)
    kept = place.read_bytes()
    for given in (place, tmp_path):
        with pytest.raises(UsageError, match="is the baseline itself, which would be lost") as no:
            gate.answer(GateCommand(model, baseline=str(given), output=[place]))
        assert no.value.hint == f"choose another place: -o {place.with_stem(f'{place.stem}_new')}"
    assert (place.read_bytes(), asked) == (kept, [])


def test_a_baseline_of_too_few_rounds_is_refused_before_anything_is_measured(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = simulated(monkeypatch, {"now": 0.02})
    place = baseline(tmp_path / "b.json", model, rounds=2)
    with pytest.raises(MissingCapabilityError, match="has 2 rounds of m@onnxruntime-cpu") as no:
        gate.answer(GateCommand(model, baseline=str(place)))
    assert no.value.hint == f"make it again, in more time: burnish bench {model} -o {place}"
    assert asked == []


def test_a_baseline_that_is_not_there_is_made_by_a_benchmark(model: Path, tmp_path: Path) -> None:
    place = tmp_path / "b.json"
    with pytest.raises(MissingCapabilityError, match="there is no such baseline") as error:
        gate.answer(GateCommand(model, baseline=str(place)))
    assert error.value.hint == f"make one: burnish bench {model} -o {place}"


def test_the_command_prints_its_document_and_exits_with_1_if_slower(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    simulated(monkeypatch, {"now": 0.03})
    place = str(baseline(tmp_path / "b.json", model))
    words = ["gate", str(model), "--baseline", place, "--max-slowdown", "5%"]
    assert run(["-q", *words, "--json"]) == 1
    ((kind, schema),) = document_types("gate")
    jsonschema.validate(
        json.loads(capsys.readouterr().out), records.json_schema(kind, schema=schema)
    )
    assert run(words) == 1
    assert "with stored samples" in capsys.readouterr().out


def test_an_engine_that_the_baseline_lacks_is_an_error(model: Path, tmp_path: Path) -> None:
    request = GateCommand(
        model, baseline=str(baseline(tmp_path / "b.json", model)), engine="openvino"
    )
    with pytest.raises(UsageError, match="has nothing to compare m with") as error:
        gate.answer(request)
    assert error.value.hint == "it has: m@onnxruntime-cpu"


def test_an_ending_without_a_format_is_an_error(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated(monkeypatch, {"now": 0.02})
    place = str(baseline(tmp_path / "b.json", model))
    with pytest.raises(UsageError, match="its ending says no format"):
        gate.answer(GateCommand(model, baseline=place, output=tmp_path / "gate.txt"))


@pytest.mark.parametrize(
    ("text", "value"), [("5%", 0.05), ("0.1", 0.1), (" 2.5% ", 0.025), ("150%", 1.5)]
)
def test_a_limit_is_written_as_a_share(text: str, value: float) -> None:
    assert share(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "x", "-5%", "0", "5000%", "5", "5%%"])
def test_what_is_no_share_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="is not a slowdown"):
        share(text)


def test_a_row_in_another_type_is_measured_in_that_type(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    opened: list[Path] = []

    def bench(subjects: Sequence[BenchSubject], *_: object, **__: object) -> BenchReport:
        opened.extend(one.model.onnx for one in subjects)
        found = measurements({"now": 0.02}, NOISE, seed=1, options=BenchOptions())
        return _report(found, machine.here())

    monkeypatch.setattr(gate, "bench", bench)
    place = baseline(tmp_path / "b.json", model)
    stored = json.loads(place.read_text())
    stored["measurements"][0]["precision"] = "f16"
    place.write_text(json.dumps(stored))
    assert (
        gate.answer(GateCommand(model, baseline=str(place))).rows[0].outcome is GateOutcome.PASSED
    )
    assert [path.is_relative_to(tmp_path / "cache") for path in opened] == [True]
