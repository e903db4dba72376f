"""Threads that run a plan's kernels together: started once, asleep between runs."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from burnish.core.errors import MissingCapabilityError
from burnish.runtime.buffers import SLACK_BYTES
from burnish.runtime.cpu.driver import LoopDriver, Word, pool_words, semaphore_word
from burnish.runtime.host_memory import PAGE_BYTES, Bytes, Words, address_of, aligned_bytes


class ThreadPool:
    """Runs steps on `threads` threads, the caller's included."""

    def __init__(self, driver: LoopDriver, threads: int, scratch_bytes: int) -> None:
        if threads > 1 and not sys.platform.startswith("linux"):
            raise MissingCapabilityError(
                f"{threads} threads were asked for, and kernels run on several only under Linux",
                hint="use --threads 1",
            )
        self.threads = threads
        self._driver = driver
        stride = -(-(scratch_bytes + SLACK_BYTES) // PAGE_BYTES) * PAGE_BYTES
        self._scratch = aligned_bytes(stride * threads, PAGE_BYTES)
        self._stride = stride
        self._shared: Words | None = None
        self._process = 0
        self._stop: Callable[[], Any] = lambda: None

    def run(self, steps: int, count: int) -> None:
        """Run `count` steps of the table at this address; return when all tiles are done."""
        if self.threads == 1:
            self._driver.alone(steps, count, address_of(self._scratch))
            return
        if self._process != os.getpid():
            # a forked child has the memory of its parent, and none of its threads
            self._start()
        assert self._shared is not None
        self._driver.lead(address_of(self._shared), steps, count)

    def close(self) -> None:
        """End the threads; the next run starts new ones."""
        self._stop()
        self._process = 0

    def _start(self) -> None:
        system = ctypes.CDLL(None)
        memory = aligned_bytes(8 * pool_words(self.threads)).view(np.int64)
        memory[:] = 0
        memory[Word.THREADS] = self.threads
        memory[Word.SCRATCH] = address_of(self._scratch)
        memory[Word.SCRATCH_STRIDE] = self._stride
        for word, name in _FUNCTIONS.items():
            memory[word] = ctypes.cast(getattr(system, name), ctypes.c_void_p).value or 0
        for thread in range(self.threads):
            system.sem_init(ctypes.c_void_p(_semaphore(memory, thread)), 0, 0)
        followers = []
        for thread in range(1, self.threads):
            follower = threading.Thread(
                target=_follow,
                args=(self._driver, memory, self._scratch, thread),
                name=f"burnish-{thread}",
                daemon=True,
            )
            follower.start()
            followers.append(follower)
        self._shared = memory
        self._process = os.getpid()
        self._stop = weakref.finalize(self, _stop, memory, followers, self._process)


_FUNCTIONS = {Word.YIELD: "sched_yield", Word.WAIT: "sem_wait", Word.POST: "sem_post"}


def _follow(driver: LoopDriver, memory: Words, scratch: Bytes, thread: int) -> None:
    """Serve the pool; the arguments keep alive what the native code uses."""
    driver.follow(address_of(memory), thread)
    del scratch


def _stop(memory: Words, followers: list[threading.Thread], process: int) -> None:
    if process != os.getpid():
        return
    memory[Word.STOP] = 1
    system = ctypes.CDLL(None)
    for thread, _ in enumerate(followers, 1):
        system.sem_post(ctypes.c_void_p(_semaphore(memory, thread)))
    for follower in followers:
        follower.join()


def _semaphore(memory: Words, thread: int) -> int:
    return address_of(memory) + 8 * semaphore_word(thread)
