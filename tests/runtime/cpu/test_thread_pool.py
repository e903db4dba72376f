"""Kernels give the same on any number of threads, again and again."""

from __future__ import annotations

import gc
import os
import threading

import numpy as np
import pytest

from burnish.codegen.cpu import driver as native
from burnish.codegen.cpu.compile import compile_module
from burnish.codegen.cpu.target import TARGETS
from burnish.core.errors import MissingCapabilityError
from burnish.runtime.cpu.driver import LINE_WORDS, Word, pool_words, semaphore_word
from burnish.runtime.cpu.thread_pool import ThreadPool
from burnish.runtime.host_memory import address_of, aligned_bytes
from codegen.hand_written import KERNELS

PORTABLE = TARGETS["portable"]
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
