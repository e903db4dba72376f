"""Count what the processor counts, in this process and in the threads that it starts later.

Linux's `perf_event_open` is called as it is: nothing has to be installed, and only what runs
between two moments is counted.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_CALLS = {"x86_64": 298, "aarch64": 241}
"""The number of the system call, by machine."""
_ATTRIBUTES = struct.Struct("<IIQQQQQ16x")
"""Type, size, configuration, period, what a sample holds, what a reading holds, flags."""
_DISABLED, _INHERITED, _WITHOUT_KERNEL, _WITHOUT_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_WITH_TIMES = 3
"""A reading tells for how long it was wanted, and for how long it counted."""
_READING = struct.Struct("<QQQ")
_ENABLE, _DISABLE = 0x2400, 0x2401
_CLOSED_ON_EXEC = 8
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


@dataclass(frozen=True, slots=True)
class Countable:
    """Something that the kernel can be asked to count."""

    kind: int
    configuration: int


LAST_CACHE_MISSES: Mapping[str, Countable] = {
    # the last level (2), reading (0) or writing (1), what was not there (1)
    "read": Countable(3, 2 | 0 << 8 | 1 << 16),
    "written": Countable(3, 2 | 1 << 8 | 1 << 16),
}
"""What the last cache had to fetch from memory, or make room for; not every CPU tells both."""
PAGE_FAULTS = Countable(1, 2)


class NotCountedError(Exception):
    """The kernel does not let us count, or the processor does not."""


class Counter:
    """One thing that is counted while it is on."""

    def __init__(self, what: Countable) -> None:
        number = _CALLS.get(platform.machine()) if platform.system() == "Linux" else None
        if number is None:
            raise NotCountedError(f"nobody counts on {platform.system()} {platform.machine()}")
        flags = _DISABLED | _INHERITED | _WITHOUT_KERNEL | _WITHOUT_HYPERVISOR
        asked = _ATTRIBUTES.pack(
            what.kind, _ATTRIBUTES.size, what.configuration, 0, 0, _WITH_TIMES, flags
        )
        library = ctypes.CDLL(None, use_errno=True)
        self._file: int = library.syscall(number, asked, 0, -1, -1, _CLOSED_ON_EXEC)
        if self._file < 0:
            raise NotCountedError(_why(ctypes.get_errno()))

    @contextmanager
    def on(self) -> Iterator[None]:
        """Count what happens inside."""
        import fcntl  # which only Unix has

        fcntl.ioctl(self._file, _ENABLE, 0)
        try:
            yield
        finally:
            fcntl.ioctl(self._file, _DISABLE, 0)

    def read(self) -> float:
        """Return how often it happened, as if it had been counted all the time."""
        number, wanted_ns, counted_ns = _READING.unpack(os.read(self._file, _READING.size))
        if wanted_ns and not counted_ns:
            raise NotCountedError("other programs use all of the processor's counters")
        return number * wanted_ns / counted_ns if counted_ns else 0.0

    def close(self) -> None:
        """Give the counter back."""
        os.close(self._file)


def _why(error: int) -> str:
    if error in (errno.EACCES, errno.EPERM):
        try:
            level = _PARANOID.read_text().strip()
        except OSError:
            level = "unknown"
        return (
            f"counters not permitted: kernel.perf_event_paranoid is {level}; allow them with"
            " sudo sysctl kernel.perf_event_paranoid=2"
        )
    if error in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
        return (
            "counters not there: the processor, or the virtual machine around it, does not show"
            " misses of its caches"
        )
    return os.strerror(error)
