"""A folder for a card is refused, before any driver sees it, where it is not what was written."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnish.core.errors import ModelError
from burnish.core.tensors import TensorSpec
from burnish.cuda import folder as folders
from burnish.cuda.assemble import Assembled, BoundWork, CubinCall, assemble
from burnish.cuda.table import CONSTANTS, TABLE
from fake_driver import FakeDriver, kernel
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


@kernel
def double(_grid: object, x: np.ndarray, y: np.ndarray, *_: None) -> None:
    y[: 4 * SIZE].view(np.float32)[:] = 2 * x[: 4 * SIZE].view(np.float32)


@pytest.fixture(scope="module")
def done() -> Assembled:
    return assemble([WORK], {SOURCES["double"]: built("double", "sm_90")})


@pytest.fixture
def folder(done: Assembled, tmp_path: Path) -> Path:
    folders.write(tmp_path, done)
    return tmp_path


def test_what_was_written_runs(folder: Path) -> None:
    x = np.linspace(0, 1, SIZE, dtype=np.float32)
    found = folders.load(folder, FakeDriver()).run({"x": x})
    np.testing.assert_array_equal(found["y"], 2 * x)
    np.testing.assert_array_equal(found["z"], 4 * WORK.constants["w"])


RUN_ALONE = """
import sys
sys.path[:0] = {paths!r}
import numpy as np
from pathlib import Path
from burnish.cuda import folder
import fake_card
model = folder.load(Path({folder!r}), fake_card.FakeDriver())
x = np.ones({size}, np.float32)
assert (model.run({{"x": x}})["y"] == 2).all()
builders = ("torch", "triton", "onnx", "onnxruntime", "llvmlite")
print([name for name in builders if name in sys.modules])
"""


def test_running_needs_nothing_that_builds(folder: Path) -> None:
    paths = [str(Path(__file__).parents[1])]
    text = RUN_ALONE.format(paths=paths, folder=str(folder), size=SIZE)
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_what_was_written_is_read_as_it_was(folder: Path, done: Assembled) -> None:
    found = folders.read(folder)
    assert (found.table, found.code) == (done.table, done.code)


@pytest.mark.parametrize("name", [CONSTANTS, "kernels/double.cubin"])
def test_a_damaged_or_missing_file_is_refused(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[100] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=f"{name}: is damaged"):
        folders.read(folder)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name}: is missing"):
        folders.read(folder)


Change = Callable[[dict[str, Any]], object]

CHANGES: dict[str, Change] = {
    "is in '../x.cubin', outside of the folder": lambda t: t["kernels"]["double"].update(
        file="../x.cubin"
    ),
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
def test_a_plan_that_contradicts_itself_is_refused(folder: Path, problem: str) -> None:
    table = json.loads((folder / TABLE).read_text())
    CHANGES[problem](table)
    (folder / TABLE).write_text(json.dumps(table))
    with pytest.raises(ModelError, match=problem):
        folders.read(folder)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"entry": "triple"}, "its kernel: double, and device.json says triple"),
        ({"trailing": 1}, r"its parameters: \(8, 8, 8, 8\), and device.json says \(8, 8, 8\)"),
        ({"warps": 8}, "its threads: 128, and device.json says 256"),
    ],
)
def test_a_cubin_that_is_another_one_is_refused(
    folder: Path, change: dict[str, object], problem: str
) -> None:
    table = json.loads((folder / TABLE).read_text())
    table["kernels"]["double"]["kernel"].update(change)
    (folder / TABLE).write_text(json.dumps(table))
    with pytest.raises(ModelError, match=f"is not the kernel that is told: {problem}"):
        folders.read(folder)


def test_buffers_that_lie_on_each_other_are_refused(tmp_path: Path, done: Assembled) -> None:
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
    folders.write(tmp_path, assemble([chain], {SOURCES["double"]: built("double", "sm_90")}))
    table = json.loads((tmp_path / TABLE).read_text())
    for buffer in buffers(table).values():
        buffer["offset"] = 0
    (tmp_path / TABLE).write_text(json.dumps(table))
    with pytest.raises(ModelError, match="buffers 't' and 'u' lie on each other"):
        folders.read(tmp_path)
