"""A process of our own as its parent sees it: started, asked with records, limited, ended."""

from __future__ import annotations

import atexit
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from burnish.core import errors
from burnish.core.errors import BurnishError
from burnish.core.units import seconds
from burnish.process import serving, strays
from burnish.process.program import signal_name
from burnish.process.scratch import scratch
from burnish.process.serving import Explained, Hello, Refused
from burnish.process.wire import Incoming, Message, packed

A = TypeVar("A")

_KEPT_BYTES = 4096
_MOST_PIECES = 64
"""More of what was printed is not read at the end: it may go on for ever."""
_SAID = 300
"""How many of the last characters that a process said are part of the reason for its end."""
_HUNG = "gave no answer"
_LEAST_ANSWER_S, _BUDGETS = 60.0, 3.0
_LOOK_S = 0.5
"""How often to look whether a silent process still runs: what it started may hold its socket."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a process may take."""

    answer_s: float = 1800.0
    """One that gives no answer for so long is ended."""
    address_space_bytes: int | None = None
    cpus: tuple[int, ...] = ()
    """Empty: all that the parent may use."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Set besides what is inherited."""


def answer_limit_s(budget_s: float | None, otherwise_s: float = ProcessLimits().answer_s) -> float:
    """Return how long to wait for one answer where all of them together should take `budget_s`.

    A budget is an aim: a model that loads slowly may exceed it, one that hangs may not.
    """
    return otherwise_s if budget_s is None else max(_LEAST_ANSWER_S, _BUDGETS * budget_s)


class ChildEndedError(Exception):
    """The process is no more: it crashed, gave no answer in time, or was killed."""

    def __init__(self, how: str, stage: str, *, said: str = "", signal: str = "") -> None:
        super().__init__(f"{how} during '{stage}'" + (f": {said[-_SAID:]}" if said else ""))
        self.how = how
        """`ended by SIGSEGV`, `ended with exit code 3`, `gave no answer within 2.00 s`."""
        self.stage = stage
        """What it was last heard to be doing."""
        self.said = said
        """The last of what it printed."""
        self.signal = signal
        """The name of the signal that ended it; empty: none did, or it was ours."""

    @property
    def hung(self) -> bool:
        """Return whether it was ended because it gave no answer."""
        return self.how.startswith(_HUNG)


class ChildRefusedError(Exception):
    """What was asked raised an error that no user can act on; the process goes on."""


class Child:
    """A fresh interpreter in which `entry` answers; see `serving` for what an entry is."""

    def __init__(self, entry: str, limits: ProcessLimits = ProcessLimits()) -> None:  # noqa: B008  (frozen)
        self._limits = limits
        self._stack = ExitStack()
        self._outgoing: deque[memoryview] = deque()
        self._incoming = Incoming()
        self._messages: deque[Message] = deque()
        self._talk = bytearray()
        self._stage = "start"
        self._process = self._started(entry)
        _RUNNING.add(self)
        hello = Hello(entry, self.scratch, limits.address_space_bytes, limits.cpus)
        self.send(self._stage, hello)

    def _started(self, entry: str) -> subprocess.Popen[bytes]:
        self.scratch = self._stack.enter_context(scratch("child"))
        self._socket, theirs = socket.socketpair()
        self._socket.setblocking(False)
        life, self._life = os.pipe()
        self._printed, output = os.pipe()
        os.set_blocking(self._printed, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._selector.register(self._printed, selectors.EVENT_READ)
        self._stack.callback(self._close)
        passed = (theirs.fileno(), life)
        try:
            return subprocess.Popen(
                [sys.executable, "-P", "-c", serving.START, *map(str, passed), entry],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=passed,
                # a group of its own: whatever a library starts is ended with it
                start_new_session=True,
                env={**os.environ, **strays.marked(self.scratch.name), **self._limits.environment},
            )  # fmt: skip
        except OSError as error:
            self._stack.close()
            raise ChildEndedError(f"cannot be started ({error.strerror})", self._stage) from error
        finally:
            theirs.close()
            os.close(life)
            os.close(output)

    @property
    def runs(self) -> bool:
        """Return whether the process can still be asked."""
        return self in _RUNNING and self._process.poll() is None

    def ask(self, method: str, request: Any, answer: type[A], limit_s: float | None = None) -> A:  # noqa: ANN401
        """Return the answer to a request, which is of the type `answer`."""
        self.send(method, request)
        return self.receive(answer, limit_s)

    def send(self, method: str, request: Any = None) -> None:  # noqa: ANN401  (any record)
        """Send a request; `receive` waits for its answer."""
        self._stage = method
        self._outgoing.extend(packed(method, request))
        self._exchange(lambda: not self._outgoing, self._limits.answer_s)

    def receive(self, answer: type[A], limit_s: float | None = None) -> A:
        """Return the next answer."""
        limit_s = self._limits.answer_s if limit_s is None else limit_s
        self._exchange(lambda: bool(self._messages), limit_s)
        message = self._messages.popleft()
        if message.kind == serving.ERROR:
            raise _error(message.value(Explained))
        if message.kind == serving.REFUSAL:
            raise _refusal(message.value(Refused))
        found: A = message.value(answer)
        return found

    def end(self) -> None:
        """End the process and all that it started, whatever they are doing; never raises."""
        if self in _RUNNING:
            _RUNNING.discard(self)
            self.kill()
            self._process.wait()
            self._stack.close()

    def kill(self) -> None:
        """Kill the process and all that it started, without waiting for their end.

        What left its group goes first: it is known by its parents for as long as these are there.
        """
        pid = self._process.pid
        running = self._process.returncode is None
        strays.kill((), [pid] if running else ())
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        strays.kill([self.scratch.name])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _close(self) -> None:
        self._selector.close()
        self._socket.close()
        os.close(self._life)
        os.close(self._printed)

    def _exchange(self, done: Callable[[], bool], limit_s: float) -> None:
        """Send what is to be sent and take in what comes; whatever stops this ends the process."""
        deadline = time.monotonic() + limit_s
        try:
            while not done() and self in _RUNNING and self._turn(deadline - time.monotonic()):
                pass
        except BaseException:
            self.end()
            raise
        if not done():
            late = time.monotonic() >= deadline and self.runs
            raise self._over(f"{_HUNG} within {seconds(limit_s)}" if late else "")

    def _turn(self, left_s: float) -> bool:
        """Do what can be done now, or wait a little; False: there is nothing to wait for."""
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outgoing else 0)
        self._selector.modify(self._socket, wanted)
        moved = None
        for key, ready in self._selector.select(min(max(left_s, 0), _LOOK_S)):
            if key.fd == self._printed:
                self._listen()
            else:
                moved = self._take() if ready & selectors.EVENT_READ else self._push()
        return left_s > 0 and self._process.poll() is None if moved is None else moved

    def _push(self) -> bool:
        """Send a piece; False: the other end is closed."""
        piece = self._outgoing.popleft()
        try:
            rest = piece[self._socket.send(piece) :]
        except ConnectionError:
            return False
        if rest.nbytes:
            self._outgoing.appendleft(rest)
        return True

    def _take(self) -> bool:
        """Receive a piece; False: the other end is closed."""
        try:
            count = self._socket.recv_into(self._incoming.room)
        except ConnectionError:
            return False
        message = self._incoming.advance(count) if count else None
        if message is not None:
            self._incoming = Incoming()
            if message.kind == serving.STAGE:
                self._stage = message.value(str)
            else:
                self._messages.append(message)
        return count > 0

    def _listen(self) -> None:
        """Take in what the process printed, and keep the last of it."""
        piece = os.read(self._printed, 1 << 16)
        self._talk += piece
        del self._talk[:-_KEPT_BYTES]
        if not piece:
            self._selector.unregister(self._printed)

    def _over(self, how: str) -> ChildEndedError:
        """End the process, and return what is known of its end."""
        if self not in _RUNNING:
            return ChildEndedError("was ended", self._stage)
        code = self._process.poll()
        if not how:
            with suppress(subprocess.TimeoutExpired):
                # its socket is closed: it is about to end by itself, and how is worth knowing
                code = self._process.wait(_LOOK_S)
        self.kill()
        with suppress(BlockingIOError, KeyError):
            for _ in range(_MOST_PIECES):
                self._listen()
        self.end()
        name = signal_name(-code) if not how and code is not None and code < 0 else ""
        how = how or f"ended {f'by {name}' if name else f'with exit code {code or 0}'}"
        told = self._talk.decode(errors="replace").strip()
        said = "".join(letter for letter in told if letter.isprintable() or letter == "\n")
        return ChildEndedError(how, self._stage, said=said, signal=name)


def _error(found: Explained) -> BurnishError:
    kind = next(getattr(errors, name) for name in found.kinds if hasattr(errors, name))
    error: BurnishError = kind(found.problem, hint=found.hint, more=found.more)
    return error


def _refusal(found: Refused) -> ChildRefusedError:
    error = ChildRefusedError(found.reason)
    error.add_note(f"in the other process:\n{found.traceback}")
    return error


_RUNNING: set[Child] = set()
os.register_at_fork(after_in_child=_RUNNING.clear)


def kill_all() -> None:
    """Kill every process that runs, at once; what they leave is swept by the next command."""
    for child in list(_RUNNING):
        child.kill()


@atexit.register
def end_all() -> None:
    """End every process that still runs."""
    for child in list(_RUNNING):
        child.end()
