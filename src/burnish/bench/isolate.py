"""Run one subject in a fresh process, and turn every way it can go wrong into a reason."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from burnish.bench import feed_file
from burnish.bench.subject import BenchSubject, Opened, WorkerFailedError
from burnish.bench.timing import WarmupLimit
from burnish.core import records, units
from burnish.core.arrays import Array

_TALK_KEPT = 300
"""How many of the last characters a dead worker said are part of the reason."""


@dataclasses.dataclass(frozen=True, slots=True)
class Terms:
    """What holds for every worker of a benchmark."""

    feeds: Path
    scratch: Path
    """A folder for what workers say and compute; the caller removes it."""
    limit_s: float
    warmup: WarmupLimit
    notes: tuple[str, ...] = ()
    """Said in every row of this subject: for instance which malloc it ran with."""
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Set for the worker, besides what it inherits."""


class WorkerProcess:
    """A worker in a process of its own: `burnish.bench.worker` at the other end of two pipes."""

    def __init__(
        self, subject: BenchSubject, terms: Terms, *, module: str = "burnish.bench.worker"
    ) -> None:
        self._subject = subject
        self._terms = terms
        self._replies, their_end = os.pipe()
        self._pending = b""
        with tempfile.NamedTemporaryFile(dir=terms.scratch, suffix=".log", delete=False) as log:
            self._talk = Path(log.name)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, str(their_end)],
                stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=(their_end,),
                # A session of its own: what an engine starts in turn is ended with it.
                start_new_session=True, env={**os.environ, **terms.environment},
            )  # fmt: skip
        os.close(their_end)

    def ready(self) -> None:
        """Wait until the process has started and sleeps."""
        self._ask({"command": "ready"})

    def open(self) -> Opened:
        """Load the model and call it until it is steady."""
        reply = self._ask(
            {
                "command": "open",
                "model": records.encode(self._subject.model),
                "engine": self._subject.engine,
                "options": dataclasses.asdict(self._subject.options),
                "feeds": str(self._terms.feeds),
                "limit": dataclasses.asdict(self._terms.warmup),
            }
        )
        opened: Opened = records.decode(Opened, reply)
        notes = (*opened.placement.notes, *self._terms.notes)
        return dataclasses.replace(
            opened, placement=dataclasses.replace(opened.placement, notes=notes)
        )

    def block(self, calls: int, settle_s: float) -> tuple[float, ...]:
        """Return the seconds of each of `calls` calls, after unrecorded ones for `settle_s`."""
        request = {"command": "block", "calls": calls, "settle_s": settle_s}
        return tuple(self._ask(request)["samples_s"])

    def peak_memory_bytes(self) -> int | None:
        """Return the most memory that the process has held so far."""
        peak: int = self._ask({"command": "memory"})["peak_memory_bytes"]
        return peak

    def outputs(self) -> dict[str, Array]:
        """Return what the model computes in this process."""
        path = self._talk.with_suffix(".npz")
        self._ask({"command": "outputs", "path": str(path)})
        return feed_file.read(path)

    def end(self) -> None:
        """End the process and all it started, whatever they are doing."""
        with suppress(BrokenPipeError):
            self._stdin.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._replies >= 0:
            os.close(self._replies)
            self._replies = -1

    @property
    def _stdin(self) -> Any:  # noqa: ANN401  (a pipe; typed as optional by subprocess)
        return self._process.stdin

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            self._stdin.write((json.dumps(request) + "\n").encode())
            self._stdin.flush()
        except BrokenPipeError:
            raise WorkerFailedError(self._last_words(str(request["command"]))) from None
        reply: dict[str, Any] = json.loads(self._next_line(str(request["command"])))
        if "failure" in reply:
            raise WorkerFailedError(str(reply["failure"]))
        return reply

    def _next_line(self, command: str) -> bytes:
        deadline = time.monotonic() + self._terms.limit_s
        while b"\n" not in self._pending:
            ready, _, _ = select.select(
                [self._replies], [], [], max(0.0, deadline - time.monotonic())
            )
            if not ready:
                raise WorkerFailedError(
                    f"no answer to '{command}' within {units.seconds(self._terms.limit_s)}"
                )
            piece = os.read(self._replies, 1 << 16)
            if not piece:
                raise WorkerFailedError(self._last_words(command))
            self._pending += piece
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _last_words(self, command: str) -> str:
        code = self._process.wait()
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        said = self._talk.read_text(errors="replace").strip()[-_TALK_KEPT:]
        return f"the process ended {how} during '{command}'" + (f": {said}" if said else "")
