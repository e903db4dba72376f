"""Kernels give the same on any number of threads, again and again."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burnish.codegen.cpu import driver as native
from burnish.codegen.cpu.compile import compile_module
from burnish.codegen.cpu.target import available
from burnish.core.errors import MissingCapabilityError
from burnish.runtime.cpu.driver import (
    ASLEEP_WORD,
    DOUBT_WORD,
    LINE_WORDS,
    Word,
    pool_words,
    semaphore_word,
)
from burnish.runtime.cpu.thread_pool import ThreadPool
from burnish.runtime.host_memory import address_of, aligned_bytes
from codegen.hand_written import KERNELS

PORTABLE = available()[-1]
LOOP = native.driver(PORTABLE)
SIZE = 257
STEPS = 9


class Chain:
    """y = x + 1 + 1 + …, one step per one."""

    def __init__(self, chunk: int = 1) -> None:
        self.code = compile_module(KERNELS["sum"], PORTABLE)
        self.ones = np.ones(SIZE, np.float32)
        self.values = [np.zeros(SIZE, np.float32) for _ in range(STEPS + 1)]
        pairs = zip(self.values, self.values[1:], strict=False)
        addresses = [[address_of(x), address_of(self.ones), address_of(y)] for x, y in pairs]
        self.arguments = np.array(addresses, np.int64)
        function = self.code.address("sum")
        rows = [[function, address_of(row), SIZE, chunk] for row in self.arguments]
        self.steps = np.array(rows, np.int64)

    def run(self, workers: ThreadPool) -> np.ndarray:
        for value in self.values[1:]:
            value[:] = -1
        workers.run(address_of(self.steps), STEPS)
        return self.values[-1]


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_every_tile_of_every_step_is_run_in_order(threads: int, chunk: int) -> None:
    chain, workers = Chain(chunk), ThreadPool(LOOP, threads, 64)
    for _ in range(20):
        np.testing.assert_array_equal(chain.run(workers), np.full(SIZE, STEPS, np.float32))
    workers.close()


def test_a_closed_pool_starts_again() -> None:
    chain, workers = Chain(), ThreadPool(LOOP, 2, 64)
    chain.run(workers)
    workers.close()
    np.testing.assert_array_equal(chain.run(workers), np.full(SIZE, STEPS, np.float32))
    workers.close()


def test_threads_end_with_their_pool() -> None:
    before = threading.active_count()
    chain, workers = Chain(), ThreadPool(LOOP, 3, 64)
    chain.run(workers)
    assert threading.active_count() == before + 2
    del workers
    gc.collect()
    assert threading.active_count() == before


def test_a_forked_child_has_threads_of_its_own() -> None:
    chain, workers = Chain(), ThreadPool(LOOP, 2, 64)
    chain.run(workers)
    child = os.fork()
    if child == 0:
        os._exit(0 if (chain.run(workers) == STEPS).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    workers.close()


KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


def run_in_python(work: Callable[[int], None], steps: int, threads: int) -> None:
    """Run steps with a tile for each thread, which calls Python."""

    @KERNEL
    def kernel(_arguments: int, first: int, end: int, _scratch: int) -> None:
        for tile in range(first, end):
            work(tile)

    address = ctypes.cast(kernel, ctypes.c_void_p).value
    table = np.array([[address, 0, threads, 1]] * steps, np.int64)
    workers = ThreadPool(LOOP, threads, 64)
    workers.run(address_of(table), steps)
    workers.close()


def state(thread: int) -> str:
    return Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_thread_that_waits_for_long_sleeps() -> None:
    """It wants no core: one that it gives away and asks for again it gets last of all."""
    caller, both = threading.get_native_id(), threading.Barrier(2)
    states: list[str] = []

    def work(_tile: int) -> None:
        both.wait()  # each thread has one
        if threading.get_native_id() == caller:
            return
        for _ in range(300):  # until it sleeps, on a machine that is busy for up to six seconds
            time.sleep(0.02)
            states.append(state(caller))
            if states[-5:] == ["S"] * 5:
                return

    run_in_python(work, steps=1, threads=2)
    assert states[-5:] == ["S"] * 5


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_nobody_oversleeps(threads: int) -> None:
    """Threads arrive in any order, after waits at which others fall asleep or just do not."""
    dice = np.random.default_rng(threads)
    pauses = dice.choice([0.0, 1e-5, 2e-4, 4e-4, 2e-3], size=40)
    seen: list[int] = []

    def work(tile: int) -> None:
        time.sleep(pauses[(len(seen) + tile) % len(pauses)])
        seen.append(tile)

    run_in_python(work, steps=60, threads=threads)
    by_step = [sorted(seen[n : n + threads]) for n in range(0, len(seen), threads)]
    assert by_step == [list(range(threads))] * 60


def test_steps_without_tiles_do_nothing() -> None:
    chain, workers = Chain(), ThreadPool(LOOP, 2, 64)
    chain.steps[:, 2] = 0
    np.testing.assert_array_equal(chain.run(workers), np.full(SIZE, -1, np.float32))
    workers.close()


def test_several_threads_need_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.runtime.cpu.thread_pool.sys.platform", "darwin")
    ThreadPool(LOOP, 1, 0)
    with pytest.raises(MissingCapabilityError, match="2 threads were asked for") as caught:
        ThreadPool(LOOP, 2, 0)
    assert caught.value.hint == "use --threads 1"


@pytest.mark.parametrize("alignment", [64, 4096])
def test_memory_begins_where_it_should(alignment: int) -> None:
    memory = aligned_bytes(100, alignment)
    assert address_of(memory) % alignment == 0
    assert memory.nbytes == 100


def test_the_loop_is_compiled_once() -> None:
    assert native.driver(PORTABLE) is native.driver(PORTABLE)


def test_what_threads_write_lies_in_lines_of_its_own() -> None:
    words = [Word.ARRIVED, Word.GENERATION, Word.STOP, Word.LINES]
    assert [word % LINE_WORDS for word in words] == [0] * 4
    places = [semaphore_word(thread) for thread in range(4)]
    assert [place % LINE_WORDS for place in places] == [0] * 4
    assert max(places) < pool_words(4)
    semaphore_words = 4  # of glibc and musl, where words have 64 bits
    assert semaphore_words <= ASLEEP_WORD < DOUBT_WORD < LINE_WORDS
