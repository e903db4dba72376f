"""The measuring process as its parent sees it: requests, answers, and how it may end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from multiprocessing import Pipe
from types import TracebackType
from typing import Any, Self

from burnish.codegen.tune.messages import Refused, Request
from burnish.core.units import seconds as seconds_text

_TALK_KEPT = 300
"""How many of the last characters that a dead process said are part of the reason."""

START_LIMIT_S = 120.0
"""Starting an interpreter and importing takes a second, and much longer on a busy machine."""


class WorkerDiedError(Exception):
    """The process is no more; the text says how it ended."""


class RequestRefusedError(Exception):
    """The process cannot do what was asked; the text says why, and it goes on."""


class WorkerProcess:
    """A process of its own, and a pipe to it."""

    def __init__(self, *, module: str = "burnish.codegen.tune.worker") -> None:
        self._connection, theirs = Pipe()
        self._talk = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `end`)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(theirs.fileno())],
            stdin=subprocess.DEVNULL, stdout=self._talk, stderr=self._talk,
            pass_fds=(theirs.fileno(),),
            # a session of its own: whatever a library starts is ended with it
            start_new_session=True,
        )  # fmt: skip
        theirs.close()

    def ask(self, request: Request, limit_s: float) -> Any:  # noqa: ANN401  (as the request says)
        """Return the answer to a request."""
        self.send(request)
        return self.receive(limit_s)

    def send(self, request: Request) -> None:
        """Send a request; `receive` waits for its answer."""
        try:
            self._connection.send(request)
        except (BrokenPipeError, ConnectionResetError):
            raise WorkerDiedError(self._last_words()) from None

    def receive(self, limit_s: float) -> Any:  # noqa: ANN401  (as the request says)
        """Return the next answer."""
        try:
            if not self._connection.poll(limit_s):
                self.end()
                raise WorkerDiedError(f"timed out after {seconds_text(limit_s)}")
            answer = self._connection.recv()
        except (EOFError, ConnectionResetError):
            raise WorkerDiedError(self._last_words()) from None
        if isinstance(answer, Refused):
            raise RequestRefusedError(answer.reason)
        return answer

    def end(self) -> None:
        """End the process and all it started, whatever they are doing."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._connection.close()
        self._talk.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def _last_words(self) -> str:
        code = self._process.wait()
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        self._talk.seek(0)
        said = self._talk.read().decode(errors="replace").strip()[-_TALK_KEPT:]
        self.end()
        return f"crashed ({how})" + (f": {said}" if said else "")
