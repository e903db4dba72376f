"""Memory of outputs is handed out again when nobody holds it, and never before."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.runtime import output_memory
from burnish.runtime.host_memory import address_of
from burnish.runtime.output_memory import OutputBlocks
from burnish.runtime.plan import Plan, PlanTensor


def memory_of(**tensors: PlanTensor) -> OutputBlocks:
    return OutputBlocks(Plan("cpu: portable", (), tensors, (), tuple(tensors), (), 0))


def vectors(size: int = 1000) -> OutputBlocks:
    return memory_of(y=PlanTensor("f32", (size,), "output", 0))


def test_what_was_let_go_is_handed_out_again() -> None:
    memory = vectors()
    first = address_of(memory.arrays()["y"])
    assert address_of(memory.arrays()["y"]) == first


def test_who_keeps_the_last_result_gets_the_one_before() -> None:
    memory, places, kept = vectors(), [], None
    for _ in range(6):
        kept = memory.arrays()["y"]
        places.append(address_of(kept))
    assert places[0] != places[1]
    assert places == places[:2] * 3


@pytest.mark.parametrize(
    "hold",
    [
        lambda array: array,
        lambda array: array[3:].reshape(-1, 1).T,
        memoryview,
        lambda array: array.ctypes,
        lambda array: array.ctypes.data_as(ctypes.c_void_p),
        lambda array: array.__dlpack__(),
        lambda array: np.frombuffer(array, np.uint8),
    ],
    ids=["array", "view", "memoryview", "ctypes", "pointer", "capsule", "buffer"],
)
def test_whatever_shares_it_holds_it(hold: Callable[[Array], Any]) -> None:
    memory = vectors()
    array = memory.arrays()["y"]
    place = address_of(array)
    held = hold(array)
    del array
    assert place not in [address_of(memory.arrays()["y"]) for _ in range(3)]
    del held
    assert place in [address_of(memory.arrays()["y"]) for _ in range(3)]


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(1, 5))
def test_nothing_that_is_held_changes(lets_go: list[int], longest: int) -> None:
    memory = vectors(16)
    held: list[tuple[Array, int]] = []
    for number, which in enumerate(lets_go):
        array = memory.arrays()["y"]
        array[:] = number
        held.append((array[which:], number))
        del array
        if len(held) > longest:
            held.pop(which % len(held))
        assert all((each == value).all() for each, value in held)


def test_outputs_do_not_share_memory() -> None:
    kind = PlanTensor("f32", (8,), "output", 0)
    found = memory_of(y=kind, z=kind).arrays()
    assert not np.shares_memory(found["y"], found["z"])


def test_only_outputs_of_fixed_size_have_memory() -> None:
    kinds = {"y": PlanTensor("f32", (8,), "output", 0), "v": PlanTensor("f32", None, "value")}
    assert list(memory_of(**kinds).arrays()) == ["y"]


def test_large_outputs_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = output_memory.output_bytes
    monkeypatch.setattr(output_memory, "output_bytes", lambda n: (made.append(n), real(n))[1])
    monkeypatch.setattr(output_memory, "MOST_KEPT_BYTES", 3999)
    memory = vectors()
    memory.arrays()
    memory.arrays()
    assert made == [4000, 4000]


def test_what_lies_with_strides_of_its_own_is_held_too() -> None:
    memory = memory_of(y=PlanTensor("f32", (2, 3), "output", 0, strides=(4, 1)))
    first = memory.arrays()["y"]
    first[:] = 1
    memory.arrays()["y"][:] = 2
    assert (first == 1).all()
