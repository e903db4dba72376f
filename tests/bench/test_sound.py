"""What nobody can have measured is no measurement, and what was measured otherwise is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

import sample_run
from burnish.bench.measure import BenchReport, Measurement
from burnish.bench.sound import differing, require_sound, unlike
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
