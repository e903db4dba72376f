from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from bench.simulation import NOISES, measurements
from bench.test_ledger import TASK, cell, spoilt
from burnish.bench import machine
from burnish.bench.cells import Finished
from burnish.bench.fingerprint import machine_key
from burnish.bench.ledger import Ledger
from burnish.bench.measure import Verdict
from burnish.bench.subject import BenchOptions
from burnish.cli.main import run
from burnish.cli.reference import document_types
from burnish.core import records
from burnish.core.errors import UsageError
from burnish.study.history import answer, dashboard_answer
from burnish.study.requests.guarding import DashboardCommand, HistoryCommand
from burnish.study.shown.guarding import sparkline

HERE = machine_key(machine.here())


def timed(call_s: float, day: int, **changes: object) -> Finished:
    (measured,) = measurements(
        {"m@a": call_s}, NOISES["process luck of 1 %"], seed=day,
        options=BenchOptions(rounds=8, blocks=6),
    )  # fmt: skip
    one = cell(
        measurement=measured, measured_at=f"2026-11-{day:02}T12:00:00+00:00",
        task=replace(TASK, machine=HERE), **changes,
    )  # fmt: skip
    return replace(one, figures=replace(one.figures, median_s=call_s))


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "m.sqlite"
    elsewhere = replace(timed(0.5, 4), task=replace(TASK, machine="another"))
    other = replace(timed(0.03, 5), task=replace(TASK, machine=HERE, engine="openvino"))
    Ledger(path).append([timed(0.010, 1), timed(0.010, 2), timed(0.013, 3), elsewhere, other])
    return path


def test_what_is_damaged_is_left_out_and_told(ledger: Path, tmp_path: Path) -> None:
    spoilt(ledger, 1, "figures", "{")
    spoilt(ledger, 3, "record", b"")
    report = answer(HistoryCommand("bert", ledger=ledger))
    first = report.trends[0]
    assert [point.id for point in first.series.points] == [2, 3]
    assert first.newest is None, "there are no samples to compare"
    assert report.notes == ("2 measurements cannot be read and did not count: 1, 3",)
    spoilt(ledger, 5, "record", 7)
    spoilt(ledger, 4, "notes", "{")
    page = tmp_path / "page.html"
    found = dashboard_answer(DashboardCommand(output=page, ledger=ledger))
    assert found.measurements == 3
    assert "cannot be read" in found.notes[0]
    assert page.is_file()


def test_a_ledger_of_damaged_rows_is_not_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    Ledger(path).append([cell()])
    spoilt(path, 1, "figures", "{")
    with pytest.raises(UsageError, match="1 measurement cannot be read"):
        answer(HistoryCommand("bert", ledger=path))
    with pytest.raises(UsageError, match="1 measurement cannot be read"):
        dashboard_answer(DashboardCommand(output=tmp_path / "p.html", ledger=path))


def test_models_of_one_name_in_two_places_are_told(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    cells = []
    for day, place in ((1, "x"), (2, "y")):
        one = timed(0.010, day)
        file = replace(one.measurement, file=f"{place}/model.onnx")
        task = replace(one.task, model_key=place * 64)
        cells.append(replace(one, measurement=file, task=task, model="model"))
    Ledger(path).append(cells)
    report = answer(HistoryCommand("model", ledger=path))
    assert report.notes == (
        "model on onnxruntime-cpu was x/model.onnx before, and is y/model.onnx",
    )
    assert run(["history", "model", "--ledger", str(path)]) == 0


def test_a_history_has_one_series_for_each_engine_of_this_machine(ledger: Path) -> None:
    report = answer(HistoryCommand("bert", ledger=ledger))
    assert [trend.series.engine for trend in report.trends] == ["onnxruntime-cpu", "openvino"]
    first = report.trends[0]
    assert [point.median_s for point in first.series.points] == [0.010, 0.010, 0.013]
    assert first.newest is not None
    assert first.newest.verdict is Verdict.SLOWER
    assert report.trends[1].newest is None
    assert report.elsewhere == 1


def test_what_is_wrong_is_not_given_to_other_dashboards(tmp_path: Path) -> None:
    path, page = tmp_path / "m.sqlite", tmp_path / "v3.json"
    Ledger(path).append([timed(0.010, 1), timed(0.001, 2, status="wrong")])
    dashboard_answer(DashboardCommand(output=page, ledger=path))
    told = json.loads(page.read_text())
    assert {one["benchmark"]["extra_info"]["status"] for one in told} == {"ok"}


def test_only_engines_that_are_asked_for_are_shown(ledger: Path) -> None:
    report = answer(HistoryCommand("bert", engine="openvino", ledger=ledger))
    assert [trend.series.engine for trend in report.trends] == ["openvino"]


def test_a_file_is_found_by_the_name_that_benchmarks_show(ledger: Path, tmp_path: Path) -> None:
    place = tmp_path / "bert" / "dynamo" / "bert_dynamo.onnx"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"")
    report = answer(HistoryCommand(str(place), ledger=ledger))
    assert [trend.series.engine for trend in report.trends] == ["onnxruntime-cpu", "openvino"]


def test_an_engine_without_measurements_says_which_have_some(ledger: Path) -> None:
    with pytest.raises(UsageError, match="no measurement of bert on tensorrt") as error:
        answer(HistoryCommand("bert", engine="tensorrt", ledger=ledger))
    assert error.value.hint == "it has: onnxruntime-cpu, openvino"


def test_a_model_without_measurements_says_what_there_is(ledger: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no measurement of gpt2") as error:
        answer(HistoryCommand("gpt2", ledger=ledger))
    assert error.value.hint == "it has: bert/dynamo"
    with pytest.raises(UsageError, match="holds no measurement of gpt2") as error:
        answer(HistoryCommand("gpt2", ledger=tmp_path / "none.sqlite"))
    assert error.value.hint == "make one: burnish bench gpt2"


def test_the_command_shows_the_trend_and_the_verdict(
    ledger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["history", "bert", "--ledger", str(ledger)]) == 0
    shown = capsys.readouterr().out
    assert "▁▁█" in shown
    assert "bert/dynamo" in shown
    assert "slower" in shown
    assert "1 measurement of other machines" in shown


def test_a_dashboard_is_one_page_or_the_json_of_pytorchs(ledger: Path, tmp_path: Path) -> None:
    page, other = tmp_path / "page.html", tmp_path / "v3.json"
    report = dashboard_answer(DashboardCommand(output=page, ledger=ledger))
    assert (report.models, report.series, report.measurements) == (1, 3, 5)
    assert "bert/dynamo" in page.read_text()
    dashboard_answer(DashboardCommand(output=other, ledger=ledger))
    found = json.loads(other.read_text())
    latency = [one for one in found if one["metric"]["name"] == "latency_ms"]
    assert [one["metric"]["benchmark_values"] for one in latency][:3] == [[10.0], [10.0], [13.0]]
    assert latency[0]["model"] == {
        "name": "bert/dynamo", "type": "onnx", "backend": "onnxruntime-cpu",
    }  # fmt: skip


@pytest.mark.parametrize("words", [("history", "bert"), ("dashboard", "-o", "p.html")])
def test_the_documents_fit_their_schemas(
    ledger: Path, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(["-q", *words, "--ledger", str(ledger), "--json"]) == 0
    ((kind, schema),) = document_types(words[0])
    jsonschema.validate(
        json.loads(capsys.readouterr().out), records.json_schema(kind, schema=schema)
    )


def test_an_empty_ledger_has_no_dashboard(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no measurement") as error:
        dashboard_answer(DashboardCommand(output=tmp_path / "p.html", ledger=tmp_path / "none"))
    assert error.value.hint == "make one: burnish bench MODEL"


def test_a_line_of_bars_rises_with_the_times() -> None:
    assert sparkline([1.0, 1.5, 2.0]) == "▁▅█"
    assert sparkline([1.0, 1.0]) == "▁▁"
    assert sparkline([1.0, 1.01]) == "▁▂"  # noise is no mountain
    assert sparkline([]) == ""
    assert len(sparkline([1.0] * 50)) == 16
