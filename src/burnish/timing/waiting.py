"""How long this thread waited for a processor that others used.

A call that takes longer than the system gives a program at once is interrupted on a busy machine,
every time: its wall time is then a multiple of what it takes, and no median helps.
"""

from __future__ import annotations

import os
from collections.abc import Callable

_FILE = "/proc/thread-self/schedstat"
"""Of Linux: how long the thread ran, how long it waited for a processor, how often it got one."""


def never() -> int:
    """Return that nothing was waited for: for those whom that concerns as well."""
    return 0


def waiting() -> Callable[[], int]:
    """Return what tells for how many nanoseconds this thread has waited; 0 where nobody counts."""
    try:
        file = os.open(_FILE, os.O_RDONLY)
    except OSError:
        return never

    def waited_ns() -> int:
        return int(os.pread(file, 64, 0).split()[1])

    try:
        waited_ns()
    except (OSError, IndexError, ValueError):
        os.close(file)
        return never
    return waited_ns
