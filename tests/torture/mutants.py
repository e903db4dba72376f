"""Run every reading command on mutants; count tracebacks, hangs, crashes and litter."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from burnish.core.held import free
from torture import commands, mutate_models, mutate_traces
from torture.commands import Command
from torture.finding import Finding, Progress
from torture.hands import Hands, Outcome
from torture.mutate_models import Mutant

LIMIT_S = 20.0
MEMORY_BYTES = 6 << 30
_WORKER = Path(__file__).with_name("worker.py")
_BUG = 70
SHARD = 20
"""How many mutants make one piece of work."""
SHARD_S = 3600.0
Lines = Callable[[Path, int], Iterator[Command]]
"""Which commands a mutant in a folder is given to, by its number."""


@dataclass(slots=True)
class Tally:
    """What became of all mutants."""

    mutants: int = 0
    commands: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def of(self, kind: str) -> int:
        """Return how many findings are of a kind."""
        return sum(finding.kind == kind for finding in self.findings)

    def add(self, other: Tally) -> None:
        """Count what became of others, too."""
        self.mutants += other.mutants
        self.commands += other.commands
        self.codes += other.codes
        self.findings += other.findings


def main(count: int, seed: int, hands: Hands, *, keep: Path | None = None) -> Tally:
    """Run `count` mutants, a quarter of them traces and documents, and print what became of them.

    With `keep`, mutants with findings are written there.
    """
    tally = run(count - count // 4, count // 4, seed, hands, keep=keep)
    print(summary(tally))
    return tally


def run(models: int, documents: int, seed: int, hands: Hands, *, keep: Path | None = None) -> Tally:
    """Return what became of so many mutants of models, and of traces and documents."""
    progress, tally = Progress("mutants", models + documents), Tally()

    def told(outcome: Outcome[Tally]) -> None:
        tally.add(shard := _tally(outcome))
        progress.tell(outcome.arguments[-2], shard.findings)

    shards = [*_shards("documents", documents, keep), *_shards("models", models, keep)]
    pieces = [(seed, *each) for each in shards]
    hands.spread(attacked, pieces, limit_s=SHARD_S, told=told)
    return tally


def _shards(of: str, count: int, keep: Path | None) -> Iterator[tuple[str, int, int, Path | None]]:
    for first in range(0, count, SHARD):
        yield of, first, min(SHARD, count - first), keep


def _tally(outcome: Outcome[Tally]) -> Tally:
    _, of, first, number, _ = outcome.arguments
    return outcome.result or Tally(findings=outcome.trouble(f"{of} from {first}, {number} of them"))


def attacked(seed: int, of: str, first: int, number: int, keep: Path | None) -> Tally:
    """Return what became of so many mutants of one kind, from the `first` on."""
    stream, lines = _KINDS[of]
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="mutants-") as place, _Child(Path(place)) as child:
        for turn, mutant in enumerate(itertools.islice(stream(seed, first), number), first):
            found = _Trial(child, mutant, Path(place) / "mutant")
            found.run(lines, turn)
            tally.add(Tally(1, sum(found.codes.values()), found.codes, found.findings))
            if keep is not None and found.findings:
                _keep(mutant, keep / f"{of}-{turn:05}")
    return tally


_KINDS: dict[str, tuple[Callable[[int, int], Iterator[Mutant]], Lines]] = {
    "models": (mutate_models.mutants, commands.of_model),
    "documents": (mutate_traces.mutants, commands.of_documents),
}


def summary(tally: Tally) -> str:
    """Return the figures, then every distinct finding with one example."""
    lines = [f"{tally.mutants:,} mutants, {tally.commands:,} commands, exit codes "
             + ", ".join(f"{code}: {n:,}" for code, n in sorted(tally.codes.items()))]  # fmt: skip
    lines.append(", ".join(f"{tally.of(k):,} {k}s" for k in ("traceback", "hang", "crash")))
    lines[-1] += f", {tally.of('litter'):,} times litter"
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in tally.findings:
        groups.setdefault((finding.kind, finding.what), []).append(finding)
    for (kind, what), found in sorted(groups.items(), key=lambda item: -len(item[1])):
        lines.append(f"{len(found):5} × {kind}: {what}\n        {found[0].where}")
    return "\n".join(lines)


def _keep(mutant: Mutant, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mutant.write(folder)
    (folder / "name.txt").write_text(mutant.name)


class _Trial:
    """One mutant, and what every command made of it."""

    def __init__(self, child: _Child, mutant: Mutant, folder: Path) -> None:
        self._child = child
        self._mutant = mutant
        self._folder = folder
        self.codes: Counter[int] = Counter()
        self.findings: list[Finding] = []

    def run(self, lines: Lines, number: int) -> None:
        self._fresh()
        for command in list(lines(self._folder, number)):
            before = _content(self._folder)
            code, said = self._child.ask(self._folder, command)
            if code == _HANG:  # a busy machine is slow, too: what is endless is late again
                self._fresh()
                code, said = self._child.ask(self._folder, command, limit_s=3 * LIMIT_S)
            self.codes[code] += 1
            for kind, what in self._wrong(code, said, command, before):
                self.findings.append(Finding(kind, f"{self._mutant.name} | {command}", what))
            if _content(self._folder) != before or kept_going(code):
                self._fresh()

    def _fresh(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        self._mutant.write(self._folder)

    def _wrong(
        self, code: int, said: str, command: Command, before: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        if code == _BUG or "Traceback (most recent call last)" in said:
            yield "traceback", _told(said)
        elif code == _HANG:
            yield "hang", f"more than {LIMIT_S:.0f} s: {command.words[1]}"
            return
        elif code < 0:
            yield "crash", f"signal {-code}: {command.words[1]}"
            return
        elif code and not re.search(r"^burnish: .*\n  hint: .", said, re.MULTILINE):
            yield "traceback", f"no problem and hint: {said[-200:]}"
        new = _content(self._folder) - before
        if code in (0, 1) or command.leaves_something:
            new = frozenset(name for name in new if not name.startswith("out"))
        new |= self._child.scratch()
        if new:
            yield (
                "litter",
                f"{command.words[1]} (exit {code}): {re.sub(r'[0-9a-z_]{8}', '*', sorted(new)[0])}",
            )


_HANG = 1000


def kept_going(code: int) -> bool:
    """Return whether a command was ended from outside, so that what it left says nothing."""
    return code == _HANG or code < 0


def _content(folder: Path) -> frozenset[str]:
    return frozenset(str(path.relative_to(folder)) for path in folder.rglob("*"))


def _told(said: str) -> str:
    """Return what burnish says of its own bug: the error, and the place in its source."""
    problem = next((line for line in said.splitlines() if "this is a bug" in line), said[-200:])
    return re.sub(r"0x[0-9a-f]+", "0x…", problem.removeprefix("burnish: "))


class _Child:
    """A worker process, started anew whenever it dies."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._process: subprocess.Popen[str] | None = None
        self._answers = -1

    def __enter__(self) -> Self:
        (self._place / "tmp").mkdir()
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def scratch(self) -> frozenset[str]:
        """Return what a command left in the folder for scratch files, and empty it."""
        left = []
        for path in (self._place / "tmp").iterdir():
            with free(path) as is_free:
                left += [path] if is_free or not path.is_dir() else []
        for path in left:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return frozenset(f"TMPDIR/{path.name}" for path in left)

    def ask(self, folder: Path, command: Command, limit_s: float = LIMIT_S) -> tuple[int, str]:
        """Return the exit code and what was said; a signal is negative, a hang is `_HANG`."""
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.write(json.dumps({"folder": str(folder), "command": command.words}) + "\n")
        process.stdin.flush()
        answer = self._line(time.monotonic() + limit_s)
        if answer is not None and answer:
            said = json.loads(answer)
            return int(said["code"]), str(said["err"])
        code = _HANG if answer is None else process.wait()
        self._end()
        self.scratch()
        return code, ""

    def _line(self, until: float) -> str | None:
        """Return the next answer; empty: the child has died; None: it takes too long."""
        text = b""
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([self._answers], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                return ""
            text += piece
        return text.decode()

    def _start(self) -> None:
        self._answers, to = os.pipe()
        settings = {
            "TMPDIR": str(self._place / "tmp"),
            "BURNISH_CACHE": str(self._place / "cache"),
            "NO_COLOR": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, str(_WORKER), str(to), str(MEMORY_BYTES)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **settings}, pass_fds=(to,), start_new_session=True,
        )  # fmt: skip
        os.close(to)

    def _end(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        os.close(self._answers)
        self._process = None


def command_line() -> int:
    """Do what the command line asks; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where mutants with findings are written")
    asked = parser.parse_args()
    with Hands(asked.jobs) as hands:
        return min(1, len(main(asked.count, asked.seed, hands, keep=asked.keep).findings))


if __name__ == "__main__":
    from torture import mutants  # by this name hands find what they are to do

    sys.exit(mutants.command_line())
