"""What nobody can have measured is no measurement, and what was measured otherwise is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

import sample_run
from burnish.bench.measure import BenchReport, Measurement, ParityMark, Verdict
from burnish.bench.sound import differing, finding, require_sound, unlike
from burnish.core.errors import ModelError

PLACE = Path("b.json")


def first(report: BenchReport) -> Measurement:
    return next(one for one in report.measurements if one.blocks)


def with_first(change: Callable[[Measurement], Measurement]) -> BenchReport:
    """Return a report of which the first measurement with samples is changed."""
    report = sample_run.bench()
    chosen = first(report)
    every = (change(one) if one is chosen else one for one in report.measurements)
    return dataclasses.replace(report, measurements=tuple(every))


def timed(*samples_s: float) -> Callable[[Measurement], Measurement]:
    def change(one: Measurement) -> Measurement:
        block = dataclasses.replace(one.blocks[0], samples_s=samples_s)
        return dataclasses.replace(one, blocks=(block, *one.blocks[1:]))

    return change


def repeated(one: Measurement) -> Measurement:
    return dataclasses.replace(one, blocks=one.blocks * 2)


def with_threads(one: Measurement) -> Measurement:
    assert one.placement is not None
    placed = dataclasses.replace(one.placement, threads=64)
    return dataclasses.replace(one, placement=placed, options={**one.options, "threads": 2})


def with_start(seconds_s: float) -> Callable[[Measurement], Measurement]:
    def change(one: Measurement) -> Measurement:
        start = dataclasses.replace(one.launches[0], first_call_s=seconds_s)
        return dataclasses.replace(one, launches=(start, *one.launches[1:]))

    return change


def test_a_report_that_was_measured_is_taken() -> None:
    report = sample_run.bench()
    assert require_sound(report, PLACE) is report


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (timed(1e-3, -1e-3), "a call of -0.001 s, which no call takes"),
        (timed(0.0), "a call of 0 s"),
        (timed(float("nan")), "a call of nan s"),
        (timed(float("inf")), "a call of inf s"),
        (timed(1e-300), "a call of 1e-300 s"),
        (timed(), "no call in a block of round"),
        (repeated, "two blocks of calls at the same time"),
        (lambda one: dataclasses.replace(one, items_per_call=0), "calls of 0 inputs"),
        (lambda one: dataclasses.replace(one, bindings={"batch": -8}), "nothing has: batch=-8"),
        (lambda one: dataclasses.replace(one, blocks=()), "to be well and has no calls"),
        (lambda one: dataclasses.replace(one, launches=()), "a process that never started"),
        (with_threads, "asked for 2 threads and ran on 64"),
        (with_start(-1.0), "took -1 s to start"),
        (with_start(float("nan")), "took nan s to start"),
    ],
)
def test_what_nobody_can_have_measured_is_refused(
    change: Callable[[Measurement], Measurement], problem: str
) -> None:
    with pytest.raises(ModelError) as refused:
        require_sound(with_first(change), PLACE)
    assert problem in refused.value.problem
    assert "b.json" in refused.value.problem


def test_a_measurement_that_is_there_twice_is_refused() -> None:
    report = sample_run.bench()
    twice = dataclasses.replace(report, measurements=(*report.measurements, first(report)))
    with pytest.raises(ModelError, match="is there twice"):
        require_sound(twice, PLACE)


def test_more_threads_are_taken_where_that_was_allowed() -> None:
    one = with_threads(first(sample_run.bench()))
    assert finding(one) is not None
    assert (
        finding(dataclasses.replace(one, options={**one.options, "allow_fallback": True})) is None
    )


def test_an_engine_may_take_fewer_threads_than_it_was_asked_for() -> None:
    one = with_threads(first(sample_run.bench()))
    assert finding(dataclasses.replace(one, options={**one.options, "threads": 128})) is None


def test_verdicts_of_an_earlier_session_stand_though_the_baseline_has_failed_since() -> None:
    report = sample_run.bench()
    clear = next(one for one in report.comparisons if one.verdict is Verdict.FASTER)
    failed = tuple(
        dataclasses.replace(one, failure="it crashed", status="crashed", blocks=())
        if one.subject == clear.baseline
        else one
        for one in report.measurements
    )
    since = dataclasses.replace(report, measurements=failed)
    assert require_sound(since, PLACE) is since


def claimed(report: BenchReport, **changes: object) -> BenchReport:
    """Return a report that says something else of its first clear comparison."""
    one = next(one for one in report.comparisons if one.low is not None)
    other = dataclasses.replace(one, **changes)  # type: ignore[arg-type]
    every = tuple(other if each is one else each for each in report.comparisons)
    return dataclasses.replace(report, comparisons=every)


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": Verdict.SLOWER},
        {"ratio": 9.0},
        {"ratio": None},
        {"low": 0.9},
        {"high": float("inf")},
        {"round_ratios": (9.0, 9.1, 9.0)},
        {"round_ratios": (0.0, 1.0, 1.0)},
        {"confidence": 0.5},
    ],
)
def test_a_verdict_that_its_rounds_do_not_say_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="which its rounds do not say"):
        require_sound(claimed(sample_run.bench(), **changes), PLACE)


def test_who_is_unsure_of_what_the_rounds_say_is_believed() -> None:
    unsure = claimed(sample_run.bench(), verdict=Verdict.NOT_ENOUGH)
    assert require_sound(unsure, PLACE) is unsure


def test_what_is_said_of_what_was_not_measured_is_refused() -> None:
    report = sample_run.bench()
    name = first(report).subject
    others = tuple(one for one in report.measurements if one.subject != name)
    wrong = {name: ParityMark(passed=False, max_rel=1.0)}
    for change, problem in (
        ({"baseline": "nobody"}, "nobody is the baseline, and was not measured"),
        ({"parity": {"nobody": ParityMark(passed=True, max_rel=0.0)}}, "nobody was judged"),
        ({"parity": wrong}, "said to be well, and its results to be wrong"),
        ({"measurements": others, "baseline": others[0].subject, "parity": {}}, "not both were"),
    ):
        with pytest.raises(ModelError, match=problem):
            require_sound(dataclasses.replace(report, **change), PLACE)  # type: ignore[arg-type]


def test_what_differs_besides_times_is_told() -> None:
    report = sample_run.bench()
    one = first(report)
    assert list(differing(one, one)) == []
    other = dataclasses.replace(one, bindings={**one.bindings, "rows": 7})
    (note,) = differing(one, other)
    assert note.endswith("rows=7 after")
    assert one.placement is not None
    placed = dataclasses.replace(one.placement, precision="bf16")
    (note,) = differing(one, dataclasses.replace(one, placement=placed))
    assert "bf16 on" in note


def test_comparisons_tell_what_was_asked_of_engines_otherwise() -> None:
    asked = {"graph_level": "all", "mode": ""}
    one = dataclasses.replace(first(sample_run.bench()), options=asked)
    level = dataclasses.replace(one, options={**asked, "graph_level": "off"})
    assert list(differing(one, level)) == [f"{one.subject}: graph_level all before, off after"]
    mode = dataclasses.replace(one, options={**asked, "mode": "max-autotune"})
    (note,) = differing(mode, one)
    assert note == f"{one.subject}: mode max-autotune before, as usual after"
    assert list(differing(one, dataclasses.replace(one, options={}))) == []
    (note,) = differing(one, dataclasses.replace(one, cut_off=True))
    assert note == f"{one.subject}: its group after was ended early, so that it has fewer rounds"


def test_other_inputs_and_wrong_results_are_told() -> None:
    report = sample_run.bench()
    assert list(unlike(report, report)) == [
        f"{name} did not compute what it should {when}"
        for when in ("before", "after")
        for name, mark in report.parity.items()
        if not mark.passed
    ]
    other = dataclasses.replace(report, inputs_key=report.inputs_key + "0")
    assert "they were fed other inputs" in list(unlike(report, other))
