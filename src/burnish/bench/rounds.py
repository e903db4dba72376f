"""Rounds of fresh processes whose blocks alternate in a shuffled order.

A round starts one worker per subject, opens them one after the other, then runs cycles: in each,
every subject has one short block, while all other workers sleep. Every other cycle has an order
drawn anew, and the one after it the same order backwards (A B B A), so that steady drift cancels.
A subject that fails once is not started again; what it gave until then stays.

A round ends before its last cycle when its own noise is far below what should be visible. After a
few rounds only those subjects go on that still need more, so that the budget is spent
where intervals are widest. Where the time must be kept, those that take longest stop first, and a
note says so: what one round of a subject takes is known when its first is over.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from burnish.bench.aim import FEWEST_BLOCKS, block_levels, said_enough, until_visible
from burnish.bench.begun import EarlierRounds
from burnish.bench.evidence import FEWEST_ROUNDS
from burnish.bench.measure import ParityMark, Placed, ProcessStart, TimedBlock
from burnish.bench.subject import BenchOptions, WarmedUp, Worker, WorkerFailedError
from burnish.bench.tally import SubjectTally
from burnish.core import units
from burnish.core.arrays import Arrays
from burnish.core.progress import SILENT, Progress
from burnish.timing.stopwatch import settling_s

SETTLED_ROUNDS = 6
"""Run by every subject, before it is asked who needs more: the spread of fewer says too little."""
LONGEST_BUDGET_S = 3600
"""What nobody waits for is not proposed."""
MOST_CALLS = 500
"""A block of very short calls ends here: more would fill the report with samples of one moment."""

Start = Callable[[str], Worker]
Judge = Callable[[str, Placed, Arrays], ParityMark]
"""Says whether what a subject computed in its worker is right."""
Keep = Callable[[int, Sequence[str]], None]
"""Told the number of each finished round, and who took part in it."""


class Rounds:
    """Gathers samples of all subjects; `tallies` and `notes` hold what came of it."""

    def __init__(
        self,
        labels: Sequence[str],
        start: Start,
        options: BenchOptions,
        *,
        judge: Judge | None = None,
        clock: Callable[[], float] = time.monotonic,
        progress: Progress = SILENT,
    ) -> None:
        self.tallies = {label: SubjectTally() for label in labels}
        self.notes: list[str] = []
        self._start = start
        self._options = options
        self._judge = judge
        self._baseline = options.baseline or labels[0]
        self._missing = until_visible(self._baseline, options.visible)
        self._clock = clock
        self._progress = progress
        self._first = 0
        self._keep: Keep = lambda _number, _took_part: None
        self._dice = random.Random()
        self._workers: dict[str, Worker] = {}
        self._order: list[str] = []
        self._behind: dict[str, float] = {}
        """Who takes no part any more for want of time, and what a round of it takes."""
        self._began = 0.0
        self._done = 0
        self._total = max(1, options.rounds * options.blocks * len(self.tallies))

    def go_on(self, earlier: EarlierRounds, keep: Keep) -> None:
        """Begin behind finished rounds of a benchmark that was ended; `keep` is told of others."""
        self._first, self._keep = earlier.rounds, keep
        self.tallies |= {
            label: tally for label, tally in earlier.tallies.items() if label in self.tallies
        }

    def run(self) -> None:
        """Run rounds until nobody needs more, as many as were asked for and the budget allows."""
        self._began = self._clock()
        last_s = 0.0
        finished = self._first
        for number in range(self._first, self._options.rounds):
            elapsed_s = self._elapsed_s()
            going_on = self._in_time(number, self._going_on(number))
            over = elapsed_s + last_s > self._options.budget_s
            if not going_on or (number >= FEWEST_ROUNDS and over):
                break
            self._round(number, going_on)
            self._keep(number, [label for label in going_on if self._took_part(label, number)])
            last_s = self._elapsed_s() - elapsed_s
            finished += 1
            self._foretell(finished)
        self._say_what_is_missing(finished)
        self._progress.step("bench", self._total, self._total, units.count(finished, "round"))

    def _took_part(self, label: str, number: int) -> bool:
        """Return whether a round has anything to tell of a subject: samples, or why there are none.

        What the time did not reach is not said of it.
        """
        tally = self.tallies[label]
        opened = bool(tally.launches) and tally.launches[-1].round == number
        return opened or (tally.failure is not None and tally.status != "no time")

    @property
    def parity(self) -> dict[str, ParityMark]:
        """Return what the judge said of each subject it was shown."""
        marks = {label: tally.parity for label, tally in self.tallies.items()}
        return {label: mark for label, mark in marks.items() if mark is not None}

    def _going_on(self, number: int) -> list[str]:
        """Return who takes part in a round: all at first, then those who need it."""
        needed = self._missing(self._taking_part()) if number >= SETTLED_ROUNDS else None
        return [label for label in self._sound() if needed is None or needed.get(label)]

    def _taking_part(self) -> dict[str, SubjectTally]:
        """Return the baseline, and the subjects that were not left behind."""
        return {
            label: one
            for label, one in self.tallies.items()
            if label not in self._behind or label == self._baseline
        }

    def _in_time(self, number: int, labels: list[str]) -> list[str]:
        """Return whose rounds up to a verdict end in time; the slowest are left behind first."""
        ends_s, rounds = self._options.ends_s, min(self._options.rounds, FEWEST_ROUNDS) - number
        if ends_s is None or not number or rounds <= 0:
            return [label for label in labels if label not in self._behind]
        left_s = ends_s - self._elapsed_s()
        baseline = self._baseline
        chosen = [label for label in labels if label not in self._behind]
        while chosen and self._ahead_s(chosen, rounds) > left_s:
            others = [label for label in chosen if label != baseline] or chosen
            slowest = max(others, key=lambda label: self.tallies[label].round_s)
            chosen.remove(slowest)
            self._behind[slowest] = self.tallies[slowest].round_s
        alone = chosen == [baseline] and len(labels) > 1
        return [] if alone else chosen

    def _ahead_s(self, labels: Sequence[str], rounds: int) -> float:
        """Return what further rounds of these take: one like the last, however cheap others are.

        What the first process compiled, most engines keep for the next; if one does not, that
        shows in the second, which the time is enough for.
        """
        tallies = [self.tallies[label] for label in labels]
        once_s = sum(tally.round_s for tally in tallies)
        return max(once_s, rounds * sum(tally.next_round_s for tally in tallies))

    def _needed_s(self, finished: int) -> float | None:
        """Return how long it would take until nobody needs more; None: so it is already.

        All take part until it is asked who needs more, and then only those who do.
        """
        needed = self._missing(self._taking_part())
        sound = [label for label in self._sound() if label in needed]
        most = max((needed[label] for label in sound), default=0)
        if most <= 0:
            return None
        together = min(most, max(0, SETTLED_ROUNDS - finished))
        ahead = {label: max(together, needed[label]) for label in sound}
        return self._elapsed_s() + sum(
            number * self.tallies[label].next_round_s for label, number in ahead.items()
        )

    def _foretell(self, finished: int) -> None:
        """Say as soon as it can be known that the budget is too short."""
        if finished != FEWEST_ROUNDS:
            return
        needed_s = self._needed_s(finished)
        if needed_s is not None and needed_s > self._options.budget_s:
            wanted = f"--budget {self._options.budget_for(needed_s)}s"
            told = f"noisy: {wanted} would be needed to see differences of"
            self._progress.step("machine", 1, 1, f"{told} {units.share(self._options.visible)}")

    def _say_what_is_missing(self, finished: int) -> None:
        left = {label: s for label, s in self._behind.items() if self.tallies[label].launches}
        for label, round_s in left.items() if finished > 1 else ():
            self.notes.append(
                f"{label} had {units.count(len(self.tallies[label].launches), 'round')}: one "
                f"takes {units.seconds(round_s)}, which {self._options.budget_named} does not allow"
            )
        needed_s = self._needed_s(finished) if self._sound() else None
        if needed_s is None or finished >= self._options.rounds:
            return
        ended = f"{self._options.budget_named} ended after {units.count(finished, 'round')}"
        seen = f"differences of {units.share(self._options.visible)}"
        longer = self._options.budget_for(needed_s)
        if longer > LONGEST_BUDGET_S:
            self.notes.append(
                f"{ended}; this machine is too busy to show {seen}: use a quieter one"
            )
        else:
            self.notes.append(f"{ended}; --budget {longer}s would show {seen}")

    def _elapsed_s(self) -> float:
        return self._clock() - self._began

    def _sound(self) -> list[str]:
        return [label for label, tally in self.tallies.items() if tally.failure is None]

    def _round(self, number: int, labels: list[str]) -> None:
        began_s = self._elapsed_s()
        # whoever goes on with a later round draws what would have been drawn
        self._dice.seed(f"{self._options.seed} {number}")
        try:
            self._start_all(labels)
            started_s = (self._elapsed_s() - began_s) / len(labels)
            for label in self._opening_order():
                if self._is_over(label):
                    self._leave_unopened(label)
                    continue
                self.tallies[label].round_s = started_s
                with self._failure_noted(label), self._counted(label):
                    self._open(number, label)
            opening_s = self._elapsed_s() - began_s
            cycles = self._affordable_cycles(number, opening_s)
            left = cycles * self._rounds_ahead(number) * len(self._workers)
            self._total = max(1, self._done + left)
            until_s = self._elapsed_s() + self._measuring_s(number, opening_s)
            for cycle in range(cycles):
                # calls may have become slower since they were warmed up
                late = self._elapsed_s() > until_s
                if cycle and (late or self._said_enough(number, cycle)):
                    break
                self._cycle(number, cycle)
            for label in list(self._workers):
                with self._failure_noted(label):
                    self._finish(label)
        finally:
            for label in list(self._workers):
                self._workers.pop(label).end()

    def _opening_order(self) -> list[str]:
        """Return who is opened when; where the time may end meanwhile, as they were named.

        The baseline goes first then: without it others say nothing.
        """
        if self._options.ends_s is None:
            return self._shuffled(list(self._workers))
        named = [label for label in self.tallies if label in self._workers]
        return sorted(named, key=lambda label: label != self._baseline)

    def _is_over(self, label: str) -> bool:
        """Return whether the time has ended before a subject is opened; the baseline always is."""
        ends_s = self._options.ends_s
        return ends_s is not None and label != self._baseline and self._elapsed_s() > ends_s

    def _leave_unopened(self, label: str) -> None:
        """Let a subject go for want of time; one that was never opened has a row that says so."""
        self._workers.pop(label).end()
        tally = self.tallies[label]
        self._behind[label] = tally.round_s
        if not tally.launches:
            tally.status = "no time"
            tally.failure = (
                f"{self._options.budget_named} ended before it was opened; the same command goes "
                "on with it"
            )

    def _start_all(self, asked: list[str]) -> None:
        """Start all processes side by side; go on when none of them works any more."""
        labels = self._shuffled(asked)
        for label in labels:
            self._workers[label] = self._start(label)
        for label in labels:
            with self._failure_noted(label):
                self._workers[label].ready()

    @contextmanager
    def _counted(self, label: str) -> Iterator[None]:
        """Add the time that this takes to what a round of a subject takes."""
        begun_s = self._elapsed_s()
        try:
            yield
        finally:
            self.tallies[label].round_s += self._elapsed_s() - begun_s

    @contextmanager
    def _failure_noted(self, label: str) -> Iterator[None]:
        try:
            yield
        except WorkerFailedError as error:
            self.tallies[label].failure = str(error)
            self.tallies[label].status = error.status
            self._workers.pop(label).end()

    def _open(self, number: int, label: str) -> None:
        self._note("opening", label)
        opened = self._workers[label].open()
        tally = self.tallies[label]
        tally.launches.append(_launch(number, opened))
        tally.placement = tally.placement or opened.placement
        tally.call_s, tally.rest_s = opened.call_s, opened.rest_s
        wanted = round(self._options.block_s / max(opened.call_s, 1e-9))
        tally.calls = min(max(wanted, 1), MOST_CALLS)

    def _rounds_ahead(self, number: int) -> int:
        """Return how many rounds to plan for: this one, and those up to the first look."""
        return max(1, min(self._options.rounds, SETTLED_ROUNDS) - number)

    def _affordable_cycles(self, number: int, opening_s: float) -> int:
        """Return how many cycles fit into a round's share of the budget: at least one.

        A round whose opening was slow has cycles for a quarter of that time in any case: they
        are what the opening was paid for.
        """
        cycle_s = sum(
            tally.calls * tally.call_s + settling_s(tally.call_s) + tally.rest_s
            for tally in map(self.tallies.__getitem__, self._workers)
        )
        affordable = int(self._measuring_s(number, opening_s) / max(cycle_s, 1e-9))
        return min(max(affordable, 1), self._options.blocks)

    def _measuring_s(self, number: int, opening_s: float) -> float:
        """Return how long the cycles of a round may take that was so long to open."""
        left_s = self._options.budget_s - self._elapsed_s() + opening_s
        share_s = left_s / self._rounds_ahead(number) - opening_s
        return max(share_s, opening_s / 4)

    def _cycle(self, number: int, cycle: int) -> None:
        there = list(self._workers)
        self._order = self._order[::-1] if cycle % 2 else self._shuffled(there)
        for position, label in enumerate(name for name in self._order if name in there):
            tally = self.tallies[label]
            settle_s = settling_s(tally.call_s)
            with self._failure_noted(label), self._counted(label):
                samples = self._workers[label].block(tally.calls, settle_s)
                tally.blocks.append(TimedBlock(number, cycle, position, samples))
            self._done += 1
            self._note(f"round {number + 1}", label)

    def _said_enough(self, number: int, cycle: int) -> bool:
        """Return whether a round can end early; an order and its reverse belong together."""
        if cycle % 2 or cycle < FEWEST_BLOCKS:
            return False
        levels = {label: block_levels(self.tallies[label].blocks, number)
                  for label in self._workers}  # fmt: skip
        return said_enough(levels, self._baseline, self._options.visible)

    def _finish(self, label: str) -> None:
        worker, tally = self._workers[label], self.tallies[label]
        peak = worker.peak_memory_bytes()
        tally.launches[-1] = replace(tally.launches[-1], peak_memory_bytes=peak)
        if self._judge is None or tally.placement is None or tally.is_wrong:
            return
        # of the first process two calls are looked at: buffers may be swapped at every other one
        calls = 1 if tally.judged else 2
        with self._counted(label):
            results = worker.outputs(tuple(tally.judged), calls)
        for key, arrays in results.items():
            tally.judged[key] = None
            tally.keep(self._judge(label, tally.placement, arrays))

    def _shuffled(self, labels: list[str]) -> list[str]:
        return self._dice.sample(labels, len(labels))

    def _note(self, doing: str, label: str) -> None:
        if self._done < self._total:
            self._progress.step("bench", self._done, self._total, f"{doing}: {label}")


def _launch(number: int, opened: WarmedUp) -> ProcessStart:
    return ProcessStart(
        round=number,
        load_s=opened.load_s,
        first_call_s=opened.first_call_s,
        warmup_calls=opened.warmup_calls,
        warmup_s=opened.warmup_s,
        converged=opened.converged,
        card_s=opened.card_s,
        card_memory_bytes=opened.card_memory_bytes,
    )
