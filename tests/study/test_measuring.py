from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.parser
import pytest

from bench.test_ledger import spoilt
from burnish.bench.cells import Finished
from burnish.bench.ledger import Ledger
from burnish.bench.measure import BenchReport, ProcessStart, Verdict
from burnish.bench.quiet import OPENING_S
from burnish.bench.rounds import Rounds
from burnish.bench.stats import median_interval, shown_time
from burnish.core.errors import CheckFailedError, UsageError
from burnish.report import matrix
from burnish.report.overall import models_of
from burnish.study import bench as benching
from burnish.study import measuring
from burnish.study.clock import Clock
from burnish.study.requests.judging import BenchCommand
from planting import environment

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 4] x) => (float[batch, 4] y) <float[4, 4] w = {WEIGHTS}> { y = BODY }
"""
PLAIN, WITH_ABS = "MatMul(x, w)", "MatMul(x, w) t = Abs(x)"
WEIGHTS = ", ".join(["1", "0.5", "0", "-1"] * 4)
CPU = "onnxruntime-cpu"


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str, str], str]:
    def write(name: str, body: str = PLAIN) -> str:
        path = tmp_path / f"{name}.onnx"
        text = MODEL.replace("WEIGHTS", WEIGHTS).replace("BODY", body)
        made = onnx.parser.parse_model(text)
        made.producer_name = name
        onnx.save(made, path)
        return str(path)

    return write


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return Ledger(tmp_path / "ledger.sqlite")


def asked(book: Ledger, *models: str, **more: object) -> BenchCommand:
    quick = BenchCommand(models, engine=CPU, rounds=1, blocks=1, ledger=book.path)
    return dataclasses.replace(quick, **more)  # type: ignore[arg-type]


def rows(report: BenchReport) -> dict[str, str]:
    return {one.subject: one.status for one in report.measurements}


def test_finished_cells_come_from_the_ledger(
    model: Callable[..., str], book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(book, model("plain"), model("same"), batch=(1, 2))
    first = benching.answer(request)
    assert rows(first) == {
        f"{name}@{CPU} batch={batch}": "ok" for batch in (1, 2) for name in ("plain", "same")
    }
    assert [one.items_per_call for one in first.measurements] == [1, 1, 2, 2]
    monkeypatch.setattr(measuring, "bench", lambda *_, **__: pytest.fail("measured again"))
    second = benching.answer(request)
    assert second.measurements == first.measurements
    assert second.comparisons == first.comparisons
    assert second.parity == first.parity
    assert f"4 cells measured before, from {book.path}; --again measures anew" in second.notes
    assert len(book.rows()) == 4


def test_a_model_against_itself_is_two_cells(model: Callable[..., str], book: Ledger) -> None:
    first = Path(model("plain"))
    second = first.with_name("copy.onnx")
    second.write_bytes(first.read_bytes())
    for _ in range(2):
        report = benching.answer(asked(book, str(first), str(second)))
        one, other = report.measurements
        assert one.model_key == other.model_key
        assert one.samples_s != other.samples_s
    assert len(book.rows()) == 2


def test_files_of_one_name_have_figures_of_their_own(
    model: Callable[..., str], book: Ledger
) -> None:
    places = []
    for name, body in (("plain", PLAIN), ("other", "Abs(x)")):
        place = Path(model(name, body)).parent / name / "model.onnx"
        place.parent.mkdir()
        made = onnx.load(place.parent.with_suffix(".onnx"))
        made.graph.output[0].name = made.graph.node[0].output[0] = name
        onnx.save(made, place)
        places.append(str(place))
    engines = (CPU, "openvino")
    for _ in range(2):  # measured, then from the ledger
        report = benching.answer(asked(book, *places, engine=engines, batch=(1, 2)))
        assert [one.model for one in report.measurements] == [
            place for place in places for _ in range(4)
        ]
        assert len({one.subject for one in report.measurements}) == len(report.parity) == 8
        for one in report.measurements:
            shown = shown_time(report, one)
            assert shown is not None
            assert shown.estimate == pytest.approx(median_interval(one.blocks).estimate)
        assert [len(table.rows) for table in matrix.pivots(report)] == [2, 2]
        assert len(models_of(report)) == 2
    assert {row.model for row in book.rows()} == {"model"}


def test_a_damaged_cell_is_measured_again_and_the_others_are_not(
    model: Callable[..., str], book: Ledger
) -> None:
    request = asked(book, model("plain"), batch=(1, 2))
    first = benching.answer(request)
    spoilt(book.path, 1, "record", b"")
    second = benching.answer(request)
    (note,) = (note for note in second.notes if "measurement 1 is damaged" in note)
    assert note.endswith("it does not count")
    assert second.measurements[0].samples_s != first.measurements[0].samples_s
    assert second.measurements[1] == first.measurements[1]
    assert len(book.rows()) == 3


def test_again_measures_anew_and_appends(model: Callable[..., str], book: Ledger) -> None:
    request = asked(book, model("plain"))
    benching.answer(request)
    benching.answer(dataclasses.replace(request, again=True))
    assert len(book.rows()) == 2
    assert len({row.session for row in book.rows()}) == 2


def test_another_size_measures_only_what_is_missing(
    model: Callable[..., str], book: Ledger
) -> None:
    name = model("plain")
    benching.answer(asked(book, name, batch=1))
    benching.answer(asked(book, name, batch=(1, 3)))
    assert [dict(row.bindings) for row in book.rows()] == [{"batch": 1}, {"batch": 3}]


def test_a_cell_is_compared_with_the_baseline_that_took_turns_with_it(
    model: Callable[..., str], book: Ledger
) -> None:
    plain, same = model("plain"), model("same")
    benching.answer(asked(book, plain, rounds=3))
    report = benching.answer(asked(book, plain, same, rounds=3))
    assert [row.model for row in book.rows()] == ["plain", "plain", "same"]
    assert book.rows()[1].session == book.rows()[2].session
    assert len(report.comparisons[0].round_ratios) == 3


def test_cells_of_unlike_sessions_are_not_compared(model: Callable[..., str], book: Ledger) -> None:
    plain, same = model("plain"), model("same")
    benching.answer(asked(book, plain, rounds=3))
    benching.answer(asked(book, same, rounds=3))
    report = benching.answer(asked(book, plain, same, rounds=3))
    (comparison,) = report.comparisons
    assert comparison.verdict is Verdict.NOT_ENOUGH
    assert comparison.reason == (f"was not measured together with plain@{CPU}; --again does that")


@pytest.mark.parametrize(
    ("do", "status"), [("segv", "crashed"), ("memory", "no memory"), ("hang", "hung")]
)
def test_an_engine_that_dies_marks_its_own_cells_only(
    do: str, status: str, model: Callable[..., str], book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(book, model("plain"), model("odd", WITH_ABS), batch=(1, 2), verify=False)
    for name, value in environment("Abs", do, levels=["all"]).items():
        monkeypatch.setenv(name, value)
    # a busy machine may take long to notice a crash; only what hangs is waited for briefly
    limit_s = 8.0 if do == "hang" else 60.0
    monkeypatch.setattr(measuring, "answer_limit_s", lambda *_: limit_s)
    report = benching.answer(request)
    assert rows(report) == {
        f"plain@{CPU} batch=1": "ok", f"odd@{CPU} batch=1": status,
        f"plain@{CPU} batch=2": "ok", f"odd@{CPU} batch=2": status,
    }  # fmt: skip
    assert {row.status for row in book.rows() if row.model == "odd"} == {status}
    with pytest.raises(CheckFailedError, match="could not be measured"):
        benching.require(request, report)


def test_types_are_converted_and_judged_by_the_model_as_it_is_written(
    model: Callable[..., str], book: Ledger
) -> None:
    report = benching.answer(asked(book, model("plain"), precision=("fp32", "fp16", "int8")))
    assert [one.precision for one in report.measurements] == ["f32", "f16", "i8"]
    assert [one.placement and one.placement.precision for one in report.measurements] == [
        "f32", "f16", "i8",
    ]  # fmt: skip
    words = [mark.word for mark in report.parity.values()]
    assert words[0] == "same"
    assert all(mark.passed for mark in report.parity.values()), words
    assert len({one.subject for one in report.measurements}) == 3


def test_a_model_that_is_int8_only_in_part_says_so_in_its_own_row(
    model: Callable[..., str], book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "left_out", lambda _: "half")
    request = asked(book, model("plain"), precision=("fp32", "int8"))
    for report in (benching.answer(request), benching.answer(request)):  # from the ledger, too
        placements = [one.placement for one in report.measurements]
        assert all(one is not None and "half" in one.notes for one in placements)


def test_a_type_that_a_model_cannot_have_is_a_row_and_no_failure(
    model: Callable[..., str], book: Ledger
) -> None:
    request = asked(book, model("plain", "Neg(x)"), precision=("f32", "i8"))
    report = benching.answer(request)
    assert [*rows(report).values()] == ["ok", "unsupported"]
    assert "nothing in the model can be quantised" in (report.measurements[1].failure or "")
    benching.require(request, report)
    with pytest.raises(CheckFailedError):
        benching.require(request, benching.answer(dataclasses.replace(request, precision="i8")))


def test_a_ledger_that_cannot_be_used_is_a_note_and_no_failure(
    model: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file, and no folder")
    book = Ledger(tmp_path / "taken" / "ledger.sqlite")
    report = benching.answer(asked(book, model("plain")))
    assert [*rows(report).values()] == ["ok"]
    (note,) = [note for note in report.notes if note.startswith("nothing was kept")]
    assert str(book.path) in note
    assert "BURNISH_LEDGER" in note


def test_a_budget_that_ends_leaves_the_rest_to_the_next_time(
    model: Callable[..., str], book: Ledger
) -> None:
    request = asked(book, model("plain"), batch=(1, 2, 3), budget=0.001)
    first = benching.answer(request)
    assert [one.status for one in first.measurements] == ["ok", "no time", "no time"]
    assert (
        "the budget of 0.001 s ended after 1 of 3 cells; the same command goes on with the rest"
        in first.notes
    )
    benching.answer(request)
    assert [dict(row.bindings) for row in book.rows()] == [{"batch": 1}, {"batch": 2}]


def test_a_budget_that_is_too_short_for_the_first_group_says_so_before_it_is_measured(
    model: Callable[..., str], book: Ledger
) -> None:
    said: list[tuple[str, str]] = []

    class Told:
        def step(self, stage: str, done: int, total: int, note: str = "") -> None:
            del done, total
            said.append((stage, note))

    request = asked(book, model("plain"), batch=(1, 2), budget=1.0)
    short = (
        "the budget of 1 s is too short for verdicts even of the first group: to start the "
        "processes of 1 cell takes about 2 s; all of them want --budget 3s or more"
    )
    report = benching.answer(request, progress=Told())
    assert ("budget", short) in said
    assert short in report.notes
    ample = dataclasses.replace(request, budget=60.0, again=True)
    assert not any("too short" in note for note in benching.answer(ample).notes)


def test_nothing_to_measure_is_refused() -> None:
    with pytest.raises(UsageError, match="there is nothing to measure") as error:
        benching.answer(BenchCommand(()))
    assert error.value.hint == "name a model: burnish bench MODEL"


def test_a_session_is_kept_as_a_whole_or_not_at_all(
    model: Callable[..., str], book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    appended: list[int] = []
    append = Ledger.append

    def counted(self: Ledger, cells: tuple[Finished, ...]) -> None:
        appended.append(len(cells))
        append(self, cells)

    monkeypatch.setattr(Ledger, "append", counted)
    benching.answer(asked(book, model("plain"), model("same"), batch=(1, 2)))
    assert appended == [2, 2]


def test_what_the_budget_does_not_reach_has_rows_that_say_so_and_is_measured_the_next_time(
    model: Callable[..., str], book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(book, model("plain"), batch=(1, 2, 3), budget=100.0)
    monkeypatch.setattr(Clock, "learn", lambda self, kind, _: self._taken_s.update({kind: 200.0}))
    first = benching.answer(request)
    assert [one.status for one in first.measurements] == ["ok", "no time", "no time"]
    assert first.measurements[1].failure is not None
    assert first.measurements[1].failure.startswith(f"a process of {CPU} takes about 3 min here")
    assert any("ended after 1 of 3 cells; the same command" in note for note in first.notes)
    benching.require(request, first)
    assert [row.status for row in book.rows()] == ["ok"]
    monkeypatch.undo()
    monkeypatch.setenv("BURNISH_CACHE", str(book.path.parent / "cache"))
    second = benching.answer(request)
    assert [one.status for one in second.measurements] == ["ok"] * 3
    assert second.measurements[0] == first.measurements[0]
    assert len(book.rows()) == 3


def test_what_was_not_opened_in_time_is_not_kept_and_is_measured_the_next_time(
    model: Callable[..., str], book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(book, model("plain"), model("same"), budget=60.0)
    monkeypatch.setattr(Rounds, "_is_over", lambda self, label: label != self._baseline)
    first = benching.answer(request)
    assert sorted(one.status for one in first.measurements) == ["no time", "ok"]
    assert any("ended before it was opened" in (one.failure or "") for one in first.measurements)
    assert any("ended after 1 of 2 cells" in note for note in first.notes)
    assert [row.status for row in book.rows()] == ["ok"]
    monkeypatch.undo()
    monkeypatch.setenv("BURNISH_CACHE", str(book.path.parent / "cache"))
    second = benching.answer(request)
    assert [one.status for one in second.measurements] == ["ok", "ok"]


def test_a_cell_whose_budget_ended_before_three_rounds_is_measured_again(
    model: Callable[..., str], book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(book, model("plain"), rounds=3, budget=60.0)
    monkeypatch.setattr(Rounds, "_in_time", lambda _, number, labels: [] if number else labels)
    assert len(benching.answer(request).measurements[0].launches) == 1
    monkeypatch.undo()
    monkeypatch.setenv("BURNISH_CACHE", str(book.path.parent / "cache"))
    assert len(benching.answer(request).measurements[0].launches) == 3
    assert len(benching.answer(request).measurements[0].launches) == 3
    assert len(book.rows()) == 2


def test_without_any_time_only_what_is_known_is_told(
    model: Callable[..., str], book: Ledger
) -> None:
    name = model("plain")
    benching.answer(asked(book, name, batch=1))
    report = benching.answer(asked(book, name, batch=(1, 2), budget=0.0))
    assert [one.status for one in report.measurements] == ["ok", "no time"]
    assert len(book.rows()) == 1


def test_what_was_never_measured_comes_before_what_had_too_few_processes(
    model: Callable[..., str], book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(book, model("plain"), batch=(1, 2), rounds=3, budget=60.0)
    monkeypatch.setattr(Rounds, "_in_time", lambda _, number, labels: [] if number else labels)
    benching.answer(dataclasses.replace(request, batch=1))
    second = benching.answer(request)
    assert [dict(row.bindings) for row in book.rows()] == [{"batch": 1}, {"batch": 2}]
    assert [len(one.launches) for one in second.measurements] == [1, 1]
    monkeypatch.undo()
    monkeypatch.setenv("BURNISH_CACHE", str(book.path.parent / "cache"))
    third = benching.answer(dataclasses.replace(request, budget=0.0))
    assert [len(one.launches) for one in third.measurements] == [1, 1], "they are told all the same"
    assert len(book.rows()) == 2


def test_what_groups_say_alike_is_said_once_with_the_largest_number() -> None:
    said = [
        "a share of 7.4 s ended; --budget 162s would do", "the load was 5.2 on 2 cores",
        "m batch=1 is odd", "a share of 8.1 s ended; --budget 198s would do", "m batch=2 is odd",
        "the load was 5.2 on 2 cores",
    ]  # fmt: skip
    assert benching.alike_once(said) == (
        "a share of 8.1 s ended; --budget 198s would do (of 2 such)",
        "the load was 5.2 on 2 cores",
        "m batch=1 is odd",
        "m batch=2 is odd",
    )


def test_a_further_process_is_not_charged_for_what_the_first_compiled(
    model: Callable[..., str], book: Ledger
) -> None:
    benching.answer(asked(book, model("a")))
    cell = book.finished(book.rows()[0].id)
    once = dataclasses.replace(
        cell.measurement.launches[0], load_s=1.0, first_call_s=30.0, warmup_s=1.0
    )
    kept = dataclasses.replace(once, first_call_s=2.0)

    def taken(*launches: ProcessStart) -> tuple[float, float]:
        found = dataclasses.replace(cell.measurement, launches=launches)
        with_these = dataclasses.replace(cell, measurement=found)
        return measuring.process_s(with_these, 0.0), measuring.another_s(with_these, 0.0)

    for launches, first_s, further_s in (((once,), 32.0, 2.0), ((once, kept), 32.0, 4.0)):
        process_s, another_s = taken(*launches)
        assert process_s == pytest.approx(first_s, abs=0.5)
        assert another_s == pytest.approx(further_s, abs=0.5)
    assert taken() == (OPENING_S, OPENING_S)
