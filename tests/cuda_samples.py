"""Small works for a fake card, and their kernels."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from burnish.core.tensors import TensorSpec
from burnish.cuda.assemble import Assembled, BoundWork, CubinCall, assemble, sources
from burnish.cuda.driver import Driver
from burnish.cuda.kernel import BuiltCubin, CubinKernel, TritonSource
from burnish.cuda.model import DeviceModel
from fake_driver import kernel

N = 8


def f32(memory: Array) -> Array:
    return memory[: 4 * N].view(np.float32)


@kernel
def add(grid: tuple[int, int, int], x: Array, y: Array, z: Array, *trailing: Array | None) -> None:
    assert trailing == (None, None)
    f32(z)[:] = f32(x) + f32(y)


@kernel
def accumulate(grid: tuple[int, int, int], x: Array, total: Array, *_: Array | None) -> None:
    f32(total)[:] += f32(x)


@kernel
def with_scratch(
    grid: tuple[int, int, int], x: Array, z: Array, part: Array, own: Array, _: None
) -> None:
    own[: grid[0] * 128] = 7
    f32(part)[:] += 2 * f32(x)
    f32(z)[:] = f32(part)


def source(name: str, pointers: int, text: str = "") -> TritonSource:
    return TritonSource(name, text, ("f32",) * pointers, warps=4, stages=2)


def built(one: TritonSource, **changes: object) -> BuiltCubin:
    facts: dict[str, object] = {
        "entry": one.name, "architecture": "sm_90a", "pointers": one.pointers, "trailing": 2,
        "warps": one.warps, "shared_bytes": 0, "program_bytes": 0, "registers": 32,
        "frame_bytes": 0, "toolkit": "12.8", "ptx": "8.7",
    }  # fmt: skip
    return BuiltCubin(CubinKernel(**{**facts, **changes}), b"code of " + one.name.encode())  # type: ignore[arg-type]


def spec(name: str, size: int = N) -> TensorSpec:
    return TensorSpec(name, "f32", (size,))


WEIGHT = np.arange(N, dtype=np.float32)

TWO_STEPS = BoundWork(
    calls=(
        CubinCall(
            source("add", 3), ("x", "weight", "middle"), ("middle",), (2, 1, 1), nodes=("first",)
        ),
        CubinCall(
            source("add", 3), ("middle", "x", "z"), ("z",), (3, 1, 1), nodes=("second", "third")
        ),
    ),
    tensors={name: spec(name) for name in ("x", "weight", "middle", "z")},
    inputs=("x",),
    outputs=("z",),
    constants={"weight": WEIGHT},
)
"""z = 2x + weight."""

ZEROED = BoundWork(
    calls=(CubinCall(source("accumulate", 2), ("x", "z"), ("z",), (1, 1, 1), zeroed=("z",)),),
    tensors={name: spec(name) for name in ("x", "z")},
    inputs=("x",),
    outputs=("z",),
)
"""z = x, added to what must be zero."""

SCRATCH = BoundWork(
    calls=(
        CubinCall(
            source("with_scratch", 3), ("x", "z"), ("z",), (5, 1, 1),
            scratch={"part": 4 * N}, zeroed=("part",),
        ),
    ),
    tensors={name: spec(name) for name in ("x", "z")},
    inputs=("x",),
    outputs=("z",),
)  # fmt: skip
"""z = 2x, through memory of the call's own, and with memory for each program."""


def assembled(*works: BoundWork, **changes: object) -> Assembled:
    return assemble(works, {one: built(one, **changes) for one in sources(works)})


def loaded(driver: Driver, *works: BoundWork, **changes: object) -> DeviceModel:
    done = assembled(*works, **changes)
    return DeviceModel(driver, done.table, done.code, done.constants, where="folder")
