"""Compiled folders run on a card as on a CPU: through the same loader, checks and errors."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
import torch

import burnish
from burnish.codegen.backend import BuiltCode
from burnish.codegen.gpu.code import built_code
from burnish.codegen.place import BuiltPlan
from burnish.codegen.write import write, write_sums
from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.cuda.device_array import DeviceArray
from burnish.cuda.kernel import settings_line
from burnish.runtime.buffers import padded
from burnish.runtime.cuda import runner
from burnish.runtime.cuda.executable import CudaExecutable, CudaStreamed
from burnish.runtime.cuda.launch import CudaLaunch
from burnish.runtime.folder import TABLE, About
from burnish.runtime.plan import Home, KernelStep, OrtStep, Plan, PlanTensor
from burnish.runtime.runner import runner_for
from burnish.store.compiled import PLAN
from fake_driver import H200, FakeDriver, kernel

pytest.importorskip("triton")

SIZE = 1024
TEXT = f"""{settings_line(("f32", "f32", "f32"), 4, 1)}
import triton
import triton.language as tl


@triton.jit
def add_one(x, y, total):
    place = tl.program_id(0) * 128 + tl.arange(0, 128)
    values = tl.load(x + place)
    tl.store(y + place, values + 1)
    tl.atomic_add(total, tl.sum(values, 0))
"""
LAUNCH = CudaLaunch((SIZE // 128, 1, 1), scratch_bytes=(16,), zeroed=frozenset({2}))


@kernel
def add_one(_grid: object, x: np.ndarray, y: np.ndarray, total: np.ndarray, *_: None) -> None:
    assert not total[:16].any()
    y[: 4 * SIZE].view(np.float32)[:] = x[: 4 * SIZE].view(np.float32) + 1
    total[:16] = 1


class Triton:
    """As much of a back end as writing a folder asks for."""

    def build(self, sources: Mapping[str, str]) -> BuiltCode:
        return built_code(sources, "sm_90")


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> FakeDriver:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cubins"))
    found = FakeDriver()
    monkeypatch.setattr(runner, "_OPEN", [found])
    return found


def tensor(home: Home, offset: int = 0) -> PlanTensor:
    return PlanTensor("f32", (SIZE,), home, offset)


def step(source: str, target: str) -> KernelStep:
    return KernelStep("add_one", (source, target), (target,), LAUNCH.fields, (f"to_{target}",))


def plan(**changes: Any) -> Plan:  # noqa: ANN401
    kinds = {"x": "input", "t": "arena", "u": "arena", "y": "output", "w": "constant"}
    places = {"u": padded(4 * SIZE)}
    found = Plan(
        target="cuda: sm_90",
        requires=("sm_90a",),
        tensors={n: tensor(home, places.get(n, 0)) for n, home in kinds.items()},  # type: ignore[arg-type]
        inputs=("x",),
        outputs=("y", "w"),
        steps=(step("x", "t"), step("t", "u"), step("u", "y")),
        arena_bytes=2 * padded(4 * SIZE),
        sizes={"batch": SIZE},
        operators={},
    )
    return dataclasses.replace(found, **changes)


def written(folder: Path, one: Plan, parts: Mapping[str, ir.Model] | None = None) -> Path:
    about = About(
        "m", "m.onnx", "0", (TensorSpec("x", "f32", ("batch",)),),
        (TensorSpec("y", "f32", ("batch",)), TensorSpec("w", "f32", ("batch",))),
        "f32", "none", "today",
    )  # fmt: skip
    weights = {"w": np.arange(SIZE, dtype=np.float32)}
    built = BuiltPlan(one, {"add_one": TEXT}, weights, parts or {})
    write(folder, about, [built], Triton())  # type: ignore[arg-type]
    return folder


X = np.linspace(-1, 1, SIZE, dtype=np.float32)


def test_a_folder_runs_on_a_card(tmp_path: Path) -> None:
    with burnish.load(written(tmp_path / "c", plan())) as model:
        for _ in range(3):
            found = model.run({"x": X})
            np.testing.assert_allclose(found["y"], X + 3, rtol=1e-6)
            np.testing.assert_array_equal(found["w"], np.arange(SIZE))
        assert list(found) == ["y", "w"]


def test_tensors_of_other_libraries_stay_on_the_card(tmp_path: Path) -> None:
    with burnish.load(written(tmp_path / "c", plan())) as model:
        found = model.run_on_card({"x": torch.from_numpy(X.copy())})["y"]
        assert isinstance(found, DeviceArray)
        np.testing.assert_allclose(torch.from_dlpack(found).numpy(), X + 3, rtol=1e-6)


def test_each_step_is_timed(tmp_path: Path) -> None:
    with burnish.load(written(tmp_path / "c", plan())) as model:
        (times,) = model.executable({"x": X}).step_times({"x": X}, warmup=1, runs=1)
    assert [each.duration_s for each in times] == pytest.approx([8e-6] * 3)


def test_whole_runs_are_timed_by_the_card(tmp_path: Path) -> None:
    with burnish.load(written(tmp_path / "c", plan())) as model:
        found = model.executable({"x": X})
        assert isinstance(found, CudaExecutable)
        times = found.times_s({"x": X}, warmup=1, runs=3, repeats=2)
    assert times == pytest.approx([24e-6] * 3)


PART = """
<ir_version: 10, opset_import: ["": 20]>
part (float[1024] t) => (float[1024] u) { u = Neg(t) }
"""


def test_onnx_runtime_parts_run_between_kernels(tmp_path: Path) -> None:
    import onnx

    part = ir.from_proto(onnx.parser.parse_model(PART))
    ort = OrtStep("part_0.onnx", ("t",), ("u",), ("neg",), {"neg": "a test"})
    mixed = plan(steps=(step("x", "t"), ort, step("u", "y")))
    folder = written(tmp_path / "c", mixed, {"part_0.onnx": part})
    with burnish.load(folder, threads=1) as model:
        for _ in range(2):
            np.testing.assert_allclose(model.run({"x": X})["y"], -X, rtol=1e-5, atol=1e-6)
        with pytest.raises(UsageError, match="it takes no tensors on a card"):
            model.run_on_card({"x": X})


@pytest.mark.parametrize("limit", [5 << 10, 9 << 10, 13 << 10])
def test_a_plan_that_does_not_fit_runs_in_less_memory(
    tmp_path: Path, card: FakeDriver, limit: int
) -> None:
    folder = written(tmp_path / "c", plan(device_memory_bytes=limit))
    free = card.free_bytes()
    with burnish.load(folder) as model:
        np.testing.assert_allclose(model.run({"x": X})["y"], X + 3, rtol=1e-6)
        found = model.executable({"x": X})
        assert isinstance(found, CudaStreamed)
        assert found.moved_bytes >= 2 * X.nbytes
        assert free - card.free_bytes() <= limit
        with pytest.raises(UsageError, match="is larger than the card: it takes no tensors on a"):
            model.run_on_card({"x": X})
        (times,) = found.step_times({"x": X}, warmup=0, runs=1)
        assert len(times) == 3
    with burnish.load(folder, device_memory_bytes=1 << 20) as model:
        assert isinstance(model.executable({"x": X}), CudaExecutable)


def test_without_a_limit_what_is_free_on_the_card_is_one(tmp_path: Path, card: FakeDriver) -> None:
    folder = written(tmp_path / "c", plan())
    with card.current():
        taken = card.allocate(card.free_bytes() - (12 << 10))
    with burnish.load(folder) as model:
        assert isinstance(model.executable({"x": X}), CudaStreamed)
        np.testing.assert_allclose(model.run({"x": X})["y"], X + 3, rtol=1e-6)
    with card.current():
        card.free(taken)


def test_kernels_between_onnx_runtime_parts_keep_to_the_limit(
    tmp_path: Path, card: FakeDriver
) -> None:
    import onnx

    part = ir.from_proto(onnx.parser.parse_model(PART))
    ort = OrtStep("part_0.onnx", ("t",), ("u",), ("neg",), {"neg": "a test"})
    mixed = plan(steps=(step("x", "t"), ort, step("u", "y")), device_memory_bytes=5 << 10)
    folder = written(tmp_path / "c", mixed, {"part_0.onnx": part})
    with burnish.load(folder, threads=1) as model:
        np.testing.assert_allclose(model.run({"x": X})["y"], -X, rtol=1e-5, atol=1e-6)


def test_constants_that_lie_on_the_card_are_not_brought_there_again(
    tmp_path: Path, card: FakeDriver
) -> None:
    folder = written(tmp_path / "c", plan())
    own = np.arange(SIZE, dtype=np.float32) + 0.5
    free = card.free_bytes()
    with burnish.load(folder) as model:
        model.borrow({"w": own.ctypes.data})
        found = model.run({"x": X})
        np.testing.assert_array_equal(found["w"], own)
        np.testing.assert_allclose(found["y"], X + 3, rtol=1e-6)
        lent = free - card.free_bytes()
    with burnish.load(folder) as model:
        model.run({"x": X})
        assert free - card.free_bytes() >= lent + own.nbytes


def test_a_shape_that_was_not_compiled_for_is_refused(tmp_path: Path) -> None:
    with burnish.load(written(tmp_path / "c", plan())) as model:
        problem = r"was compiled for batch=1024, and is fed x: \[3\]"
        with pytest.raises(UsageError, match=problem):
            model.run_on_card({"x": torch.zeros(3)})


def test_a_card_of_another_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "c", plan())
    older = FakeDriver(device=dataclasses.replace(H200, capability=(8, 0)))
    monkeypatch.setattr(runner, "_OPEN", [older])
    with pytest.raises(MissingCapabilityError, match="here there is no sm_90a"):
        burnish.load(folder)


Change = Callable[[dict[str, Any]], object]
TABLES: dict[str, Change] = {
    "tells nothing of the kernel 'add_one'": lambda t: t["code"].update(kernels={}),
    "'add_one' is called with f32, f32, and takes f16, f32, f32": lambda t: t["code"]["kernels"][
        "add_one"
    ].update(pointers=["f16", "f32", "f32"]),
    "'add_one' takes 2 pointers, and is given another number": lambda t: t["code"]["kernels"][
        "add_one"
    ].update(pointers=["f32", "f32"]),
    "is not the kernel that is told: its threads: 128": lambda t: t["code"]["kernels"][
        "add_one"
    ].update(warps=8),
}  # fmt: skip


@pytest.mark.parametrize("problem", TABLES)
def test_a_table_that_contradicts_its_cubins_is_refused(tmp_path: Path, problem: str) -> None:
    folder = written(tmp_path / "c", plan())
    data = json.loads((folder / TABLE).read_text())
    TABLES[problem](data)
    (folder / TABLE).write_text(json.dumps(data))
    write_sums(folder)
    with burnish.load(folder) as model, pytest.raises(ModelError, match=problem):
        model.run({"x": X})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"grid_x": 0}, "grid_x is 0"),
        ({"grid_y": 70_000}, "grid_y is 70000"),
        ({"scratch_0": -1}, "scratch_0 is -1"),
        ({"zeroed": -1}, "zeroed is -1"),
        ({"warps": 4}, "a card is told grid_x, grid_y, grid_z, zeroed, scratch_0, not"),
    ],
)
def test_a_launch_that_no_card_takes_is_refused(
    tmp_path: Path, change: dict[str, int], problem: str
) -> None:
    folder = written(tmp_path / "c", plan())
    data = json.loads((folder / PLAN).read_text())
    data["plans"][0]["steps"][0]["launch"].update(change)
    (folder / PLAN).write_text(json.dumps(data))
    write_sums(folder)
    with pytest.raises(ModelError, match=f"step 0 cannot be started: {problem}"):
        burnish.load(folder)


def test_a_target_that_is_no_card_is_refused() -> None:
    found = list(runner_for("cuda: avx2").launch_findings("cuda: avx2", LAUNCH.fields))
    assert found == ["'avx2' is no kind of NVIDIA card"]


def test_a_kernel_that_cannot_be_compiled_is_named() -> None:
    with pytest.raises(ModelError, match="the kernel 'add_one' cannot be compiled for sm_90: "):
        built_code({"add_one": TEXT.replace("tl.sum", "tl.summe")}, "sm_90")
