"""A group that is ended loses the round that was running; the same command goes on behind it."""

from __future__ import annotations

import csv
import dataclasses
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from burnish.bench.ledger import Ledger
from burnish.bench.measure import BenchReport
from burnish.bench.rounds import Rounds
from burnish.report import matrix
from burnish.study import bench as benching
from burnish.study import kept
from burnish.study.requests.judging import BenchCommand
from burnish.study.shown.next import next_command
from study.test_measuring import CPU, asked, book, model

__all__ = ["book", "model"]
ROUNDS = 4


class EndedError(BaseException):
    """The process was ended."""


@pytest.fixture
def end(monkeypatch: pytest.MonkeyPatch) -> Callable[[BenchCommand, int], None]:
    """Return what measures and is ended in the given round."""

    def call(request: BenchCommand, number: int) -> None:
        measure = Rounds._round

        def ended(self: Rounds, now: int, labels: list[str]) -> None:
            if now == number:
                raise EndedError
            measure(self, now, labels)

        with monkeypatch.context() as patched:
            patched.setattr(Rounds, "_round", ended)
            with pytest.raises(EndedError):
                benching.answer(request)

    return call


def several(book: Ledger, model: Callable[..., str], **more: object) -> BenchCommand:
    return asked(book, model("plain"), model("same"), rounds=ROUNDS, **more)


def samples(report: BenchReport) -> list[tuple[float, ...]]:
    return [one.samples_s for one in report.measurements]


def test_a_group_that_was_ended_goes_on_with_the_next_round(
    book: Ledger, model: Callable[..., str], end: Callable[..., None]
) -> None:
    request = several(book, model, batch=(1, 2))
    end(request, 1)
    (first,) = book.begun()
    end(request, 3)
    (second,) = book.begun()
    assert (first.session, first.rounds, second.session, second.rounds) == (
        second.session, 1, first.session, 3)  # fmt: skip
    report = benching.answer(request)
    assert [one.rounds for one in report.measurements] == [(0, 1, 2, 3)] * 4
    for key, cell in second.cells.items():
        one = next(row for row in book.rows() if row.task == key)
        found = book.finished(one.id).measurement
        assert found.samples_s[: len(cell.measurement.samples_s)] == cell.measurement.samples_s
        assert found.launches[:3] == cell.measurement.launches
    told = [note for note in report.notes if "of a benchmark that was ended" in note]
    assert len(told) == 1
    assert told[0].startswith(
        f"plain@{CPU} batch=1 and 1 other subject: went on behind 3 rounds of a benchmark"
    )
    assert [len(one.round_ratios) for one in report.comparisons] == [ROUNDS] * 2
    assert book.begun() == ()
    assert len(book.rows()) == 4


def test_a_group_that_was_cut_off_is_reported_with_the_rounds_it_has(
    book: Ledger, model: Callable[..., str], end: Callable[..., None]
) -> None:
    request = several(book, model, batch=(1, 2))
    end(request, 3)
    report = benching.answer(dataclasses.replace(request, budget=0.0))
    assert [(one.status, len(one.rounds)) for one in report.measurements] == [
        ("ok", 3), ("ok", 3), ("no time", 0), ("no time", 0)]  # fmt: skip
    first = [one for one in report.comparisons if "batch=1" in one.candidate]
    assert [len(one.round_ratios) for one in first] == [3]
    told = [*csv.DictReader(matrix.csv_lines(report))]
    assert [row["reason"] for row in told[:2]] == ["cut off after 3 rounds"] * 2
    assert (
        f"plain@{CPU} batch=1 and 1 other subject: cut off after 3 rounds; "
        "the same command goes on with them"
    ) in report.notes
    assert [one.cut_off for one in report.measurements] == [True, True, False, False]
    assert next_command(request, report) is None, "what goes on is the command itself"
    assert book.rows() == (), "it is not finished for having been told"
    assert len(book.begun()) == 1


def test_a_cell_that_was_cut_off_is_compared_with_the_baseline_of_its_own_rounds(
    book: Ledger, model: Callable[..., str], end: Callable[..., None]
) -> None:
    request = several(book, model)
    benching.answer(dataclasses.replace(request, model=request.model[:1]))  # type: ignore[index]
    end(request, 2)
    report = benching.answer(dataclasses.replace(request, budget=0.0))
    assert [len(one.rounds) for one in report.measurements] == [ROUNDS, 2]
    (group,) = book.begun()
    (comparison,) = report.comparisons
    assert comparison.reason == "2 rounds of fresh processes, 3 are needed"
    baseline, candidate = (one.measurement for one in group.cells.values())
    assert samples(report)[1] == candidate.samples_s
    assert samples(report)[0] != baseline.samples_s


def test_rounds_that_other_code_measured_are_not_gone_on_with(
    book: Ledger,
    model: Callable[..., str],
    end: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = several(book, model)
    end(request, 2)
    monkeypatch.setattr(kept, "code_key", lambda: "other")
    told = benching.answer(dataclasses.replace(request, budget=0.0))
    assert [one.status for one in told.measurements] == ["no time", "no time"]
    end(request, 1)
    assert [one.rounds for one in book.begun()] == [2, 1]
    benching.answer(request)
    assert book.begun() == (), "what nobody goes on with is not kept for ever"


def test_a_group_with_a_further_subject_begins_anew(
    book: Ledger, model: Callable[..., str], end: Callable[..., None]
) -> None:
    request = several(book, model)
    end(request, 2)
    more = dataclasses.replace(request, model=(*request.model, model("third")))  # type: ignore[misc]
    report = benching.answer(more)
    assert [one.rounds for one in report.measurements] == [(0, 1, 2, 3)] * 3
    assert not any("of a benchmark that was ended" in note for note in report.notes)


def test_a_group_with_fewer_subjects_goes_on_and_leaves_the_others_theirs(
    book: Ledger, model: Callable[..., str], end: Callable[..., None]
) -> None:
    request = asked(book, model("plain"), model("same"), model("third"), rounds=ROUNDS)
    end(request, 2)
    (group,) = book.begun()
    fewer = dataclasses.replace(request, model=request.model[:2])  # type: ignore[index]
    report = benching.answer(fewer)
    kept_s = {cell.model: cell.measurement.samples_s for cell in group.cells.values()}
    for one in report.measurements:
        known = kept_s[one.model]
        assert one.samples_s[: len(known)] == known
    whole = benching.answer(request)
    third = whole.measurements[2]
    assert third.samples_s[: len(kept_s["third"])] == kept_s["third"]
    assert [len(one.round_ratios) for one in whole.comparisons] == [ROUNDS] * 2


def test_again_goes_on_with_nothing(
    book: Ledger, model: Callable[..., str], end: Callable[..., None]
) -> None:
    request = several(book, model)
    end(request, 2)
    (group,) = book.begun()
    report = benching.answer(dataclasses.replace(request, again=True))
    old = {cell.measurement.samples_s for cell in group.cells.values()}
    assert not any(one.samples_s[: len(each)] == each for one in report.measurements
                   for each in old)  # fmt: skip
    assert book.begun() == ()


def test_damaged_rounds_do_not_count_and_are_told(
    book: Ledger, model: Callable[..., str], end: Callable[..., None]
) -> None:
    request = several(book, model)
    end(request, 2)
    (group,) = book.begun()
    with closing(sqlite3.connect(book.path)) as connection:
        connection.execute("UPDATE rounds SET record = x'00' WHERE id = 1")
        connection.commit()
    report = benching.answer(request)
    assert [one.rounds for one in report.measurements] == [(0, 1, 2, 3)] * 2
    assert (
        f"{book.path}: rounds of the group {group.session} are damaged; they do not count"
        in report.notes
    )


def test_a_subject_that_failed_in_a_round_that_was_kept_is_not_started_again(
    book: Ledger, model: Callable[..., str], end: Callable[..., None]
) -> None:
    broken = model("broken", "com.nobody.Nothing(x)")
    request = asked(book, model("plain"), broken, rounds=ROUNDS, verify=False)
    end(request, 2)
    (group,) = book.begun()
    failed = next(cell for cell in group.cells.values() if cell.model == "broken")
    assert failed.status != "ok"
    report = benching.answer(request)
    assert [one.failure for one in report.measurements] == [None, failed.reason]
    assert report.measurements[0].rounds == (0, 1, 2, 3)


def test_a_cell_whose_budget_ended_early_goes_on_behind_the_rounds_it_has(
    book: Ledger, model: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = dataclasses.replace(several(book, model), budget=60.0)
    with monkeypatch.context() as patched:
        patched.setattr(Rounds, "_in_time", lambda _, number, labels: [] if number else labels)
        first = benching.answer(request)
    assert [one.rounds for one in first.measurements] == [(0,), (0,)]
    second = benching.answer(request)
    for before, after in zip(samples(first), samples(second), strict=True):
        assert after[: len(before)] == before
    assert [one.rounds for one in second.measurements] == [(0, 1, 2, 3)] * 2
    assert len(book.rows()) == 4
    assert book.begun() == ()
