"""The native loop that runs kernels one after the other, on one thread or on a pool of them.

The code of it, `burnish.codegen.cpu.driver`, is compiled with the kernels. A pool shares one block
of 64-bit words, `Word` says which is what. For every step each thread has a range of tiles of its
own, so that it finds in its cache what it wrote in the step before; it takes chunks of it through a
counter, and when its own range is used up it takes from the others'. Which thread computes a tile
never changes what is computed. Behind each step all wait for each other: they spin for up to half a
millisecond, then sleep. Giving the core away instead, again and again, would put a thread behind
all others who want it, with no claim to have it back when it is needed. Threads sleep on semaphores
of the C library, between runs too; nothing here needs Python's lock.

Compiled folders hold this loop: who changes `Word`, a step's words or how functions are called must
raise the schema number of folders.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import IntEnum
from typing import Any

STEP_WORDS = 4
"""A step: address of the function, address of its arguments, tiles, tiles to take at once."""

LINE_WORDS = 8
"""A cache line: what different threads write lies in different ones."""


class Word(IntEnum):
    """What lies where in the block that a pool shares."""

    THREADS = 0
    SCRATCH = 1
    """Address of the first thread's scratch memory."""
    SCRATCH_STRIDE = 2
    YIELD = 3
    """Address of `sched_yield`, for folders whose loop gives cores away."""
    WAIT = 4
    """Address of `sem_wait`."""
    POST = 5
    """Address of `sem_post`."""
    STEPS = 6
    COUNT = 7
    ARRIVED = 8
    GENERATION = 16
    STOP = 24
    LINES = 32
    """One line for each thread's semaphore, then one for its counter in even and odd steps."""


ASLEEP_WORD = 6
"""Of the line with a thread's semaphore: not 0, the thread waits for others and is to be woken."""
DOUBT_WORD = 7
"""Of the same: how often the time that it spins is halved."""


def pool_words(threads: int) -> int:
    """Return how many words a pool shares."""
    return Word.LINES + 3 * threads * LINE_WORDS


def semaphore_word(thread: int) -> int:
    """Return where a thread's semaphore lies."""
    return Word.LINES + thread * LINE_WORDS


FUNCTIONS = ("burnish_alone", "burnish_chains", "burnish_lead", "burnish_follow")


class LoopDriver:
    """The loop as machine code."""

    def __init__(self, address: Callable[[str], int]) -> None:
        # whatever owns the code must live as long as this
        self._address = address
        word = ctypes.c_int64
        self.alone = self._function("burnish_alone", word, word, word)
        """Run steps (address, count) on this thread with its scratch memory (address)."""
        self.chains = address("burnish_chains")
        """Where the kernel is whose tiles are lists of steps (address, count)."""
        self.lead = self._function("burnish_lead", word, word, word)
        """Wake a pool (address), run steps (address, count) with it, return when all are done."""
        self.follow = self._function("burnish_follow", word, word)
        """Serve a pool (address) as its thread of this number until it is stopped."""

    def _function(self, name: str, *arguments: Any) -> Callable[..., None]:  # noqa: ANN401
        # CFUNCTYPE, not PYFUNCTYPE: Python's lock is released while the function runs
        kind = ctypes.CFUNCTYPE(None, *arguments)
        return kind(self._address(name))
