"""Ask the default `burnish verify` about cases, in children that may crash or hang."""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import onnx

from torture.case import Case
from torture.plants import BLANKS, PLANTS
from torture.running import installed
from torture.traps import TRAPS

if TYPE_CHECKING:
    from burnish.parity.request import VerifyRequest

CASES: dict[str, Case] = {case.name: case for case in (*PLANTS, *BLANKS, *TRAPS)}
HANG_S = 300.0
"""How long one question may take before it counts as a hang."""

_ROOT = Path(__file__).parents[2]


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
    *,
    jobs: int = 1,
    told: Callable[[Answer], None] = lambda _answer: None,
) -> list[Answer]:
    """Return what is said, in order; `told` hears each as it comes."""
    waiting: queue.Queue[tuple[int, Question]] = queue.Queue()
    for numbered in enumerate(questions):
        waiting.put(numbered)
    found: dict[int, Answer] = {}
    lock = threading.Lock()

    def work() -> None:
        with _Child() as child:
            while True:
                try:
                    number, question = waiting.get_nowait()
                except queue.Empty:
                    return
                answer = child.ask(question)
                with lock:
                    found[number] = answer
                    told(answer)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[number] for number in range(len(questions))]


class _Child:
    """A process that answers one question after the other; a new one where it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def ask(self, question: Question) -> Answer:
        """Return what is said of one question."""
        needs = () if question.reference else CASES[question.name].needs
        missing = [package for package in needs if not installed(package)]
        if missing:
            return Answer(question.name, "skipped", f"{missing[0]} is not installed", 0.0)
        process = self._started()
        start = time.monotonic()
        alarm = threading.Timer(HANG_S, process.kill)
        alarm.start()
        try:
            line = _exchange(process, json.dumps(dataclasses.asdict(question)))
        finally:
            alarm.cancel()
        seconds = time.monotonic() - start
        if line:
            return Answer(question.name, *json.loads(line), seconds)
        self._end()
        said = "hung" if seconds >= HANG_S else "crashed"
        return Answer(question.name, said, f"the process ended: {process.returncode}", seconds)

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.torture.judging"], cwd=_ROOT, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                # engines run in processes of their own, which must find the doctored ones
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _exchange(process: subprocess.Popen[str], line: str) -> str:
    """Send a line and return the answer; empty: the process has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return process.stdout.readline()
    except BrokenPipeError:
        return ""


def judged(question: Question) -> tuple[str, str]:
    """Return what verify says with its defaults, and its sentence."""
    if question.reference:
        return _compared(question, Path(question.reference), question.candidate)
    case = CASES[question.name]
    with tempfile.TemporaryDirectory() as folder:
        reference, candidate = Path(folder) / "reference.onnx", Path(folder) / "candidate.onnx"
        onnx.save(case.reference(), reference)
        if case.engine:
            asked = dataclasses.replace(question, engine=case.engine)
            return _compared(asked, reference, "")
        onnx.save(case.candidate(), candidate)
        return _compared(question, reference, str(candidate))


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


def _serve() -> None:
    """Answer the questions on stdin, one line of JSON each; what else is printed goes to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            said = judged(Question(**json.loads(line)))
        except Exception as error:
            # a traceback in verify is one of the things looked for
            said = ("error", f"{type(error).__name__}: {error}")
        out.write(json.dumps(said) + "\n")
        out.flush()


if __name__ == "__main__":
    _serve()
