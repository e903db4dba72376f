"""Tensors lie as a plan lays them out, and what a run finds cold has copies that take turns."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.codegen.cpu.compile import compile_module
from burnish.codegen.cpu.driver import driver
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.cpu.trials.memory import (
    COLD_BYTES,
    MOST_COPIES,
    GuardedMemory,
    TimedMemory,
    as_array,
    fill,
)
from burnish.codegen.cpu.trials.steps import MOST_ROWS, StepTable
from burnish.codegen.tune.check import Case
from burnish.codegen.tune.messages import BuiltKernel, PlaceTensors, TensorMessage
from burnish.runtime.cpu.thread_pool import ThreadPool
from codegen.tune.bad_kernels import LAUNCH, SIZE, TEXTS

X = np.arange(SIZE, dtype=np.float32)
VECTOR = TensorMessage("f32", (SIZE,))


@pytest.fixture
def memory() -> TimedMemory:
    case = Case({"a": X, "b": X[::-1].copy()}, {})
    inputs = {"a": VECTOR, "b": VECTOR}
    return TimedMemory(
        PlaceTensors(case, inputs, {"y": VECTOR}, frozenset({"b"}), "cpu: portable", 1)
    )


def test_inputs_stay_and_the_rest_has_copies(memory: TimedMemory) -> None:
    assert memory.address("a", 0) == memory.address("a", 3)
    assert len({memory.address("b", copy) for copy in range(4)}) == 4
    assert len({memory.address("y", copy) for copy in range(4)}) == 4
    np.testing.assert_array_equal(as_array(memory.bytes("b", 3), VECTOR), X[::-1])


def test_there_are_as_many_copies_as_no_cache_holds(memory: TimedMemory) -> None:
    assert memory.copies(("a", "b", "y"), 0) == MOST_COPIES
    assert memory.copies(("a",), COLD_BYTES) == 1
    assert memory.copies((), COLD_BYTES // 3) == 4
    assert memory.copies((), 0) == MOST_COPIES


def test_runs_take_the_copies_in_turn(memory: TimedMemory) -> None:
    target = TARGETS["portable"]
    compiled = compile_module(TEXTS["right"], target)
    kernel = BuiltKernel("kernel", compiled.object_code, ("a", "b", "y"), LAUNCH)
    addresses = [[memory.address(name, copy) for name in kernel.arguments] for copy in range(3)]
    table = StepTable(kernel, compiled, addresses, 1)
    pool = ThreadPool(driver(target), 1, 64)

    def written() -> list[bool]:
        outputs = [as_array(memory.bytes("y", copy), VECTOR) for copy in range(3)]
        return [bool((output == SIZE - 1).all()) for output in outputs]

    for copy in range(3):
        memory.bytes("y", copy)[:] = 0
    table.run(pool, 2)
    assert written() == [True, True, False]
    memory.bytes("y", 0)[:] = 0
    table.run(pool, 1)
    assert written() == [False, True, True]
    table.run(pool, MOST_ROWS + 1)
    assert written() == [True, True, True]


def test_room_between_rows_is_kept_on_the_way() -> None:
    spaced = TensorMessage("f32", (2, 3), strides=(5, 1))
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    guarded = GuardedMemory({"x": spaced}, {})
    flat = guarded.bytes("x").view(np.float32)
    assert flat.size == 8
    flat[:] = -1
    fill(guarded, {"x": values}, {"x": spaced})
    np.testing.assert_array_equal(as_array(guarded.bytes("x"), spaced), values)
    np.testing.assert_array_equal(flat, [0, 1, 2, -1, -1, 3, 4, 5])
    assert guarded.findings() == []


def test_layouts_are_kept_on_the_way() -> None:
    turned = TensorMessage("f32", (2, 3, 4), (2, 0, 1))
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    guarded = GuardedMemory({"x": turned}, {})
    fill(guarded, {"x": values}, {"x": turned})
    np.testing.assert_array_equal(as_array(guarded.bytes("x"), turned), values)
    flat = guarded.bytes("x").view(np.float32)
    np.testing.assert_array_equal(flat, values.transpose(2, 0, 1).reshape(-1))
    assert guarded.findings() == []
