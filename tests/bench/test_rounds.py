from __future__ import annotations

import dataclasses
import math
import random
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from bench.simulation import PLACED, Machine, Noise, SimulatedWorker
from burnish.bench.aim import FEWEST_BLOCKS, said_enough
from burnish.bench.measure import ParityMark, Placed
from burnish.bench.rounds import MOST_CALLS, SETTLED_ROUNDS, Rounds
from burnish.bench.subject import BenchOptions, WarmedUp, WorkerFailedError
from burnish.core.arrays import Arrays

QUIET = Noise(lambda _: 1.0, lambda _: 1.0)


class Recorder:
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        if stage == "bench":
            self.steps.append((done, total))


class Staged(SimulatedWorker):
    """A simulated worker that fails in the named act, and says when it was ended."""

    ended = 0

    def __init__(self, machine: Machine, call_s: float, fails_in: str = "") -> None:
        super().__init__(machine, call_s)
        self._fails_in = fails_in

    def open(self) -> WarmedUp:
        if self._fails_in == "open":
            raise WorkerFailedError("no such operator")
        return super().open()

    def block(self, calls: int, settle_s: float) -> tuple[float, ...]:
        if self._fails_in == "block":
            raise WorkerFailedError("the process ended by SIGSEGV")
        return super().block(calls, settle_s)

    def end(self) -> None:
        Staged.ended += 1


def rounds_of(
    call_s: dict[str, float], options: BenchOptions, *, fails: dict[str, str] | None = None,
    noise: Noise = QUIET, **more: object,
) -> tuple[Rounds, Machine]:  # fmt: skip
    machine = Machine(noise, random.Random(0))
    started: Counter[str] = Counter()

    def start(label: str) -> Staged:
        started[label] += 1
        act, _, number = (fails or {}).get(label, "").partition(" ")
        failing = act if not number or int(number) == started[label] else ""
        return Staged(machine, call_s[label], failing)

    rounds = Rounds(list(call_s), start, options, clock=machine.clock_s, **more)  # type: ignore[arg-type]
    rounds.run()
    return rounds, machine


def test_every_subject_has_one_block_in_every_cycle_of_every_round() -> None:
    rounds, _ = rounds_of(dict.fromkeys("abc", 0.01), BenchOptions(rounds=3, blocks=4))
    for tally in rounds.tallies.values():
        places = [(block.round, block.cycle) for block in tally.blocks]
        assert places == [(number, cycle) for number in range(3) for cycle in range(4)]
        assert [launch.round for launch in tally.launches] == [0, 1, 2]
        assert all(launch.peak_memory_bytes == 1 for launch in tally.launches)


def test_the_order_within_cycles_is_shuffled_by_the_seed_and_hits_every_place() -> None:
    options = BenchOptions(rounds=3, blocks=10, seed=4)
    first, _ = rounds_of(dict.fromkeys("abc", 0.01), options)
    again, _ = rounds_of(dict.fromkeys("abc", 0.01), options)
    for label in "abc":
        positions = [block.position for block in first.tallies[label].blocks]
        assert set(positions) == {0, 1, 2}
        assert positions == [block.position for block in again.tallies[label].blocks]
    in_one_place = zip(*(first.tallies[label].blocks for label in "abc"), strict=True)
    assert all({block.position for block in cycle} == {0, 1, 2} for cycle in in_one_place)


@pytest.mark.parametrize(
    ("call_s", "calls"), [(0.001, 75), (0.025, 3), (0.5, 1), (3.0, 1), (1e-6, MOST_CALLS)]
)
def test_a_block_has_as_many_calls_as_fill_its_time(call_s: float, calls: int) -> None:
    rounds, _ = rounds_of({"a": call_s}, BenchOptions(rounds=1, blocks=1, block_s=0.075))
    assert [len(block.samples_s) for block in rounds.tallies["a"].blocks] == [calls]


def test_a_short_budget_means_fewer_blocks_then_fewer_rounds_and_a_note() -> None:
    slow = {"a": 2.0, "b": 2.0}
    rounds, machine = rounds_of(slow, BenchOptions(rounds=5, blocks=10, budget_s=30))
    done = {block.round for block in rounds.tallies["a"].blocks}
    assert done == {0, 1, 2}
    assert machine.clock_s() < 60
    assert rounds.notes == []


def test_a_budget_that_nobody_would_wait_for_is_not_proposed() -> None:
    wild = Noise(lambda dice: dice.choice((1.0, 9.0)), lambda _: 1.0)
    rounds, _ = rounds_of(
        {"a": 0.5, "b": 0.5}, BenchOptions(rounds=20, blocks=2, budget_s=40), noise=wild
    )
    (note,) = rounds.notes
    assert note.endswith(
        "; this machine is too busy to show differences of 5.0 %: use a quieter one"
    )


def test_a_budget_that_ends_too_early_says_how_long_it_would_have_to_be() -> None:
    uneven = Noise(lambda dice: dice.choice((1.0, 1.3)), lambda _: 1.0)
    rounds, _ = rounds_of(
        {"a": 0.5, "b": 0.5}, BenchOptions(rounds=20, blocks=2, budget_s=40), noise=uneven
    )
    (note,) = rounds.notes
    assert note.startswith("the budget of 40 s ended after ")
    assert re.search(r"rounds; --budget \d+s would show differences of 5.0 %$", note)


def test_rounds_go_on_with_those_only_whose_difference_does_not_show_yet() -> None:
    uneven = Noise(lambda dice: dice.choice((1.0, 1.1)), lambda _: 1.0)
    rounds, _ = rounds_of({"a": 0.01, "like a": 0.01, "slow": 0.05}, BenchOptions(), noise=uneven)
    ran = {label: len(tally.launches) for label, tally in rounds.tallies.items()}
    assert ran["slow"] == SETTLED_ROUNDS
    assert ran["a"] == ran["like a"] > SETTLED_ROUNDS


def test_every_other_cycle_is_the_one_before_it_backwards() -> None:
    rounds, _ = rounds_of(dict.fromkeys("abc", 0.01), BenchOptions(rounds=2, blocks=4, seed=2))
    for tally in rounds.tallies.values():
        places = [block.position for block in tally.blocks]
        assert all(there + back == 2 for there, back in zip(places[::2], places[1::2], strict=True))


def test_a_noisy_machine_is_told_of_as_soon_as_three_rounds_are_over() -> None:
    said: list[str] = []

    class Listening(Recorder):
        def step(self, stage: str, done: int, total: int, note: str = "") -> None:
            said.append(f"{stage}: {note}")

    uneven = Noise(lambda dice: dice.choice((1.0, 1.3)), lambda _: 1.0)
    rounds_of(
        {"a": 0.5, "b": 0.5}, BenchOptions(blocks=2, budget_s=40), noise=uneven,
        progress=Listening(),
    )  # fmt: skip
    (told,) = [note for note in said if note.startswith("machine: ")]
    assert re.fullmatch(
        r"machine: noisy: --budget \d+s would be needed to see differences of 5.0 %", told
    )


def test_three_rounds_are_run_however_short_the_budget_since_fewer_show_nothing() -> None:
    rounds, _ = rounds_of({"a": 2.0}, BenchOptions(rounds=3, blocks=10, budget_s=1))
    assert {block.round for block in rounds.tallies["a"].blocks} == {0, 1, 2}
    assert rounds.notes == []


def test_who_takes_too_long_for_the_time_there_is_has_one_round_and_a_note_says_so() -> None:
    rounds, machine = rounds_of(
        {"a": 0.01, "b": 0.01, "slow": 4.0}, BenchOptions(blocks=2, budget_s=20, ends_s=20)
    )
    ran = {label: len(tally.launches) for label, tally in rounds.tallies.items()}
    assert ran["slow"] == 1
    assert ran["a"] == ran["b"] >= 3
    assert rounds.tallies["slow"].blocks
    assert rounds.notes[0].startswith("slow had 1 round: one takes ")
    assert rounds.notes[0].endswith(", which the budget of 20 s does not allow")
    assert machine.clock_s() <= 1.2 * 20


def test_who_compiles_in_the_first_process_only_goes_on_to_a_verdict() -> None:
    """Two more rounds like the first would not fit; one does, and the others are short."""
    compiling: Counter[str] = Counter()

    class Compiles(Staged):
        def open(self) -> WarmedUp:
            compiling["b"] += 1
            seconds = 8.0 if compiling["b"] == 1 else 0.0
            self._machine.spend(seconds)
            opened = super().open()
            return dataclasses.replace(opened, first_call_s=opened.first_call_s + seconds)

    machine = Machine(QUIET, random.Random(0))
    rounds = Rounds(
        ["a", "b"],
        lambda label: (Compiles if label == "b" else Staged)(machine, 0.01),
        BenchOptions(rounds=3, blocks=2, budget_s=20, ends_s=20),
        clock=machine.clock_s,
    )
    rounds.run()
    assert [len(tally.launches) for tally in rounds.tallies.values()] == [3, 3]


def test_with_an_end_a_baseline_does_not_go_on_without_anybody_to_compare() -> None:
    slow = {"a": 4.0, "b": 4.0}
    rounds, _ = rounds_of(slow, BenchOptions(blocks=1, budget_s=10, ends_s=10))
    assert {label: len(tally.launches) for label, tally in rounds.tallies.items()} == {
        "a": 1, "b": 1,
    }  # fmt: skip


def test_cycles_end_with_a_rounds_share_where_calls_became_slower() -> None:
    slower = iter([1.0] * 40 + [50.0] * 10000)
    drifting = Noise(lambda _: 1.0, lambda _: next(slower))
    rounds, machine = rounds_of(
        {"a": 0.01}, BenchOptions(rounds=1, blocks=24, budget_s=2), noise=drifting
    )
    assert 1 <= len(rounds.tallies["a"].blocks) < 24
    assert machine.clock_s() < 10


def test_an_ample_budget_is_not_used_up() -> None:
    rounds, machine = rounds_of({"a": 0.01}, BenchOptions(rounds=3, blocks=4, budget_s=1000))
    assert machine.clock_s() < 5
    assert rounds.notes == []


@pytest.mark.parametrize("act", ["open", "block"])
def test_a_failing_subject_has_a_reason_and_the_others_go_on(act: str) -> None:
    rounds, _ = rounds_of({"good": 0.01, "bad": 0.01}, BenchOptions(rounds=3), fails={"bad": act})
    assert rounds.tallies["bad"].failure in ("no such operator", "the process ended by SIGSEGV")
    assert rounds.tallies["bad"].blocks == []
    assert len(rounds.tallies["good"].blocks) == 3 * FEWEST_BLOCKS
    assert rounds.tallies["good"].failure is None


def test_what_a_subject_gave_before_it_failed_stays() -> None:
    rounds, _ = rounds_of(
        {"good": 0.01, "bad": 0.01}, BenchOptions(rounds=4, blocks=2), fails={"bad": "block 3"}
    )
    tally = rounds.tallies["bad"]
    assert tally.failure == "the process ended by SIGSEGV"
    assert {block.round for block in tally.blocks} == {0, 1}
    assert len(tally.launches) == 3
    assert tally.launches[-1].peak_memory_bytes is None


def test_nothing_is_run_when_all_have_failed() -> None:
    progress = Recorder()
    rounds, _ = rounds_of({"a": 0.1}, BenchOptions(), fails={"a": "open"}, progress=progress)
    assert rounds.tallies["a"].failure == "no such operator"
    assert rounds.notes == []
    assert progress.steps[-1][0] == progress.steps[-1][1]


def test_every_worker_is_ended_even_when_interrupted() -> None:
    Staged.ended = 0

    class Interrupting(Recorder):
        def step(self, stage: str, done: int, total: int, note: str = "") -> None:
            if done == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rounds_of({"a": 0.01, "b": 0.01}, BenchOptions(), progress=Interrupting())
    assert Staged.ended == 2


def test_progress_ends_once_and_never_goes_back() -> None:
    progress = Recorder()
    rounds_of({"a": 0.01, "b": 0.01}, BenchOptions(rounds=3, blocks=4), progress=progress)
    done = [step[0] for step in progress.steps]
    assert done == sorted(done)
    assert [step for step in progress.steps if step[0] >= step[1]] == [(24, 24)]


def test_the_judge_sees_each_subject_once_with_its_placement() -> None:
    seen: list[tuple[str, Placed]] = []

    def judge(label: str, placement: Placed, outputs: Arrays) -> ParityMark:
        assert outputs == {}
        seen.append((label, placement))
        return ParityMark(passed=label == "a", max_rel=0.0)

    rounds, _ = rounds_of({"a": 0.01, "b": 0.01}, BenchOptions(rounds=3), judge=judge)
    assert sorted(seen, key=str) == [("a", PLACED), ("b", PLACED)]
    assert [tally.parity and tally.parity.passed for tally in rounds.tallies.values()] == [
        True, False,
    ]  # fmt: skip


class Fickle(SimulatedWorker):
    """A worker that computes what it is told to, call by call."""

    def __init__(self, machine: Machine, gives: list[str]) -> None:
        super().__init__(machine, 0.01)
        self._gives = gives

    def outputs(self, known: Sequence[str], calls: int) -> Mapping[str, Arrays]:
        found = dict.fromkeys(self._gives[:calls])
        return {key: {key: np.zeros(1)} for key in found if key not in known}


@pytest.mark.parametrize(
    ("gives", "judged", "passed", "max_rel"),
    [
        ([["right"]] * 3, ["right"], True, 0.0),
        ([["right"], ["wrong"], ["right"]], ["right", "wrong"], False, 1.0),
        ([["right", "wrong"]] * 3, ["right", "wrong"], False, 1.0),
        ([["right", "near"], ["near"], ["right"]], ["right", "near"], True, 0.5),
        ([["near"], ["right"], ["wrong"]], ["near", "right", "wrong"], False, 1.0),
    ],
)
def test_what_every_process_computes_is_judged_and_the_worst_is_told(
    gives: list[list[str]], judged: list[str], passed: bool, max_rel: float
) -> None:
    machine, left, seen = Machine(QUIET, random.Random(0)), list(gives), []
    errors = {"right": 0.0, "near": 0.5, "wrong": 1.0}

    def judge(label: str, placement: Placed, outputs: Arrays) -> ParityMark:
        (name,) = outputs
        seen.append(name)
        return ParityMark(name != "wrong", errors[name], name if name == "wrong" else "")

    options = BenchOptions(rounds=3, blocks=2)
    rounds = Rounds(
        ["a"], lambda _: Fickle(machine, left.pop(0)), options, judge=judge, clock=machine.clock_s
    )
    rounds.run()
    mark = rounds.parity["a"]
    assert seen == judged
    assert (mark.passed, mark.max_rel) == (passed, max_rel)
    assert mark.note == ("" if passed else "not in every call or process: wrong")


def test_a_round_ends_when_its_own_noise_is_far_below_what_should_be_visible() -> None:
    noisy = Noise(lambda _: 1.0, lambda machine: 1 + machine.dice.random())
    for noise, cycles in ((QUIET, FEWEST_BLOCKS), (noisy, 24)):
        rounds, _ = rounds_of({"a": 0.02, "b": 0.03}, BenchOptions(rounds=3), noise=noise)
        counted = {
            Counter(block.round for block in one.blocks)[0] for one in rounds.tallies.values()
        }
        assert counted == {cycles}


def test_one_noisy_subject_keeps_its_round_going_for_all() -> None:
    """Its calls are so long that only its own blocks tell."""
    dice = random.Random(1)
    level = {
        "quiet": [0.0] * 8,
        "also quiet": [0.1] * 8,
        "noisy": [dice.random() for _ in range(8)],
    }
    assert said_enough({name: level[name] for name in ("quiet", "also quiet")}, "quiet", 0.05)
    assert not said_enough(level, "quiet", 0.05)
    assert not said_enough({"noisy": level["noisy"]}, "noisy", 0.05)
    assert said_enough({"also quiet": level["also quiet"]}, "one that failed", 0.05)


def test_drift_that_neighbours_share_does_not_keep_a_round_going() -> None:
    drift = [0.05 * number for number in range(FEWEST_BLOCKS)]
    assert said_enough({"a": drift, "b": [one + 0.3 for one in drift]}, "a", 0.05)
    assert not said_enough({"a": drift}, "a", 0.05)


class SlowToOpen(Staged):
    """A simulated worker that compiles for five seconds when it is opened."""

    def open(self) -> WarmedUp:
        self._machine.spend(5.0)
        return super().open()


def test_what_is_not_opened_in_time_is_left_out_and_says_so() -> None:
    machine = Machine(QUIET, random.Random(0))
    labels = [f"engine {number}" for number in range(8)]
    options = BenchOptions(rounds=3, blocks=2, budget_s=12, ends_s=12, baseline=labels[5])
    rounds = Rounds(labels, lambda _: SlowToOpen(machine, 0.01), options, clock=machine.clock_s)
    rounds.run()
    unopened = [label for label, tally in rounds.tallies.items() if not tally.launches]
    assert machine.clock_s() < 12 + 5 + 5 / 4 * 3  # what has begun is measured
    assert len(unopened) == 5
    assert labels[5] not in unopened
    for label in unopened:
        assert rounds.tallies[label].status == "no time"
        assert "ended before it was opened" in (rounds.tallies[label].failure or "")
    assert all(tally.blocks for tally in rounds.tallies.values() if tally.launches)
    assert not any(label in note for label in unopened for note in rounds.notes)


def test_without_an_end_everything_is_opened() -> None:
    machine = Machine(QUIET, random.Random(0))
    options = BenchOptions(rounds=1, blocks=1, budget_s=1)
    rounds = Rounds(
        list("abc"), lambda _: SlowToOpen(machine, 0.01), options, clock=machine.clock_s
    )
    rounds.run()
    assert all(tally.launches for tally in rounds.tallies.values())


class Heard:
    """Progress that remembers what it was told of the machine."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        del done, total
        self.told += [note] if stage == "machine" else []


def foretold_s(candidate_s: float, seed: int, others: int = 0) -> float:
    """Return the budget that a short run on a noisy machine asks for; 0: it asks for none."""
    noise = Noise(lambda dice: math.exp(dice.gauss(0, 0.1)), lambda _: 1.0)
    machine, heard = Machine(noise, random.Random(seed)), Heard()
    calls = {"a": 0.01, "b": candidate_s} | {f"far {number}": 1e-4 for number in range(others)}
    options = BenchOptions(rounds=400, blocks=8, budget_s=3.0, seed=seed)
    Rounds(
        list(calls), lambda label: SimulatedWorker(machine, calls[label]), options,
        clock=machine.clock_s, progress=heard,
    ).run()  # fmt: skip
    found = [int(each) for told in heard.told for each in re.findall(r"--budget (\d+)s", told)]
    return max(found, default=0)


def test_what_will_soon_be_clear_asks_for_no_time_to_see_small_differences() -> None:
    near = [foretold_s(0.01, seed) for seed in range(24)]
    far = [foretold_s(0.005, seed) for seed in range(24)]
    assert statistics.median(near) > 20
    assert statistics.median(far) == 0
    assert max(far) < statistics.median(near)


def test_time_is_asked_for_those_only_who_need_more_of_it() -> None:
    """Whatever is far off goes on for the first few rounds alone."""
    pairs = [(foretold_s(0.01, seed), foretold_s(0.01, seed, others=6)) for seed in range(12)]
    alone, beside = (statistics.median(each) for each in zip(*pairs, strict=True))
    assert beside < 2.5 * alone


def test_where_the_time_may_end_subjects_are_opened_as_they_were_named() -> None:
    machine, opened = Machine(QUIET, random.Random(0)), []

    class Noted(SimulatedWorker):
        def __init__(self, label: str) -> None:
            super().__init__(machine, 0.01)
            self._label = label

        def open(self) -> WarmedUp:
            opened.append(self._label)
            return super().open()

    labels = [f"engine {number}" for number in range(12)]
    options = BenchOptions(rounds=1, blocks=1, ends_s=100.0, baseline=labels[3])
    Rounds(labels, Noted, options, clock=machine.clock_s).run()
    assert opened == [labels[3], *labels[:3], *labels[4:]]
