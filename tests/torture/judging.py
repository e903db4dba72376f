"""Ask the default `burnish verify` about cases, by hands that may crash or hang."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx

from torture.case import Case
from torture.hands import Hands, Outcome
from torture.plants import BLANKS, PLANTS
from torture.running import installed
from torture.traps import TRAPS

if TYPE_CHECKING:
    from burnish.parity.request import VerifyRequest

CASES: dict[str, Case] = {case.name: case for case in (*PLANTS, *BLANKS, *TRAPS)}
HANG_S = 300.0
"""How long one question may take before it counts as a hang."""


@dataclass(frozen=True)
class Question:
    """Two files, or one file on another engine, or a case by its name."""

    name: str
    reference: str = ""
    """Empty: `name` is a case."""
    candidate: str = ""
    """Empty: the reference itself, run otherwise."""
    engine: str = ""
    threads: int | None = None
    level: str = "all"
    budget_s: float | None = None


@dataclass(frozen=True)
class Answer:
    """What verify said."""

    name: str
    said: str
    """`equal`, `differs`, `not shown`, `skipped`, `error`, `crashed` or `hung`."""
    why: str
    seconds: float

    @property
    def right(self) -> bool:
        """Return whether that is what had to be said of the case."""
        return self.said in (CASES[self.name].expected, "skipped")


def answers(
    questions: Sequence[Question],
    hands: Hands,
    *,
    told: Callable[[Answer], None] = lambda _answer: None,
) -> list[Answer]:
    """Return what is said, in order; `told` hears each as it comes."""
    outcomes = hands.spread(
        judged,
        [(question,) for question in questions],
        limit_s=HANG_S,
        told=lambda outcome: told(_answer(outcome)),
    )
    return [_answer(outcome) for outcome in outcomes]


def _answer(outcome: Outcome[tuple[str, str]]) -> Answer:
    said = {"raised": "error", "crash": "crashed", "hang": "hung"}
    told = outcome.result or (said[outcome.ending], outcome.what)
    return Answer(outcome.arguments[0].name, *told, outcome.seconds)


def judged(question: Question) -> tuple[str, str]:
    """Return what verify says with its defaults, and its sentence."""
    if question.reference:
        return _compared(question, Path(question.reference), question.candidate)
    case = CASES[question.name]
    if missing := [package for package in case.needs if not installed(package)]:
        return "skipped", f"{missing[0]} is not installed"
    with tempfile.TemporaryDirectory() as folder:
        reference, candidate = Path(folder) / "reference.onnx", Path(folder) / "candidate.onnx"
        onnx.save(case.reference(), reference)
        if case.engine:
            asked = dataclasses.replace(question, engine=case.engine)
            with _known_to_children():
                return _compared(asked, reference, "")
        onnx.save(case.candidate(), candidate)
        return _compared(question, reference, str(candidate))


@contextlib.contextmanager
def _known_to_children() -> Iterator[None]:
    """Let engines, which run in processes of their own, find the doctored ones."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        yield
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _compared(question: Question, reference: Path, candidate: str) -> tuple[str, str]:
    from burnish.core.errors import BurnishError
    from burnish.parity.request import answer
    from burnish.parity.verdict import verdict

    try:
        report = answer(_request(question, reference, candidate))
    except BurnishError as error:
        return "error", error.problem
    sentence = verdict(report)
    return report.outcome, sentence


def _request(question: Question, reference: Path, candidate: str) -> VerifyRequest:
    """Return the request that `burnish verify` makes of these, all else at its default."""
    from burnish.engines.base import EngineOptions
    from burnish.parity.request import VerifyRequest
    from burnish.store.layout import stored

    asked: dict[str, Any] = {"options": EngineOptions(question.threads, question.level)}
    if question.engine:
        asked["engine"] = question.engine
    known = {each.name for each in dataclasses.fields(VerifyRequest)}
    if question.budget_s is not None and "budget_s" in known:
        asked["budget_s"] = question.budget_s
    other = stored(Path(candidate)) if candidate else None
    return VerifyRequest(stored(reference), other, **asked)
