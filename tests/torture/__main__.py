"""Run the whole attack and print one table; exit code 1 if anything got through."""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from torture import (
    folders,
    kills,
    mutants,
    proof,
    random_cards,
    random_models,
    same,
    scoreboard,
)
from torture.finding import Finding
from torture.hands import Hands
from torture.running import installed
from torture.scoreboard import Score
from torture.writing import MODEL

BAR = 0.95
"""The share of planted errors that must be found."""
QUICK_BUDGET_S = 8.0
QUICK_COMMANDS = ("optimize", "inputs-folder", "bench")
"""One that writes a file, one that writes a folder, one that has children."""
COUNTED = {
    "traceback": "tracebacks",
    "hang": "hangs",
    "crash": "crashes",
    "lost": "lost",
    "orphan": "orphans",
    "litter": "litter",
}
"""The kinds of findings that have a column; all others stand under `other`."""
_PACKAGES = ("onnx", "onnxruntime", "numpy", "llvmlite", "torch", "triton", "transformers",
             "openvino", "onnxsim", "onnxslim")  # fmt: skip
_TOOLS = ("gcc", "mount")


@dataclass(frozen=True)
class Amounts:
    """How much of everything."""

    mutants: int = 2000
    folders: int = 300
    kills: int = 50
    same: int = 100
    random: int = 500
    cards: int = 300
    cases: int | None = None
    """None: all of them."""
    budget_s: float | None = None
    commands: Sequence[str] = ()
    """Those to kill; empty: all that write."""
    zoo: bool = True


QUICK = Amounts(mutants=24, folders=12, kills=3, same=5, random=6, cards=10, cases=24,
                budget_s=QUICK_BUDGET_S, commands=QUICK_COMMANDS, zoo=False)  # fmt: skip
"""Every kind of piece, and every command, a few times: `make test` has other tests to run."""


@dataclass
class Tally:
    """What one attack came to."""

    attack: str
    runs: int
    seconds: float
    kinds: Counter[str] = field(default_factory=Counter)
    left: int = 0
    """Pieces of its work for which there was no time: so much of `runs` was not done."""

    def row(self) -> str:
        """Return its line of the table."""
        known = [self.kinds[kind] for kind in COUNTED]
        other = self.kinds.total() - sum(known)
        numbers = "".join(f"{number:>11}" for number in (self.runs, self.left, *known, other))
        return f"{self.attack:<10}{numbers}{self.seconds:>9.0f} s"


@dataclass
class Attacks:
    """All attacks on one tree, which share the hands that do them."""

    amounts: Amounts
    seed: int
    hands: Hands
    score: Score = field(default_factory=lambda: Score(()))

    def verify(self) -> tuple[int, list[Finding]]:
        """Ask verify about the cases."""
        self.score = scoreboard.asked_about(
            self._cases(), self.hands, budget_s=self.amounts.budget_s
        )
        kinds = {"crashed": "crash", "hung": "hang", "error": "traceback"}
        told = [each for each in self.score.answers if each.said in kinds]
        return len(self.score.answers), [Finding(kinds[a.said], a.name, a.why) for a in told]

    def proofs(self) -> tuple[int, list[Finding]]:
        """Prove the cases themselves."""
        return len(names := self._cases()), proof.run(names, self.hands)

    def same(self) -> tuple[int, list[Finding]]:
        """Compare models with themselves."""
        count = self.amounts.same
        return count, same.run(count, self.seed, self.hands, zoo=self.amounts.zoo)

    def random(self) -> tuple[int, list[Finding]]:
        """Rewrite and compile random models."""
        return (count := self.amounts.random), random_models.run(count, self.seed, self.hands)

    def cards(self) -> tuple[int, list[Finding]]:
        """Compile random models for a card, and run their kernels in Triton's interpreter."""
        if not (installed("triton") and installed("torch")):
            return 0, []  # the first lines of the attack say that it is not here
        return (count := self.amounts.cards), random_cards.run(count, self.seed, self.hands)

    def kills(self) -> tuple[int, list[Finding]]:
        """Kill writing commands."""
        count = self.amounts.kills
        return count, kills.run(count, self.seed, self.hands, only=self.amounts.commands)

    def mutants(self) -> tuple[int, list[Finding]]:
        """Feed damaged files."""
        count = self.amounts.mutants
        return count, mutants.main(count, self.seed, self.hands).findings

    def folders(self) -> tuple[int, list[Finding]]:
        """Load damaged folders."""
        return (count := self.amounts.folders), folders.main(count, self.seed, self.hands)

    def _cases(self) -> list[str]:
        return scoreboard.chosen(sample=self.amounts.cases, seed=self.seed)


ATTACKS: dict[str, Callable[[Attacks], tuple[int, list[Finding]]]] = {
    "kills": Attacks.kills,  # its pieces are the longest
    "same": Attacks.same,
    "verify": Attacks.verify,
    "mutants": Attacks.mutants,
    "random": Attacks.random,
    "cards": Attacks.cards,
    "folders": Attacks.folders,
    "proofs": Attacks.proofs,
}
"""In the order in which their work is handed out: all at once, so that no hand has to wait."""


def main(argv: Sequence[str] | None = None) -> int:
    """Attack, print the table, and return 1 if anything got through."""
    asked = _parser().parse_args(argv)
    start = time.monotonic()
    for line in surroundings():
        print(line, flush=True)
    if problem := unable():
        print(f"nothing is attacked, because burnish does not run here: {problem}")
        return 2
    with Hands(asked.jobs, limit_s=asked.limit) as hands, ThreadPoolExecutor(len(ATTACKS)) as pool:
        amounts = QUICK if asked.quick else Amounts()
        attacks = {
            name: Attacks(amounts, asked.seed, hands.apart())
            for name in ATTACKS
            if name in asked.only
        }
        begun = [pool.submit(_timed, name, each) for name, each in attacks.items()]
        tallies = [each.result() for each in begun]
    score = attacks["verify"].score if "verify" in attacks else Score(())
    told = scoreboard.summary(score) if score.answers else []
    for line in (*told, "", *_table(tallies)):
        print(line)
    print(f"{time.monotonic() - start:.0f} s in all, {asked.jobs} at a time")
    left = sum(tally.left for tally in tallies)
    if left:
        print(f"NOT DONE: {left:,} pieces of work, for which there was no time")
    return int(left > 0 or _got_through(score, tallies))


def surroundings() -> list[str]:
    """Return lines on what is here, and on what is not, which is then not attacked."""
    there = {name: _version(name) for name in _PACKAGES}
    missing = [name for name, version in there.items() if not version]
    missing += [tool for tool in _TOOLS if shutil.which(tool) is None]
    found = (f"{name} {version}" for name, version in there.items() if version)
    lines = [f"Python {platform.python_version()}, {', '.join(found)}"]
    return [*lines, f"not here: {', '.join(missing)}"] if missing else lines


def unable(command: Sequence[str] = (*kills.BURNISH, "-q", "inputs", str(MODEL))) -> str:
    """Return why a sound command fails: then all would seem to get through; empty: it works."""
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        words = [*command, "-o", f"{folder}/x.npz"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    told = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
    return told[-1] if done.returncode else ""


@functools.cache
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _timed(name: str, attacks: Attacks) -> Tally:
    start = time.monotonic()
    runs, found = ATTACKS[name](attacks)
    kinds = Counter(each.kind for each in found)
    return Tally(name, runs, time.monotonic() - start, kinds, attacks.hands.left)


def _table(tallies: Sequence[Tally]) -> list[str]:
    columns = "".join(f"{name:>11}" for name in ("runs", "left", *COUNTED.values(), "other"))
    return [f"{'attack':<10}{columns}{'done at':>11}", *(tally.row() for tally in tallies)]


def _got_through(score: Score, tallies: Sequence[Tally]) -> bool:
    findings = sum(tally.kinds.total() for tally in tallies)
    missed = bool(score.answers) and score.found < BAR
    return missed or score.wrongly_called > 0 or findings > 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="another seed attacks elsewhere")
    parser.add_argument("--quick", action="store_true", help="a sample of each, in minutes")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="pieces done at a time; as many as there are cores")  # fmt: skip
    parser.add_argument("--limit", type=float, default=math.inf, metavar="SECONDS",
                        help="begin nothing after so long, and say what was left")  # fmt: skip
    parser.add_argument("--only", type=_named, default=tuple(ATTACKS), metavar="ATTACK,…",
                        help=f"some of {', '.join(ATTACKS)}")  # fmt: skip
    return parser


def _named(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := [name for name in names if name not in ATTACKS]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(ATTACKS)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
