"""What children are asked for in the tests: well-behaved, and otherwise."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core.arrays import Array
from burnish.core.errors import BurnishError, UsageError
from burnish.process.child import Child, ProcessLimits
from burnish.process.scratch import scratch
from burnish.process.serving import stage

TESTS = Path(__file__).parents[1]
ENVIRONMENT = {"PYTHONPATH": str(TESTS)}


def limits(**given: object) -> ProcessLimits:
    """Return limits with which a child finds this module."""
    return ProcessLimits(**{"answer_s": 60.0, "environment": ENVIRONMENT, **given})  # type: ignore[arg-type]


def child(entry: str = "process.servers", **given: object) -> Child:
    """Return a child in which this module answers."""
    return Child(entry, limits(**given))


@dataclass(frozen=True, slots=True)
class Sums:
    """Arrays by name, and a piece of code."""

    arrays: Mapping[str, Array]
    code: bytes = b""
    place: Path | None = None


class OwnError(UsageError):
    """A class that `burnish.core.errors` does not have."""


class Counter:
    """A server with a state."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, number: int) -> int:
        """Return the sum so far."""
        self._count += number
        return self._count


def doubled(request: Sums) -> Sums:
    """Return everything twice."""
    arrays = {name: array + array for name, array in request.arrays.items()}
    return Sums(arrays, request.code * 2, request.place)


def nothing() -> None:
    """Answer."""


def size(request: Sums) -> int:
    """Return the bytes of all arrays."""
    return sum(array.nbytes for array in request.arrays.values())


def refuse(how: str) -> None:
    """Raise."""
    kinds: dict[str, BurnishError | Exception] = {
        "usage": UsageError("no such engine", hint="name another"),
        "own": OwnError("no such thing", hint="name another"),
        "bug": KeyError("missing"),
        "full": OSError(errno.ENOSPC, "No space left on device", "/tmp/x"),
    }
    raise kinds[how]


def end(how: str) -> None:
    """End this process."""
    sys.stderr.write("about to fall\n")
    sys.stderr.flush()
    stage("falling")
    if how == "exit":
        os._exit(3)
    os.kill(os.getpid(), int(how))


def sleep(seconds: float) -> None:
    """Be silent for a while."""
    time.sleep(seconds)


def spin() -> None:
    """Never return, nor let go of the interpreter's lock."""
    import ctypes

    ctypes.PyDLL(None).sleep(600)


def chatter(lines: int) -> int:
    """Write very much to both streams, by the libraries' way and by Python's."""
    for number in range(lines):
        sys.stdout.write(f"{number}: an answer\n")
        os.write(1, b"x" * 1000)
        os.write(2, b"loading\n" * 100)
    sys.stdout.flush()
    return lines


def close_streams() -> str:
    """Close what is printed to, and answer later."""
    os.close(1)
    os.close(2)
    time.sleep(1.0)
    return "still here"


def start_another() -> int:
    """Start a process that would live on."""
    return subprocess.Popen(["sleep", "600"]).pid


def start_daemon(how: str) -> int:
    """Start a process that leaves this one's group, session and parents, as daemons do."""
    told, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.write(tell, str(os.getpid()).encode())
        own = {} if how == "nameless" else dict(os.environ)
        os.execve("/bin/sleep", ["sleep", "600"], own)
    pid = int(os.read(told, 64))
    os.wait()
    if how == "fall":
        os.write(2, f"daemon {pid} ".encode())
        os.kill(os.getpid(), 11)
    return pid


def fork_and_fall() -> int:
    """End, and leave a process behind that has all of this one's descriptors."""
    if os.fork() == 0:
        time.sleep(600)
    os._exit(5)


def eat(size_bytes: int) -> int:
    """Hold this much memory."""
    return len(bytearray(size_bytes))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def settings() -> str:
    """Return how soon the system ends this process, and how large a file its crash may leave."""
    chosen = Path("/proc/self/oom_score_adj").read_text().strip()
    return f"{chosen} {resource.getrlimit(resource.RLIMIT_CORE)[1]}"


def litter() -> str:
    """Leave a folder and a file open behind, and end."""
    folder = scratch("litter")
    (folder.__enter__() / "file").write_text("left")
    os._exit(0)


def folders() -> str:
    """Return where scratch folders are made here, and where libraries make theirs."""
    with scratch("probe") as folder:
        return f"{folder.parent} {tempfile.gettempdir()}"


def garble() -> None:
    """Send what is no message."""
    from burnish.process import serving

    assert serving._Channel.socket is not None
    serving._Channel.socket.sendall(b"\xff" * 100)
    time.sleep(600)
