from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import onnx
import onnx.helper
import onnx.parser
import pytest

from bench.simulation import NOISES, measurements
from bench.test_machine import AFTER, QUIET
from burnish.bench import machine
from burnish.bench.compare import compare
from burnish.bench.measure import SCHEMA, BenchReport, ParityMark
from burnish.bench.subject import BenchOptions
from burnish.cli.main import run
from burnish.core import records
from burnish.report.measured import bench_lines as tables
from burnish.report.table import Table

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 4] x) => (float[batch, 4] y) { y = BODY }
"""
QUICK = ("--rounds", "1", "--blocks", "1", "--engine", "onnxruntime-cpu")


@pytest.fixture
def model(tmp_path: Path) -> Callable[..., str]:
    def write(name: str, body: str) -> str:
        path = tmp_path / f"{name}.onnx"
        onnx.save(onnx.parser.parse_model(MODEL.replace("BODY", body)), path)
        return str(path)

    return write


def simulated(parity: dict[str, ParityMark], **call_s: float) -> BenchReport:
    noise = NOISES["process luck of 1 %"]
    found = measurements(call_s, noise, seed=1, options=BenchOptions(blocks=4))
    return BenchReport(
        baseline=found[0].subject,
        measurements=found,
        comparisons=compare(found[0], found[1:]),
        machine=machine.state(before=QUIET, after=AFTER, elapsed_s=10, threads=1),
        seed=1,
        inputs_key="",
        notes=("x is made of ones",),
        rerun="burnish bench m",
        parity=parity,
    )


def test_two_models_are_measured_compared_and_checked(
    model: Callable[..., str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "bench.json"
    pair = (model("plain", "Neg(x)"), model("same", "Neg(x)"))
    code = run(["bench", *pair, *QUICK, "--shape", "batch=3", "--json", "-o", str(target)])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    document = json.loads(captured.out)
    assert document == json.loads(target.read_text())
    jsonschema.validate(document, records.json_schema(BenchReport, schema=SCHEMA))
    report = records.read_document(BenchReport, target, schema=SCHEMA)
    assert [one.subject for one in report.measurements] == [
        "plain@onnxruntime-cpu", "same@onnxruntime-cpu",
    ]  # fmt: skip
    assert report.measurements[0].bindings == {"batch": 3}
    assert [mark.passed for mark in report.parity.values()] == [True, True]
    assert report.rerun.startswith("burnish bench ")
    assert "--shape batch=3" in report.rerun


def test_each_shape_has_rows_and_a_baseline_of_its_own(
    model: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    pair = (model("plain", "Neg(x)"), model("same", "Neg(x)"))
    shapes = ("--shape", "batch=2", "--shape", "batch=5")
    assert run(["-q", "bench", *pair, *QUICK, *shapes, "--baseline", "same", "--json"]) == 0
    report = records.decode(BenchReport, json.loads(capsys.readouterr().out))
    assert [(one.subject, dict(one.bindings)) for one in report.measurements] == [
        ("plain@onnxruntime-cpu batch=2", {"batch": 2}),
        ("same@onnxruntime-cpu batch=2", {"batch": 2}),
        ("plain@onnxruntime-cpu batch=5", {"batch": 5}),
        ("same@onnxruntime-cpu batch=5", {"batch": 5}),
    ]
    assert [one.baseline for one in report.comparisons] == [
        "same@onnxruntime-cpu batch=2", "same@onnxruntime-cpu batch=5",
    ]  # fmt: skip
    assert len(report.parity) == 4
    assert "--shape batch=2 --shape batch=5" in report.rerun


def test_a_wrong_subject_is_timed_marked_and_fails_the_command(
    model: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["bench", model("plain", "Neg(x)"), model("wrong", "Abs(x)"), *QUICK])
    captured = capsys.readouterr()
    assert code == 1
    assert "WRONG" in captured.out
    assert "burnish: wrong@onnxruntime-cpu is wrong: y: " in captured.err
    assert "hint: find the node where it parts: burnish verify " in captured.err


def test_a_subject_that_fails_has_a_row_and_fails_the_command(
    model: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["bench", model("plain", "Neg(x)"), model("broken", "Nothing(x)"), *QUICK])
    captured = capsys.readouterr()
    assert code == 1
    assert "✗ failed" in captured.out
    assert "broken@onnxruntime-cpu could not be measured: " in captured.err


def test_without_verification_the_column_says_so(
    model: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", model("plain", "Neg(x)"), *QUICK, "--no-verify"]) == 0
    assert "not checked" in capsys.readouterr().out


def test_an_engine_that_is_not_here_is_a_missing_capability(
    model: Callable[..., str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.engines.base import ENGINES, Availability

    gone = Availability(ok=False, reason="no GPU", remedy="pip install 'burnish[tensorrt]'")
    monkeypatch.setattr(type(ENGINES["tensorrt"]), "availability", lambda _: gone)
    assert run(["bench", model("plain", "Neg(x)"), "--engine", "tensorrt"]) == 4
    assert "hint: pip install 'burnish[tensorrt]'" in capsys.readouterr().err


def test_an_unknown_engine_is_a_usage_error_with_the_nearest(
    model: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", model("plain", "Neg(x)"), "--engine", "onnxruntime-cpo"]) == 2
    assert "did you mean 'onnxruntime-cpu'?" in capsys.readouterr().err


def texts(report: BenchReport) -> tuple[list[Table], list[str]]:
    parts = list(tables(report))
    found = [part for part in parts if isinstance(part, Table)]
    return found, [part for part in parts if isinstance(part, str)]


def test_one_table_has_times_and_comparisons_and_lines_have_what_must_be_known() -> None:
    same = {name: ParityMark(True, 1.2e-7) for name in ("m@a", "m@b", "m@c")}
    (times,), lines = texts(simulated(same, **{"m@a": 0.02, "m@b": 0.01, "m@c": 0.02}))
    columns = [column.title for column in times.columns]
    results = [row[columns.index("results")] for row in times.rows]
    assert [(cell.text, cell.detail) for cell in results] == [("same", "max rel 1.2e-07")] * 3
    verdicts = [row[columns.index("verdict")] for row in times.rows]
    assert [cell.text for cell in verdicts] == ["–", "faster", "no difference shown"]
    assert re.fullmatch(r".* would show", verdicts[2].detail)
    assert times.texts[1][columns.index("speed-up")].startswith("2.0")
    assert lines[-1] == "again: burnish bench m"
    assert "note: x is made of ones" in lines


def test_percentiles_that_too_few_samples_allow_say_how_many_are_missing() -> None:
    (times,), _ = texts(simulated({}, **{"m@a": 0.5}))
    (row,) = times.rows
    assert (row[2].text, row[2].detail) == ("–", "needs 5 more")
    assert row[5].text == "not checked"


def test_a_report_has_the_same_tables_after_a_trip_through_json() -> None:
    report = simulated({}, **{"m@a": 0.02, "m@b": 0.01})
    again = records.decode(BenchReport, json.loads(json.dumps(records.encode(report))))
    assert list(tables(again)) == list(tables(report))
