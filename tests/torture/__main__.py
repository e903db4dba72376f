"""Run the whole attack and print one table; exit code 1 if anything got through."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torture import kills, proof, random_models, same, scoreboard
from torture.finding import Finding
from torture.scoreboard import Score

BAR = 0.95
"""The share of planted errors that must be found."""
QUICK_BUDGET_S = 8.0
QUICK_COMMANDS = ("optimize", "inputs-folder", "graph", "bench")
COUNTED = {
    "traceback": "tracebacks",
    "hang": "hangs",
    "crash": "crashes",
    "lost": "lost",
    "orphan": "orphans",
    "litter": "litter",
}
"""The kinds of findings that have a column; all others stand under `other`."""


@dataclass(frozen=True)
class Amounts:
    """How much of everything."""

    mutants: int = 2000
    folders: int = 300
    kills: int = 50
    same: int = 100
    random: int = 500
    cases: int | None = None
    """None: all of them."""
    budget_s: float | None = None
    commands: Sequence[str] = ()
    """Those to kill; empty: all that write."""
    zoo: bool = True


QUICK = Amounts(mutants=60, folders=12, kills=4, same=8, random=10, cases=24,
                budget_s=QUICK_BUDGET_S, commands=QUICK_COMMANDS, zoo=False)  # fmt: skip


@dataclass
class Tally:
    """What one attack came to."""

    attack: str
    runs: int
    seconds: float
    kinds: Counter[str] = field(default_factory=Counter)

    def row(self) -> str:
        """Return its line of the table."""
        known = [self.kinds[kind] for kind in COUNTED]
        other = self.kinds.total() - sum(known)
        numbers = "".join(f"{number:>11}" for number in (self.runs, *known, other))
        return f"{self.attack:<10}{numbers}{self.seconds:>9.0f} s"


def main(argv: Sequence[str] | None = None) -> int:
    """Attack, print the table, and return 1 if anything got through."""
    asked = _parser().parse_args(argv)
    amounts = QUICK if asked.quick else Amounts()
    start = time.monotonic()
    score = _asked(amounts, asked.seed, asked.jobs)
    tallies = [
        Tally("verify", len(score.answers), time.monotonic() - start, _broken(score)),
        _timed("proofs", len(score.answers), lambda _count: proof.run(
            scoreboard.CASES[each.name] for each in score.answers)),
        _timed("same", amounts.same, lambda count: same.run(
            count, asked.seed, jobs=asked.jobs, zoo=amounts.zoo)),
        _timed("random", amounts.random, lambda count: random_models.run(count, asked.seed)),
        _timed("kills", amounts.kills, lambda count: kills.run(
            count, asked.seed, only=amounts.commands)),
        *_others(amounts, asked.seed),
    ]  # fmt: skip
    for line in (*scoreboard.summary(score), "", *_table(tallies)):
        print(line)
    return int(_got_through(score, tallies))


def _asked(amounts: Amounts, seed: int, jobs: int) -> Score:
    names = scoreboard.chosen(sample=amounts.cases, seed=seed)
    return scoreboard.asked_about(names, budget_s=amounts.budget_s, jobs=jobs)


def _broken(score: Score) -> Counter[str]:
    kinds = {"crashed": "crash", "hung": "hang", "error": "traceback"}
    return Counter(kinds[each.said] for each in score.answers if each.said in kinds)


def _timed(attack: str, count: int, run: Callable[[int], list[Finding] | int]) -> Tally:
    """Return what an attack came to; one that only tells how many findings it has says which."""
    start = time.monotonic()
    found = run(count)
    kinds = Counter(other=found) if isinstance(found, int) else Counter(f.kind for f in found)
    return Tally(attack, count, time.monotonic() - start, kinds)


def _others(amounts: Amounts, seed: int) -> list[Tally]:
    """Run the attacks that have files of their own, as far as these are here."""
    tallies = []
    for attack, count in (("mutants", amounts.mutants), ("folders", amounts.folders)):
        try:
            module = importlib.import_module(f"torture.{attack}")
        except ModuleNotFoundError:
            print(f"{attack}: tests/torture/{attack}.py is not here")
            continue
        tallies.append(_timed(attack, count, lambda wanted, of=module: of.main(wanted, seed)))
    return tallies


def _table(tallies: Sequence[Tally]) -> list[str]:
    columns = "".join(f"{name:>11}" for name in ("runs", *COUNTED.values(), "other"))
    return [f"{'attack':<10}{columns}{'time':>11}", *(tally.row() for tally in tallies)]


def _got_through(score: Score, tallies: Sequence[Tally]) -> bool:
    findings = sum(tally.kinds.total() for tally in tallies)
    return score.found < BAR or score.wrongly_called > 0 or findings > 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="another seed attacks elsewhere")
    parser.add_argument("--quick", action="store_true", help="a sample of each, in minutes")
    parser.add_argument("--jobs", type=int, default=2, help="questions asked at a time")
    return parser


if __name__ == "__main__":
    sys.exit(main())
