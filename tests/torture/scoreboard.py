"""Print what the default `burnish verify` says of every planted error and every trap."""

from __future__ import annotations

import argparse
import fnmatch
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torture.hands import Hands
from torture.judging import CASES, Answer, Question, answers

_WORDS = {
    ("differs", "differs"): "found",
    ("differs", "equal"): "MISSED",
    ("equal", "equal"): "equal",
    ("equal", "differs"): "WRONGLY DIFFERENT",
    ("not shown", "not shown"): "not shown",
    ("not shown", "equal"): "WRONGLY EQUAL",
    ("not shown", "differs"): "WRONGLY DIFFERENT",
}
"""What is printed for (what had to be said, what was said); anything else is printed as said."""


@dataclass(frozen=True)
class Score:
    """What came of all cases."""

    answers: tuple[Answer, ...]

    def of(self, expected: str, *said: str) -> int:
        """Return how many cases with this expectation were answered so; all without a word."""
        return sum(
            CASES[each.name].expected == expected and (not said or each.said in said)
            for each in self.answers
            if each.said != "skipped"
        )

    @property
    def found(self) -> float:
        """Return the share of planted errors that was found."""
        return self.of("differs", "differs") / max(self.of("differs"), 1)

    @property
    def wrongly_called(self) -> int:
        """Return how many right rewrites were called different, or blanks anything but blank."""
        blanks = self.of("not shown") - self.of("not shown", "not shown")
        return self.of("equal", "differs") + blanks

    @property
    def broken(self) -> int:
        """Return how many questions had no answer: errors, crashes, hangs."""
        return sum(each.said in ("error", "crashed", "hung") for each in self.answers)


def main(argv: Sequence[str] | None = None) -> int:
    """Ask about the chosen cases, print the table, and return 1 if the bar is not met."""
    asked = _parser().parse_args(argv)
    names = chosen(asked.cases, asked.sample, asked.seed)
    with Hands(asked.jobs) as hands:
        score = asked_about(names, hands, budget_s=asked.budget)
    for line in summary(score):
        print(line)
    if asked.json:
        rows = [{**vars(each), "expected": CASES[each.name].expected} for each in score.answers]
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")
    return int(score.found < 0.95 or score.wrongly_called > 0 or score.broken > 0)


def asked_about(names: Sequence[str], hands: Hands, *, budget_s: float | None = None) -> Score:
    """Return what was said, printing each row as it comes."""
    questions = [Question(name, budget_s=budget_s) for name in names]
    said = answers(questions, hands, told=lambda answer: print(row(answer), flush=True))
    return Score(tuple(said))


def chosen(pattern: str = "*", sample: int | None = None, seed: int = 0) -> list[str]:
    """Return the names that fit, or as many of them as asked for, in the order of the table."""
    names = [name for name in CASES if fnmatch.fnmatch(name, pattern)]
    if sample is None or sample >= len(names):
        return names
    drawn = set(random.Random(seed).sample(names, sample))
    return [name for name in names if name in drawn]


def row(answer: Answer) -> str:
    """Return one line of the table."""
    case = CASES[answer.name]
    word = _WORDS.get((case.expected, answer.said), answer.said)
    why = case.what if answer.right else answer.why
    return f"{answer.name:<58} {word:<18} {answer.seconds:6.1f} s  {why[:100]}"


def summary(score: Score) -> list[str]:
    """Return the totals, by family and over all."""
    lines = ["", f"{'family':<12} {'right':>6} {'of':>5} {'seconds':>9}"]
    families = dict.fromkeys(CASES[each.name].family for each in score.answers)
    for family in families:
        those = [a for a in score.answers if CASES[a.name].family == family and a.said != "skipped"]
        seconds = sum(each.seconds for each in those)
        lines.append(
            f"{family:<12} {sum(a.right for a in those):>6} {len(those):>5} {seconds:>9.1f}"
        )
    slowest = max((each.seconds for each in score.answers), default=0.0)
    skipped = sum(each.said == "skipped" for each in score.answers)
    planted = _counts(score, "differs", differs="found", equal="missed", **_NOT_SHOWN)
    traps = _counts(score, "equal", equal="equal", differs="wrongly different", **_NOT_SHOWN)
    blanks = _counts(score, "not shown", **_NOT_SHOWN, equal="wrongly equal", differs="different")
    return [
        *lines,
        "",
        f"planted errors: {planted} ({score.found:.1%} found)",
        f"traps: {traps}",
        f"blanks: {blanks}",
        f"without an answer: {score.broken}; skipped: {skipped}; slowest: {slowest:.1f} s",
    ]


_NOT_SHOWN = {"not shown": "not shown"}


def _counts(score: Score, expected: str, **words: str) -> str:
    """Return how often each was said of the cases with one expectation."""
    counts = [f"{score.of(expected, said)} {word}" for said, word in words.items()]
    return f"{', '.join(counts)} of {score.of(expected)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.torture.scoreboard", description=__doc__)
    parser.add_argument("--cases", default="*", help="only those whose name fits, as masks/*")
    parser.add_argument("--sample", type=int, help="only so many of them, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, help="seconds that verify may spend on each")
    parser.add_argument("--jobs", type=int, default=1, help="how many to ask at a time")
    parser.add_argument("--json", type=Path, help="write the answers into this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
