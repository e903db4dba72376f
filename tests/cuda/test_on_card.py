"""The same on a real card: cubins built here, graphs, and memory that is shared with PyTorch."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from burnish.core.tensors import TensorSpec
from burnish.cuda.assemble import BoundWork, CubinCall, assemble
from burnish.cuda.model import DeviceModel
from burnish.cuda.nvidia import NvidiaDriver
from burnish.cuda.time_bundle import TimingRequest, time_bundle
from triton_kernels import SOURCES, built

pytestmark = pytest.mark.gpu

SIZE = 1 << 16
CALLS = ("x", "t", "u", "y")


def work(kernel: str) -> BoundWork:
    """Return y = 8x, by three kernels each of which reads what the one before it wrote."""
    return BoundWork(
        calls=tuple(
            CubinCall(SOURCES[kernel], (a, b), (b,), (SIZE // 128, 1, 1), nodes=(f"double_{a}",))
            for a, b in pairwise(CALLS)
        ),
        tensors={name: TensorSpec(name, "f32", (SIZE,)) for name in CALLS},
        inputs=("x",),
        outputs=("y",),
    )


@pytest.fixture(params=["double", "waiting"])
def model(card: NvidiaDriver, request: pytest.FixtureRequest) -> DeviceModel:
    """Return a model whose kernels start one after the other, or early."""
    kernel = request.param
    if kernel == "waiting" and card.device.capability < (9, 0):
        pytest.skip("only from Hopper on kernels start early")
    done = assemble([work(kernel)], {SOURCES[kernel]: built(kernel, card.device.architecture)})
    return DeviceModel(card, done.table, done.code, done.constants, where="test")


def test_arrays_go_there_and_come_back(model: DeviceModel) -> None:
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=SIZE).astype(np.float32)
        np.testing.assert_array_equal(model.run({"x": x})["y"], 8 * x)
    model.close()


def test_tensors_are_shared_in_any_stream(model: DeviceModel) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(SIZE, device="cuda")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for _ in range(10):
                y = torch.from_dlpack(model.run({"x": x}, stream=stream)["y"])
                assert torch.equal(y, 8 * x)
                x = x + 1


def test_times_are_plausible(model: DeviceModel) -> None:
    x = np.zeros(SIZE, np.float32)
    times = model.times_s({"x": x}, warmup=3, runs=5, repeats=10)
    assert all(0 < each < 1 for each in times)
    (steps,) = model.step_times({"x": x}, warmup=3, runs=1)
    assert len(steps) == 3
    assert all(step.duration_s > 0 for step in steps)


def test_a_bundle_is_timed(card: NvidiaDriver, tmp_path: Path) -> None:
    from burnish.cuda import bundle as bundles
    from burnish.cuda.bundle import BundledCandidate, BundledGroup
    from burnish.cuda.expected import Expected
    from burnish.cuda.recipe import Recipe, made

    recipe = Recipe("f32", (SIZE,), seed=1)
    expected = Expected((((0, SIZE),),), ("right",), relative=1e-6, scale=1.0)
    group = BundledGroup(
        "s", {"x": recipe}, {"y": expected}, (BundledCandidate("one", work("double")),)
    )
    values = {"right": 8 * made(recipe)}
    path = tmp_path / "b"
    bundles.write(
        path, bundles.prepare([group], values, card.device.architecture, generator="test")
    )
    (found,) = time_bundle(TimingRequest(path)).groups
    assert found.best is not None, found.timings
