"""The other end of `Child`: a process that answers what its parent asks, and ends with it.

What answers is named as `package.module`, whose functions are asked for by name, or as
`package.module:Class`, of which one object is made. Requests come, and answers leave, through a
socket that no library knows about: whatever is printed here cannot be taken for an answer.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import resource
import select
import signal
import socket
import sys
import threading
import traceback
import typing
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from burnish.core import mishaps
from burnish.core.errors import BurnishError
from burnish.process import scratch, strays
from burnish.process.wire import Incoming, Message, packed

START = "from burnish.process.serving import main; main()"
"""What a fresh interpreter is given to execute."""
ANSWER, STAGE, ERROR, REFUSAL = "answer", "stage", "error", "refusal"

_SET_SIGNAL = 10
"""Linux's F_SETSIG: which signal to send when there is news of a descriptor."""
_EASILY_CHOSEN = "500"


@dataclass(frozen=True, slots=True)
class Hello:
    """What a process is told first."""

    entry: str
    scratch: Path
    address_space_bytes: int | None = None
    cpus: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """An error that a user can act on."""

    kinds: tuple[str, ...]
    """The names of its class and of those that it comes from, the nearest first."""
    problem: str
    hint: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Any other error, and where it was raised."""

    reason: str
    traceback: str


class _Channel:
    """The socket to the parent; None: this process was not started by `Child`."""

    socket: socket.socket | None = None


def stage(name: str) -> None:
    """Tell the parent what is being done now, so that it knows where this process ended."""
    _send(STAGE, name)


def main() -> None:
    """Serve the parent process until it closes its end."""
    control, life = (int(argument) for argument in sys.argv[1:3])
    end_with_parent(life)
    _Channel.socket = socket.socket(fileno=control)
    first = _received()
    if first is None:
        return
    hello: Hello = first.value(Hello)
    _settle(hello)
    server = _named(hello.entry)
    while (message := _received()) is not None:
        _answer(server, message)
    # libraries' threads and destructors have nothing left to say, and can crash or hang
    os._exit(0)


def end_with_parent(life: int) -> None:
    """Have this process, and all that it starts, end when the other end of a pipe is closed.

    That is when the parent ends, however it does. Linux itself kills the whole process group then,
    be it in an endless loop of a library; elsewhere a thread does.
    """
    try:
        fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(life, _SET_SIGNAL, signal.SIGKILL)
        fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    except OSError:
        threading.Thread(target=_end_at_end_of, args=(life,), daemon=True).start()
    # it may have ended before this process asked to be told
    if select.select([life], [], [], 0)[0]:
        os._exit(1)


def _end_at_end_of(life: int) -> None:
    os.read(life, 1)
    os.killpg(0, signal.SIGKILL)


def _settle(hello: Hello) -> None:
    scratch.inside(hello.scratch)
    strays.adopt()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no file
    with suppress(OSError):
        # when memory runs out the system ends this process, not the one that can tell
        Path("/proc/self/oom_score_adj").write_text(_EASILY_CHOSEN)
    if hello.address_space_bytes is not None:
        most = hello.address_space_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    if hello.cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, hello.cpus)


def _named(entry: str) -> Any:  # noqa: ANN401  (a module, or an object of a class)
    module, _, name = entry.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name)() if name else found


def _answer(server: Any, message: Message) -> None:  # noqa: ANN401
    try:
        method = getattr(server, message.kind)
        answer = method(*(message.value(kind) for kind in _taken(method)))
    except BurnishError as error:
        _send(ERROR, _explained(error))
    except Exception as error:
        told = mishaps.explained(error) if isinstance(error, OSError) else None
        refused = Refused(f"{type(error).__name__}: {error}", traceback.format_exc())
        _send(*(REFUSAL, refused) if told is None else (ERROR, _explained(told)))
    else:
        _send(ANSWER, answer)


def _explained(error: BurnishError) -> Explained:
    kinds = tuple(kind.__name__ for kind in type(error).__mro__)
    return Explained(kinds, error.problem, error.hint, error.more)


@cache
def _taken(method: Callable[..., object]) -> tuple[object, ...]:
    """Return the types of what a method takes: one, or none."""
    hints = typing.get_type_hints(method)
    return tuple(kind for name, kind in hints.items() if name != "return")


def _received() -> Message | None:
    """Return the next message; None: the parent has closed its end."""
    assert _Channel.socket is not None
    incoming, message = Incoming(), None
    while message is None:
        count = _Channel.socket.recv_into(incoming.room)
        if not count:
            return None
        message = incoming.advance(count)
    return message


def _send(kind: str, value: Any) -> None:  # noqa: ANN401  (any record)
    if _Channel.socket is not None:
        for piece in packed(kind, value):
            _Channel.socket.sendall(piece)
