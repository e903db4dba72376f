from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import sample_run
from burnish.bench.measure import SCHEMA, BenchReport, Verdict
from burnish.bench.results import KeptResults, kept
from burnish.cli.main import run
from burnish.cli.reference import document_types
from burnish.core import records
from burnish.core.arrays import Array
from burnish.core.errors import ModelError, UsageError
from burnish.study.compare import answer
from burnish.study.requests.guarding import CompareCommand


def write(path: Path, report: BenchReport) -> Path:
    path.write_text(records.text_of(records.document(report, schema=SCHEMA)))
    return path


def slowed(report: BenchReport, factor: float) -> BenchReport:
    slow = tuple(
        dataclasses.replace(
            one,
            blocks=tuple(
                dataclasses.replace(block, samples_s=tuple(s * factor for s in block.samples_s))
                for block in one.blocks
            ),
        )
        for one in report.measurements
    )
    return dataclasses.replace(report, measurements=slow)


def test_stored_samples_give_the_verdicts_and_what_could_have_been_seen(tmp_path: Path) -> None:
    report = sample_run.bench()
    a, b = write(tmp_path / "a.json", report), write(tmp_path / "b.json", slowed(report, 1.5))
    found = answer(CompareCommand(a, b))
    good = [row for row in found.rows if not row.comparison.reason]
    assert {row.comparison.verdict for row in good} == {Verdict.SLOWER}
    for row in good:
        assert row.comparison.ratio == pytest.approx(1 / 1.5)
        assert row.before is not None
        assert row.after is not None
        assert row.after.estimate / row.before.estimate == pytest.approx(1.5)
        assert row.comparison.minimum_detectable_effect is not None
    same = answer(CompareCommand(a, a))
    assert {row.comparison.verdict for row in same.rows} == {
        Verdict.NO_DIFFERENCE, Verdict.NOT_ENOUGH,
    }  # fmt: skip
    assert "measured at different times" in same.notes[-1]
    assert "burnish bench" in same.notes[-1]


def test_models_are_measured_before_they_are_compared(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"")
    for other in (tmp_path / "a.onnx", tmp_path, "bert-base"):
        with pytest.raises(UsageError, match=r"holds no measurements, which is what compare") as no:
            answer(CompareCommand(tmp_path / "a.onnx", other))
        assert no.value.hint.endswith(f"burnish bench {tmp_path / 'a.onnx'} {other}")


def test_a_model_beside_measurements_is_measured_too_and_replaces_none(tmp_path: Path) -> None:
    measured, model = write(tmp_path / "m.json", sample_run.bench()), tmp_path / "m.onnx"
    for given in ((measured, model), (model, measured)):
        with pytest.raises(UsageError, match=r"m.onnx: holds no measurements") as error:
            answer(CompareCommand(*given))
        assert error.value.hint == f"measure it, too: burnish bench {model} -o m_now.json"


def test_a_file_that_is_not_there_is_made_by_a_benchmark(tmp_path: Path) -> None:
    there, gone = write(tmp_path / "a.json", sample_run.bench()), tmp_path / "b.json"
    with pytest.raises(ModelError, match=r"b\.json: there is no such file") as error:
        answer(CompareCommand(there, gone))
    assert error.value.hint == f"make it: burnish bench MODEL -o {gone}"


def test_files_of_unlike_machines_are_refused(tmp_path: Path) -> None:
    report = sample_run.bench()
    other = dataclasses.replace(
        report, machine=dataclasses.replace(report.machine, cpu="another processor")
    )
    a, b = write(tmp_path / "a.json", report), write(tmp_path / "b.json", other)
    with pytest.raises(UsageError, match="unlike machines") as error:
        answer(CompareCommand(a, b))
    assert error.value.hint.startswith("measure both here: burnish bench")


def test_files_without_a_common_subject_are_refused(tmp_path: Path) -> None:
    report = sample_run.bench()
    strange = tuple(
        dataclasses.replace(one, subject=f"x{n}", engine=f"e{n}")
        for n, one in enumerate(report.measurements)
    )
    a = write(tmp_path / "a.json", report)
    other = dataclasses.replace(
        report, measurements=strange, baseline=strange[0].subject, comparisons=(), parity={}
    )
    b = write(tmp_path / "b.json", other)
    with pytest.raises(UsageError, match="have no subject in common"):
        answer(CompareCommand(a, b))


def test_the_command_shows_both_times_and_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = sample_run.bench()
    a, b = write(tmp_path / "a.json", report), write(tmp_path / "b.json", slowed(report, 0.5))
    assert run(["compare", str(a), str(b)]) == 0
    shown = capsys.readouterr().out
    assert "2.00×" in shown
    assert "faster" in shown
    assert run(["compare", str(a), str(tmp_path / "none.json")]) == 3
    capsys.readouterr()
    assert run(["-q", "compare", str(a), str(b), "--json"]) == 0
    ((kind, schema),) = document_types("compare")
    jsonschema.validate(
        json.loads(capsys.readouterr().out), records.json_schema(kind, schema=schema)
    )


def one_row(place: Path, file: str, *outputs: Array, key: str = "as ever") -> Path:
    """Write a benchmark of one model, which gave these outputs."""
    report = sample_run.bench()
    row = dataclasses.replace(report.measurement(report.baseline), file=file, model_key=file)
    gave = {f"y{number}": array for number, array in enumerate(outputs)}
    results = (KeptResults((row.subject,), key, kept(gave)),) if outputs else ()
    alone = dataclasses.replace(
        report, measurements=(row,), comparisons=(), parity={}, results=results
    )
    return write(place, alone)


def told(tmp_path: Path, *rows: Path) -> list[str]:
    return [note for note in answer(CompareCommand(*rows)).notes if "results" in note]


def test_a_fast_model_that_gave_something_else_is_told_of(tmp_path: Path) -> None:
    gave = np.linspace(-1, 1, 12, dtype=np.float32)
    before = one_row(tmp_path / "a.json", "a.onnx", gave, gave)
    after = one_row(tmp_path / "b.json", "b.onnx", gave, gave + np.float32(0.25))
    (note,) = told(tmp_path, before, after)
    assert note.endswith(
        " gave other results than before: y1 is off by 0.25 at most;"
        " ask burnish verify a.onnx b.onnx"
    )
    rounded = one_row(tmp_path / "b.json", "b.onnx", gave, gave * np.float32(1 + 1e-7))
    assert told(tmp_path, before, rounded) == []


def test_outputs_of_another_shape_or_none_are_other_results(tmp_path: Path) -> None:
    gave = np.zeros(4, np.float32)
    before = one_row(tmp_path / "a.json", "a.onnx", gave, gave)
    after = one_row(tmp_path / "b.json", "b.onnx", gave.reshape(2, 2))
    first, second = told(tmp_path, before, after)
    assert "y0 was f32 (4,) and is f32 (2, 2)" in first
    assert "y1 is not given any more" in second


@pytest.mark.parametrize("key", ["as ever", "others"])
def test_models_whose_results_cannot_be_compared_are_told_of(tmp_path: Path, key: str) -> None:
    gave = (np.zeros(4, np.float32),) if key == "others" else ()
    before = one_row(tmp_path / "a.json", "a.onnx", np.zeros(4, np.float32))
    after = one_row(tmp_path / "b.json", "b.onnx", *gave, key=key)
    assert any(
        note.endswith(
            ": the model is another one than before, and these files do not tell whether it"
            " computes the same; ask burnish verify a.onnx b.onnx"
        )
        for note in answer(CompareCommand(before, after)).notes
    )
    assert not any("another one" in note for note in answer(CompareCommand(before, before)).notes)


def test_of_a_file_that_was_written_over_a_copy_is_asked_for(tmp_path: Path) -> None:
    before = one_row(tmp_path / "a.json", "a.onnx", np.zeros(4, np.float32))
    after = one_row(tmp_path / "b.json", "a.onnx", np.ones(4, np.float32))
    document = json.loads(after.read_text())
    document["measurements"][0]["model_key"] = "now"
    after.write_text(json.dumps(document))
    (note,) = told(tmp_path, before, after)
    assert note.endswith("keep a copy of a file before it is changed, and ask burnish verify")


def test_why_there_is_no_verdict_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(one_row(tmp_path / "a.json", "a.onnx").read_text())
    document["measurements"][0]["status"] = "crashed"
    (tmp_path / "b.json").write_text(json.dumps(document))
    assert run(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "note: no verdict: " in shown
    assert "did not end well: crashed" in shown
    assert "not enough data" in shown
