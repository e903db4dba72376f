"""Processes that left the group of whoever started them: a daemon of a library outlives a group.

They are known by a mark in the environment that each process of ours is started with, which what
it starts inherits, and by their parents: what loses its own becomes a child of the process of ours
that it comes from. Where the system has no `/proc`, groups are all there is.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

MARK = "BURNISH_PROCESSES"
"""Names this process's scratch folder, and those of the processes of ours that it comes from."""
_PROC = Path("/proc")
_SUBREAPER = 36
"""Linux's PR_SET_CHILD_SUBREAPER."""
_TURNS = 5
"""A process may be started while others are looked for."""


def adopt() -> None:
    """Become the parent of whatever this process's descendants leave behind, where that can be."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def marked(name: str) -> dict[str, str]:
    """Return what the environment of a process holds by which it and all it starts are known."""
    return {MARK: ":".join(filter(None, (os.environ.get(MARK), name)))}


def kill(names: Collection[str], roots: Collection[int] = ()) -> None:
    """Kill all processes with these marks, and all that come from `roots`, but not these."""
    for _ in range(_TURNS):
        found = {*_with_mark(names), *_from(roots)} - {os.getpid(), *roots}
        if not [pid for pid in found if _killed(pid)]:
            return


def _killed(pid: int) -> bool:
    """Kill a process; return whether it ran until then."""
    try:
        if _state(pid) in ("Z", "X", ""):
            return False
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def _with_mark(names: Collection[str]) -> Iterator[int]:
    wanted = {os.fsencode(name) for name in names}
    start = os.fsencode(MARK) + b"="
    for pid in _pids():
        with suppress(OSError):  # it is gone, or somebody else's
            for one in (_PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                if one.startswith(start) and not wanted.isdisjoint(one[len(start) :].split(b":")):
                    yield pid


def _from(roots: Collection[int]) -> set[int]:
    """Return the descendants of processes, as the system knows them now."""
    if not roots:
        return set()
    children: dict[int, list[int]] = {}
    for pid in _pids():
        children.setdefault(_parent(pid), []).append(pid)
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        born = children.get(waiting.pop(), [])
        waiting += [pid for pid in born if pid not in found]
        found.update(born)
    return found


def _parent(pid: int) -> int:
    fields = _fields(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def _state(pid: int) -> str:
    return next(iter(_fields(pid)), "")


def _fields(pid: int) -> list[str]:
    """Return what the system says of a process behind its name, which may hold anything."""
    try:
        told = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return []
    return told.rpartition(")")[2].split()


def _pids() -> Iterator[int]:
    with suppress(OSError):
        for entry in os.scandir(_PROC):
            if entry.name.isdigit():
                yield int(entry.name)
