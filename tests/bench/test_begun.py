"""A benchmark that was ended after any round and gone on with is one that never was."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.simulation import Machine, Noise, SimulatedWorker
from bench.test_ledger import MACHINE, TASK, cell
from bench.test_rounds import Staged
from burnish.bench.begun import EarlierRounds, apart, joined, tally_of
from burnish.bench.cells import Finished
from burnish.bench.figures import figures_of
from burnish.bench.measure import Measurement, TimedBlock
from burnish.bench.rounds import Rounds
from burnish.bench.subject import BenchOptions, WarmedUp
from burnish.bench.tally import SubjectTally

LABELS = ("a", "b", "c")
OPTIONS = BenchOptions(rounds=9, blocks=9, budget_s=600, visible=0.02)


class EndedError(Exception):
    """Somebody ended the benchmark."""


class Disk:
    """What outlives a benchmark that is ended: a part of each cell for each finished round."""

    def __init__(self, fails: str = "") -> None:
        self.parts: list[Finished] = []
        self.rounds = 0
        self._fails = fails

    def run(self, until: int | None = None) -> dict[str, SubjectTally]:
        """Go on with what is here, and be ended in the round `until`."""
        cells = {one.task.engine: one for one in joined(self.parts).values()}
        machine, round_now = Machine(_by_process(), random.Random()), [self.rounds]
        started: Counter[str] = Counter()

        def start(label: str) -> Staged:
            if round_now[0] == until and label == LABELS[-1]:
                raise EndedError
            started[label] += 1
            machine.dice.seed(f"{label} {round_now[0]}")
            failing = "block" if label == self._fails and round_now[0] == 2 else ""
            return Staged(machine, 0.01, failing)

        rounds = Rounds(LABELS, start, OPTIONS, clock=machine.clock_s)

        def keep(number: int, took_part: Sequence[str]) -> None:
            self.parts += [_part(one, rounds.tallies[one], number) for one in took_part]
            self.rounds = round_now[0] = number + 1

        rounds.go_on(EarlierRounds(self.rounds, cells), keep)
        rounds.run()
        return rounds.tallies


def _by_process() -> Noise:
    """Return noise that is the same for a process of one round, whoever starts it."""
    return Noise(lambda dice: math.exp(dice.gauss(0, 0.05)), lambda _: 1.0)


def _part(label: str, tally: SubjectTally, number: int) -> Finished:
    measured = Measurement(
        subject=label, model_key="", engine=label, options={}, bindings={},
        launches=tuple(tally.launches), blocks=tuple(tally.blocks),
        placement=tally.placement, failure=tally.failure, status=tally.status,
    )  # fmt: skip
    return Finished(
        task=replace(TASK, engine=label), session="s", measured_at="2026-11-19T12:00:00+00:00",
        status=tally.status, reason=tally.failure or "", model="m",
        figures=figures_of(measured), measurement=apart(measured, number), machine=MACHINE,
        parity=tally.parity,
    )  # fmt: skip


def _samples(tallies: dict[str, SubjectTally]) -> dict[str, object]:
    return {
        label: (tally.launches, tally.blocks, tally.failure) for label, tally in tallies.items()
    }


@settings(max_examples=30, deadline=None)
@given(
    ends=st.lists(st.integers(min_value=0, max_value=OPTIONS.rounds - 1), max_size=4),
    fails=st.sampled_from(["", *LABELS]),
)
def test_whatever_round_it_was_ended_in_it_comes_to_the_same_rounds_in_the_same_order(
    ends: list[int], fails: str
) -> None:
    disk = Disk(fails)
    for until in ends:
        try:
            disk.run(until)
        except EndedError:
            assert disk.rounds <= until
    undisturbed = _samples(Disk(fails).run())
    assert _samples(disk.run()) == undisturbed
    for label in LABELS:
        places = [(block.round, block.cycle) for one in disk.parts if one.task.engine == label
                  for block in one.measurement.blocks]  # fmt: skip
        assert len(set(places)) == len(places), "no round was measured twice"


def test_what_the_time_did_not_reach_is_no_part_of_a_round() -> None:
    machine = Machine(_by_process(), random.Random(1))

    class Slow(SimulatedWorker):
        def open(self) -> WarmedUp:
            machine.spend(100)
            return super().open()

    kept: list[tuple[int, tuple[str, ...]]] = []
    options = BenchOptions(rounds=1, blocks=1, budget_s=50, ends_s=50, baseline="b")
    rounds = Rounds(LABELS, lambda _: Slow(machine, 0.01), options, clock=machine.clock_s)
    rounds.go_on(EarlierRounds(), lambda number, took_part: kept.append((number, (*took_part,))))
    rounds.run()
    assert kept == [(0, ("b",))]
    assert rounds.tallies["a"].status == "no time"


@settings(max_examples=30, deadline=None)
@given(rounds=st.integers(min_value=1, max_value=6), seed=st.integers(0, 99))
def test_what_is_taken_apart_by_rounds_is_joined_to_what_it_was(rounds: int, seed: int) -> None:
    dice = random.Random(seed)
    noise = Noise(lambda _: dice.uniform(0.5, 2.0), lambda _: 1.0)
    machine = Machine(noise, dice)
    made = Rounds(
        ["a"], lambda _: SimulatedWorker(machine, 0.01), BenchOptions(rounds=rounds, blocks=3),
        clock=machine.clock_s,
    )  # fmt: skip
    made.run()
    parts = [_part("a", made.tallies["a"], number) for number in range(rounds)]
    (whole,) = joined(parts).values()
    assert whole.measurement.blocks == tuple(made.tallies["a"].blocks)
    assert whole.figures == figures_of(whole.measurement)
    again = tally_of(whole.measurement, whole.parity)
    assert (again.launches, again.blocks) == (
        made.tallies["a"].launches, made.tallies["a"].blocks)  # fmt: skip


def test_a_part_that_is_there_twice_is_nobodys_measurement() -> None:
    one = cell()
    with pytest.raises(ValueError, match="two blocks of calls at the same time"):
        joined([one, one])


def test_results_that_were_wrong_stay_so_and_are_measured_on() -> None:
    wrong = replace(cell().measurement, status="wrong")
    assert tally_of(wrong, None).status == "ok", "parity says that it is wrong, and is kept"


def test_what_the_last_round_took_is_made_out_of_its_process_and_its_calls() -> None:
    measured = cell().measurement
    blocks = (TimedBlock(0, 0, 0, (5.0,)), TimedBlock(1, 0, 0, (2.0, 2.0)))
    launches = tuple(
        replace(measured.launches[0], round=number, load_s=1.0, first_call_s=3.0, warmup_s=0.5)
        for number in range(2)
    )
    tally = tally_of(replace(measured, blocks=blocks, launches=launches), None)
    assert tally.round_s == pytest.approx(8.5)
    assert tally.call_s == 2.0


def test_what_was_kept_is_told_with_its_doubts() -> None:
    doubted = replace(MACHINE, warnings=("the machine ran on battery",))
    cells = {"a": cell(machine=doubted), "b": cell(measured_at="2026-11-19T14:00:00+00:00")}
    earlier = EarlierRounds(2, cells)
    assert earlier.note == (
        "a and 1 other subject: went on behind 2 rounds of a benchmark that was ended "
        "(2026-11-19T14:00:00+00:00)"
    )
    assert "the machine ran on battery" in earlier.warnings
    assert EarlierRounds().note == ""
