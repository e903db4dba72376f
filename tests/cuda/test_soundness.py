"""What a card would be given is looked at first: plans agree with themselves, cubins with plans."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burnish.core import records
from burnish.core.tensors import TensorSpec
from burnish.cuda.assemble import Assembled, BoundWork, CubinCall, assemble
from burnish.cuda.soundness import findings
from burnish.cuda.table import DeviceTable, code_findings
from triton_kernels import SOURCES, built

SIZE = 1024
WORK = BoundWork(
    calls=(
        CubinCall(SOURCES["double"], ("w", "t"), ("t",), (SIZE // 128, 1, 1)),
        CubinCall(SOURCES["double"], ("x", "y"), ("y",), (SIZE // 128, 1, 1)),
        CubinCall(SOURCES["double"], ("t", "z"), ("z",), (SIZE // 128, 1, 1)),
    ),
    tensors={name: TensorSpec(name, "f32", (SIZE,)) for name in "wtxyz"},
    inputs=("x",),
    outputs=("y", "z"),
    constants={"w": np.arange(SIZE, dtype=np.float32)},
)


@pytest.fixture(scope="module")
def done() -> Assembled:
    return assemble([WORK], {SOURCES["double"]: built("double", "sm_90")})


@pytest.fixture
def table(done: Assembled) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(records.encode(done.table)))
    return found


def told(table: dict[str, Any]) -> str:
    """Return the first finding: later checks rely on earlier ones."""
    return next(findings(records.decode(DeviceTable, table)), "")


def test_what_was_assembled_is_sound(table: dict[str, Any], done: Assembled) -> None:
    assert told(table) == ""
    assert list(code_findings(done.table.kernels["double"].kernel, done.code["double"])) == []


Change = Callable[[dict[str, Any]], object]

CHANGES: dict[str, Change] = {
    "is for sm_80, the others for sm_90a": lambda t: t["kernels"]["double"]["kernel"].update(
        architecture="sm_80"
    ),
    "has 1 pointers, not 2": lambda t: t["kernels"]["double"]["kernel"].update(pointers=["f32"]),
    "cannot be started as it says": lambda t: t["kernels"]["double"]["kernel"].update(warps=64),
    "needs less than no memory": lambda t: t["kernels"]["double"]["kernel"].update(shared_bytes=-1),
    "and takes none": lambda t: t["kernels"]["double"]["kernel"].update(
        trailing=0, program_bytes=8
    ),
    "there are 2 outputs, and 1 names for them": lambda t: t["plans"][0].update(results=["y"]),
    "holds f33, which is no element type": lambda t: buffers(t)["t"].update(dtype="f33"),
    r"'t' has the shape \[-1\]": lambda t: buffers(t)["t"].update(shape=[-1]),
    "begins at 8, which is no multiple of 16": lambda t: buffers(t)["t"].update(offset=8),
    r"the inputs are \[\], the buffers": lambda t: t["plans"][0].update(inputs=[]),
    "the arena has -1 bytes": lambda t: t["plans"][0].update(arena_bytes=-1),
    "'t' does not lie in its arena memory": lambda t: t["plans"][0].update(arena_bytes=4095),
    "'w' does not lie in its constant memory": lambda t: buffers(t)["w"].update(offset=16),
    "step 0 uses 'q', which is no buffer": lambda t: step(t).update(arguments=["q", "t"]),
    "step 0 starts 'triple', which is no kernel": lambda t: step(t).update(kernel="triple"),
    "step 0 starts 0×1×1 programs": lambda t: step(t).update(grid=[0, 1, 1]),
    "step 0 starts 1×70000×1 programs": lambda t: step(t).update(grid=[1, 70000, 1]),
    "step 0 gives 'double' 1 buffers, not 2": lambda t: step(t).update(arguments=["w"]),
    "step 0 writes 'y', which it is given 0 times": lambda t: step(t).update(outputs=["y"]),
    "step 0 writes 't', which it is given 2 times": lambda t: step(t).update(
        arguments=["t", "t"]
    ),
    "step 0 zeroes 'y', which it is not given": lambda t: step(t).update(zeroed=["y"]),
    "gives 'double' 4,096 bytes of f32 in 'w', not 8,192 of f32": lambda t: t["kernels"][
        "double"
    ].update(pointer_bytes=[8192, 8192]),
    "step 0 reads 't' before it is written": lambda t: t["plans"][0]["steps"].reverse(),
    "step 0 writes 'w', which is an input or a constant": lambda t: step(t).update(
        arguments=["x", "w"], outputs=["w"]
    ),
    "output 'z' is never written": lambda t: t["plans"][0]["steps"].pop(),
}  # fmt: skip


def buffers(table: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = table["plans"][0]["buffers"]
    return found


def step(table: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = table["plans"][0]["steps"][0]
    return found


@pytest.mark.parametrize("problem", CHANGES)
def test_a_plan_that_contradicts_itself_is_found(table: dict[str, Any], problem: str) -> None:
    CHANGES[problem](table)
    assert re.search(problem, told(table))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"entry": "triple"}, "its kernel: double, and its table says triple"),
        ({"trailing": 1}, "its parameters: (8, 8, 8, 8), and its table says (8, 8, 8)"),
        ({"warps": 8}, "its threads: 128, and its table says 256"),
    ],
)
def test_a_cubin_that_is_another_one_is_found(
    done: Assembled, change: dict[str, Any], problem: str
) -> None:
    other = dataclasses.replace(done.table.kernels["double"].kernel, **change)
    assert problem in list(code_findings(other, done.code["double"]))


def test_what_is_no_cubin_is_found(done: Assembled) -> None:
    assert list(code_findings(done.table.kernels["double"].kernel, b"nothing"))


def test_buffers_that_lie_on_each_other_are_found() -> None:
    chain = dataclasses.replace(
        WORK,
        calls=(
            CubinCall(SOURCES["double"], ("x", "t"), ("t",), (8, 1, 1)),
            CubinCall(SOURCES["double"], ("t", "u"), ("u",), (8, 1, 1)),
            CubinCall(SOURCES["double"], ("u", "y"), ("y",), (8, 1, 1)),
        ),
        tensors={name: TensorSpec(name, "f32", (SIZE,)) for name in "xtuy"},
        outputs=("y",),
        constants={},
    )
    done = assemble([chain], {SOURCES["double"]: built("double", "sm_90")})
    table = json.loads(json.dumps(records.encode(done.table)))
    for buffer in buffers(table).values():
        buffer["offset"] = 0
    assert "buffers 't' and 'u' lie on each other" in told(table)
