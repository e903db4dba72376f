"""Time all candidates of a bundle on the card here.

python -m burnish.cuda.time_bundle BUNDLE -o timings.json
"""

from __future__ import annotations

import argparse
import datetime as dt
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from burnish.core.closing import Closing
from burnish.core.errors import BurnishError, MissingCapabilityError
from burnish.cuda import bundle as bundles
from burnish.cuda import bundle_worker, timings
from burnish.cuda.bundle import PreparedGroup
from burnish.cuda.bundle_worker import BundleOpening, CandidateTime, Tried, Which
from burnish.cuda.driver import Device
from burnish.cuda.kernel import runs_on
from burnish.cuda.timings import CandidateTiming, GroupTimings, TimingConditions, Timings
from burnish.process.child import Child, ChildEndedError, ChildRefusedError, ProcessLimits
from burnish.timing.race import RaceRules, race
from burnish.version import __version__

NVIDIA = "burnish.cuda.nvidia:NvidiaDriver"

_ENTRY = f"{bundle_worker.__name__}:{bundle_worker.BundleWorker.__name__}"


@dataclass(frozen=True, slots=True)
class TimingRules:
    """How long to time, and when to give up."""

    rounds: int = 5
    runs: int = 5
    """Per round: one graph each."""
    behind: float = 1.5
    """A candidate that takes this many times as long as the fastest is not timed again."""
    limit_s: float = 60.0
    """What takes longer hangs."""


@dataclass(frozen=True, slots=True)
class TimingRequest:
    """What is to be timed."""

    path: Path
    driver: str = NVIDIA
    rules: TimingRules = TimingRules()


def time_bundle(asked: TimingRequest, tell: Callable[[str], None] = lambda _line: None) -> Timings:
    """Return how long every candidate of a bundle takes here, or why there is no time."""
    bundle = bundles.read(asked.path).bundle
    with _Bench(asked) as bench:
        device = bench.device
        if not runs_on(bundle.architecture, device.capability):
            raise MissingCapabilityError(
                f"{asked.path}: its kernels are for {bundle.architecture}, and this card is"
                f" {device.name} ({device.architecture})",
                hint=f"make the bundle for {device.architecture}",
            )
        groups = []
        for number, group in enumerate(bundle.groups):
            groups.append(_timed_group(bench, number, group, asked.rules))
            tell(_line(groups[-1], number + 1, len(bundle.groups)))
    return Timings(
        conditions=TimingConditions(
            device=device.name,
            architecture=device.architecture,
            driver=".".join(map(str, device.driver)),
            triton=bundle.triton,
            generator=bundle.generator,
        ),
        groups=tuple(groups),
        date=dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions={"burnish": __version__},
    )


_A = TypeVar("_A", Tried, CandidateTime)


class _Bench(Closing):
    """A process with the card, started again when a candidate ends it."""

    def __init__(self, asked: TimingRequest) -> None:
        self._asked = asked
        self._child: Child | None = None
        self._alive: set[Which] = set()
        self.device: Device = self._opened()

    def try_once(self, which: Which) -> Tried:
        """Run a candidate once; it is kept on the card if it is right."""
        self._opened()
        try:
            found = self._ask("try_once", which, Tried)
        except _LostError as error:
            return Tried(str(error))
        if not found.failure:
            self._alive.add(which)
        return found

    def time(self, which: Which, runs: int) -> tuple[float, ...] | str:
        """Return how long runs take of a candidate that was right, or why that is not known."""
        self._opened()
        place = Which(which.group, which.candidate)
        if place not in self._alive:  # it was on the card when another one ended the process
            again = self.try_once(place)
            if again.failure:
                return again.failure
        try:
            return self._ask(
                "time", Which(which.group, which.candidate, runs), CandidateTime
            ).samples_s
        except _LostError as error:
            return str(error)

    def _ask(self, method: str, which: Which, answer: type[_A]) -> _A:
        assert self._child is not None
        try:
            return self._child.ask(method, which, answer)
        except (ChildRefusedError, ChildEndedError) as error:
            # after an error the card itself may be in no state to go on in this process
            self.close()
            how = error.how if isinstance(error, ChildEndedError) else str(error)
            raise _LostError(how) from error
        except BurnishError as error:
            self.close()
            raise _LostError(error.problem) from error

    def _opened(self) -> Device:
        if self._child is None:
            limits = ProcessLimits(answer_s=self._asked.rules.limit_s)
            self._child = Child(_ENTRY, limits)
            opening = BundleOpening(self._asked.path.absolute(), self._asked.driver)
            self.device = self._child.ask("open", opening, Device)
        return self.device

    def close(self) -> None:
        """End the process."""
        self._alive.clear()
        if self._child is not None:
            self._child.end()
            self._child = None


class _LostError(Exception):
    """The process was lost to a candidate."""


def _timed_group(
    bench: _Bench, number: int, group: PreparedGroup, rules: TimingRules
) -> GroupTimings:
    """Return how long each candidate of a group takes, in rounds of all of them."""
    failures = {n: each.reason for n, each in enumerate(group.candidates) if each.table is None}
    for n in range(len(group.candidates)):
        if n not in failures:
            failures.update({n: why} if (why := bench.try_once(Which(number, n)).failure) else {})

    def timed(n: int) -> float | None:
        found = bench.time(Which(number, n), rules.runs)
        if isinstance(found, str):
            failures[n] = found
            return None
        return statistics.median(found)

    running = [n for n in range(len(group.candidates)) if n not in failures]
    samples = race(running, timed, RaceRules(rules.rounds, rules.behind, rules.behind))
    return GroupTimings(
        group.signature,
        tuple(
            CandidateTiming(each.label, tuple(samples.get(n, ())), failures.get(n, ""))
            for n, each in enumerate(group.candidates)
        ),
    )


def _line(group: GroupTimings, number: int, total: int) -> str:
    best = group.best
    failed = sum(bool(each.failure) for each in group.timings)
    what = f"{1e6 * (best.seconds or 0):.1f} us" if best else "none worked"
    return (
        f"{number}/{total} {group.signature[:16]}: {what}, {failed} of {len(group.timings)} failed"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Time a bundle; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m burnish.cuda.time_bundle")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("timings.json"))
    parser.add_argument("--driver", default=NVIDIA, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=TimingRules().rounds)
    asked = parser.parse_args(words)
    try:
        rules = TimingRules(rounds=asked.rounds)
        found = time_bundle(TimingRequest(asked.bundle, asked.driver, rules), _say)
        timings.write(asked.output, found)
    except BurnishError as error:
        _say(f"error: {error.problem}\nhint: {error.hint}")
        return error.exit_code
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
