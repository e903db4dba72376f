"""The same on a real card: cubins built here, graphs, and memory that is shared with PyTorch."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from burnish.cli.main import run
from burnish.codegen.bundle_times import time_bundle
from burnish.cuda.executable import DeviceExecutable
from burnish.cuda.loaded import LoadedKernels
from burnish.cuda.memory import aligned
from burnish.cuda.nvidia import NvidiaDriver
from burnish.cuda.plan import Buffer, CubinStep, DevicePlan
from codegen.gpu.compiled import FEW_ROWS, NETWORK, STEM, written
from triton_kernels import built

pytestmark = pytest.mark.gpu

SIZE = 1 << 16


def plan(kernel: str) -> DevicePlan:
    """Return y = 8x, by three kernels each of which reads what the one before it wrote."""
    return DevicePlan(
        buffers={
            "x": Buffer("f32", (SIZE,), "input"),
            "t": Buffer("f32", (SIZE,), "arena"),
            "u": Buffer("f32", (SIZE,), "arena", aligned(4 * SIZE)),
            "y": Buffer("f32", (SIZE,), "output"),
        },
        inputs=("x",),
        outputs=("y",),
        steps=tuple(
            CubinStep(kernel, (a, b), (b,), (SIZE // 128, 1, 1), nodes=(f"double_{a}",))
            for a, b in pairwise("xtuy")
        ),
        arena_bytes=2 * aligned(4 * SIZE),
    )


@pytest.fixture(params=["double", "waiting"])
def model(card: NvidiaDriver, request: pytest.FixtureRequest) -> DeviceExecutable:
    """Return a model whose kernels start one after the other, or early."""
    name = request.param
    if name == "waiting" and card.device.capability < (9, 0):
        pytest.skip("only from Hopper on kernels start early")
    found = built(name, card.device.architecture)
    kernels = LoadedKernels(card, {name: found.kernel}, {name: found.code}, where="test")
    with card.current():
        return DeviceExecutable(card, plan(name), kernels, 0)


def test_arrays_go_there_and_come_back(model: DeviceExecutable) -> None:
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=SIZE).astype(np.float32)
        np.testing.assert_array_equal(model.run({"x": x})["y"], 8 * x)
    model.close()


def test_tensors_are_shared_in_any_stream(model: DeviceExecutable) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(SIZE, device="cuda")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for _ in range(10):
                y = torch.from_dlpack(model.run({"x": x}, stream=stream)["y"])
                assert torch.equal(y, 8 * x)
                x = x + 1


def test_times_are_plausible(model: DeviceExecutable) -> None:
    x = np.zeros(SIZE, np.float32)
    times = model.times_s({"x": x}, warmup=3, runs=5, repeats=10)
    assert all(0 < each < 1 for each in times)
    (steps,) = model.step_times({"x": x}, warmup=3, runs=1)
    assert len(steps) == 3
    assert all(step.duration_s > 0 for step in steps)


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("text", [NETWORK, FEW_ROWS])
def test_a_bundle_is_timed_and_a_plan_made_of_the_fastest(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    bundle, times, folder = (str(tmp_path / name) for name in ("b", "t.json", "c"))
    words = ["compile", str(written(text, tmp_path)), "--target", "cuda", "-o", folder]
    assert run([*words, "--bundle", bundle]) == 0
    assert all(tuned.best is not None for tuned in time_bundle(tmp_path / "b").groups.values())
    assert run(["time", bundle, "-o", times]) == 0
    assert run([*words, "--timings", times]) == 0


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize(("batch", "edge"), [(1, 224), (2, 64), (16, 224), (64, 224)])
def test_gathered_convolutions_are_right_at_any_size(
    batch: int, edge: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    text = STEM.format(batch=batch, edge=edge, out=edge // 4)
    words = ["compile", str(written(text, tmp_path)), "--target", "cuda", "--no-tune"]
    assert run([*words, "-o", str(tmp_path / "c")]) == 0  # what differs is not written
