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
from typing import IO, Self

import onnx

from torture.case import Case
from torture.plants import BLANKS, PLANTS
from torture.running import installed
from torture.traps import TRAPS

CASES: dict[str, Case] = {case.name: case for case in (*PLANTS, *BLANKS, *TRAPS)}
HANG_S = 300.0
"""How long one question may take before it counts as a hang."""

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Answer:
    """What verify said of a case."""

    name: str
    said: str
    """`equal`, `differs`, `not shown`, `skipped`, `error`, `crashed` or `hung`."""
    why: str
    seconds: float

    @property
    def right(self) -> bool:
        """Return whether that is what had to be said."""
        return self.said in (CASES[self.name].expected, "skipped")


def answers(
    names: Sequence[str],
    *,
    budget_s: float | None = None,
    jobs: int = 1,
    told: Callable[[Answer], None] = lambda _answer: None,
) -> list[Answer]:
    """Return what is said of each case, in order; `told` hears each as it comes."""
    waiting: queue.Queue[str] = queue.Queue()
    for name in names:
        waiting.put(name)
    found: dict[str, Answer] = {}
    lock = threading.Lock()

    def work() -> None:
        with _Child(budget_s) as child:
            while True:
                try:
                    name = waiting.get_nowait()
                except queue.Empty:
                    return
                answer = child.ask(name)
                with lock:
                    found[name] = answer
                    told(answer)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[name] for name in names]


class _Child:
    """A process that answers one question after the other; a new one where it ends."""

    def __init__(self, budget_s: float | None) -> None:
        self._budget_s = budget_s
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def ask(self, name: str) -> Answer:
        """Return what is said of one case."""
        missing = [package for package in CASES[name].needs if not installed(package)]
        if missing:
            return Answer(name, "skipped", f"{missing[0]} is not installed", 0.0)
        process = self._started()
        assert process.stdin is not None
        start = time.monotonic()
        alarm = threading.Timer(HANG_S, process.kill)
        alarm.start()
        try:
            process.stdin.write(f"{name}\n")
            process.stdin.flush()
            line = _line(process.stdout)
        except BrokenPipeError:
            line = ""
        finally:
            alarm.cancel()
        seconds = time.monotonic() - start
        if not line:
            self._end()
            said = "hung" if seconds >= HANG_S else "crashed"
            return Answer(name, said, f"the process ended with {process.returncode}", seconds)
        return Answer(name, *json.loads(line), seconds)

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            words = [sys.executable, "-m", "tests.torture.judging"]
            if self._budget_s is not None:
                words.append(str(self._budget_s))
            self._process = subprocess.Popen(
                words, cwd=_ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "2"},
            )  # fmt: skip
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _line(stream: IO[str] | None) -> str:
    return "" if stream is None else stream.readline()


def judged(case: Case, budget_s: float | None = None) -> tuple[str, str]:
    """Return what verify says of a case with its defaults, and its sentence."""
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "reference.onnx", Path(folder) / "candidate.onnx"
        onnx.save(case.reference(), paths[0])
        if case.engine:
            return compared(paths[0], None, budget_s=budget_s, engine=case.engine)
        onnx.save(case.candidate(), paths[1])
        return compared(*paths, budget_s=budget_s)


def compared(
    reference: Path, candidate: Path | None, *, budget_s: float | None = None, **asked: object
) -> tuple[str, str]:
    """Return `equal`, `differs`, `not shown` or `error`, and the sentence, for two files."""
    from burnish.core.errors import BurnishError
    from burnish.parity.request import VerifyRequest, answer
    from burnish.parity.verdict import verdict
    from burnish.store.layout import stored

    fields = {each.name for each in dataclasses.fields(VerifyRequest)}
    if budget_s is not None and "budget_s" in fields:
        asked["budget_s"] = budget_s
    try:
        request = VerifyRequest(stored(reference), candidate and stored(candidate), **asked)  # type: ignore[arg-type]
        report = answer(request)
    except BurnishError as error:
        return "error", error.problem
    sentence = verdict(report)
    if report.passed:
        return "equal", sentence
    return ("not shown" if "not shown" in sentence else "differs"), sentence


def _serve() -> None:
    """Answer the names on stdin, one line of JSON each; whatever else prints goes to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    budget_s = float(sys.argv[1]) if len(sys.argv) > 1 else None
    for line in sys.stdin:
        try:
            said = judged(CASES[line.strip()], budget_s)
        except Exception as error:
            # a traceback in verify is one of the things looked for
            said = ("error", f"{type(error).__name__}: {error}")
        out.write(json.dumps(said) + "\n")
        out.flush()


if __name__ == "__main__":
    _serve()
