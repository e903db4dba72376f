"""Wait until the threads of this process have gone to sleep.

Some engines' threads go on spinning in wait for more work when a call has returned: those of ONNX
Runtime for 35 ms. Whoever is timed next on the same cores would be timed beside them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from burnish.timing.stopwatch import WALL, Clock

LOOK_S = 0.002
LONGEST_S = 0.25
"""Threads that never rest are not waited for."""
_THREADS = Path("/proc/self/task")
_RUNNABLE = "R"


def others_are_busy() -> bool:
    """Return whether a thread of this process but the caller's runs, or would if it had a core.

    Only Linux tells; elsewhere none is said to.
    """
    own = str(threading.get_native_id())
    others = (each for each in _THREADS.iterdir() if each.name != own) if _THREADS.exists() else ()
    return any(_state(each) == _RUNNABLE for each in others)


def _state(thread: Path) -> str:
    """Return the letter of a thread's state; empty: it has ended meanwhile."""
    with suppress(OSError):
        # behind the name, which may hold spaces and brackets
        return (thread / "stat").read_text().rpartition(")")[2].split()[0]
    return ""


def rested_s(
    clock: Clock = WALL,
    is_busy: Callable[[], bool] = others_are_busy,
    sleep: Callable[[float], object] = time.sleep,
) -> float:
    """Return how long it took until the other threads were asleep, in two looks one by one."""
    start = clock()
    quiet = 0
    while quiet < 2 and clock() - start < LONGEST_S * 1e9:
        quiet = 0 if is_busy() else quiet + 1
        sleep(LOOK_S)
    return (clock() - start) / 1e9
