"""Whether the runtime for NVIDIA cards works here: three kernels, built, run, checked and timed.

    python benchmarks/gpu_smoke.py                     build here, run here
    python benchmarks/gpu_smoke.py --build-only FILE   build for sm_90 where there is no card
    python benchmarks/gpu_smoke.py --built FILE        run what was built there: only your own

Needs `src` on PYTHONPATH, NumPy, cuda-bindings; Triton to build, PyTorch for the comparison.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import pickle
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from burnish.core.tensors import TensorSpec
from burnish.cuda.assemble import BoundWork, CubinCall, assemble, sources
from burnish.cuda.build import BuildOptions, build
from burnish.cuda.driver import Driver
from burnish.cuda.kernel import BuiltCubin, TritonSource
from burnish.cuda.model import DeviceModel
from burnish.cuda.nvidia import NvidiaDriver

ROWS, WIDTH, HIDDEN = 4096, 1024, 1024
EPSILON = 1e-5

NORM = f"""
import triton
import triton.language as tl


@triton.jit
def layer_norm(x, scale, shift, y):
    column = tl.arange(0, {WIDTH})
    place = tl.program_id(0) * {WIDTH} + column
    values = tl.load(x + place).to(tl.float32)
    mean = tl.sum(values, 0) / {WIDTH}
    apart = values - mean
    deviation = tl.sqrt(tl.sum(apart * apart, 0) / {WIDTH} + {EPSILON})
    scaled = apart / deviation * tl.load(scale + column) + tl.load(shift + column)
    tl.store(y + place, scaled.to(tl.float16))
"""

PRODUCT = f"""
import triton
import triton.language as tl


@triton.jit
def product_relu(a, b, c):
    left = tl.make_tensor_descriptor(a, [{ROWS}, {WIDTH}], [{WIDTH}, 1], [128, 64])
    right = tl.make_tensor_descriptor(b, [{WIDTH}, {HIDDEN}], [{HIDDEN}, 1], [64, 256])
    out = tl.make_tensor_descriptor(c, [{ROWS}, {HIDDEN}], [{HIDDEN}, 1], [128, 256])
    m = tl.program_id(0) * 128
    n = tl.program_id(1) * 256
    total = tl.zeros((128, 256), tl.float32)
    for k in range(0, {WIDTH}, 64):
        total = tl.dot(left.load([m, k]), right.load([k, n]), total)
    out.store([m, n], tl.maximum(total, 0.0).to(tl.float16))
"""

SUMS = f"""
import triton
import triton.language as tl


@triton.jit
def column_sums(x, total):
    column = tl.program_id(1) * 128 + tl.arange(0, 128)
    row = tl.program_id(0) * 64 + tl.arange(0, 64)
    values = tl.load(x + row[:, None] * {HIDDEN} + column[None, :]).to(tl.float32)
    tl.atomic_add(total + column, tl.sum(values, 0))
"""


def work() -> BoundWork:
    """Return y = relu(layer_norm(x) @ w), and the sums of its columns."""
    rng = np.random.default_rng(0)
    norm = TritonSource("layer_norm", NORM, ("f16", "f32", "f32", "f16"), warps=4, stages=1)
    product = TritonSource("product_relu", PRODUCT, ("f16", "f16", "f16"), warps=8, stages=3)
    sums = TritonSource("column_sums", SUMS, ("f16", "f32"), warps=4, stages=1)
    tensors = {
        "x": TensorSpec("x", "f16", (ROWS, WIDTH)),
        "scale": TensorSpec("scale", "f32", (WIDTH,)),
        "shift": TensorSpec("shift", "f32", (WIDTH,)),
        "w": TensorSpec("w", "f16", (WIDTH, HIDDEN)),
        "normed": TensorSpec("normed", "f16", (ROWS, WIDTH)),
        "y": TensorSpec("y", "f16", (ROWS, HIDDEN)),
        "sums": TensorSpec("sums", "f32", (HIDDEN,)),
    }
    tiles = (ROWS // 128, HIDDEN // 256, 1)
    return BoundWork(
        calls=(
            CubinCall(
                norm, ("x", "scale", "shift", "normed"), ("normed",), (ROWS, 1, 1), nodes=("norm",)
            ),
            CubinCall(product, ("normed", "w", "y"), ("y",), tiles, nodes=("product", "relu")),
            CubinCall(
                sums, ("y", "sums"), ("sums",), (ROWS // 64, HIDDEN // 128, 1),
                zeroed=("sums",), nodes=("sums",),
            ),
        ),
        tensors=tensors,
        inputs=("x",),
        outputs=("y", "sums"),
        constants={
            "scale": rng.uniform(0.5, 1.5, WIDTH).astype(np.float32),
            "shift": rng.normal(size=WIDTH).astype(np.float32),
            "w": (rng.normal(size=(WIDTH, HIDDEN)) / WIDTH**0.5).astype(np.float16),
        },
    )  # fmt: skip


def expected(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the work must give, by NumPy in double precision."""
    constants = {name: each.astype(np.float64) for name, each in work().constants.items()}
    wide = x.astype(np.float64)
    apart = wide - wide.mean(1, keepdims=True)
    normed = apart / np.sqrt((apart**2).mean(1, keepdims=True) + EPSILON)
    normed = (normed * constants["scale"] + constants["shift"]).astype(np.float16)
    # in f32: double precision takes NumPy a minute, and f16 outputs cannot tell
    y = np.maximum(normed.astype(np.float32) @ constants["w"].astype(np.float32), 0)
    return {"y": y, "sums": y.astype(np.float16).astype(np.float64).sum(0)}


def check(found: dict[str, Any], wanted: dict[str, np.ndarray], what: str) -> None:
    """Print how far off outputs are; raise if that is too far."""
    for name, right in wanted.items():
        here = np.asarray(found[name]).astype(np.float64)
        off = np.abs(here - right).max() / np.abs(right).max()
        print(f"  {what}: {name} is off by {off:.2g} of its largest element")
        if not off < 4e-3:
            raise SystemExit(f"{what}: {name} is wrong")


def versions() -> None:
    """Print what is installed."""
    for name in (
        "numpy",
        "torch",
        "triton",
        "cuda-bindings",
        "cuda-python",
        "ml_dtypes",
        "platformdirs",
    ):
        try:
            print(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: not installed")
    print(f"python {sys.version.split()[0]}, {len(os.sched_getaffinity(0))} cores")


def built(cache: Path) -> dict[TritonSource, BuiltCubin]:
    """Return the kernels for Hopper."""
    start = time.perf_counter()
    needed = sources([work()])
    found = {}
    for source, outcome in zip(
        needed, build(needed, "sm_90", BuildOptions(cache=cache)), strict=True
    ):
        if not isinstance(outcome, BuiltCubin):
            raise SystemExit(f"{source.name}: {outcome.reason}")
        kernel = outcome.kernel
        print(
            f"  {source.name}: {kernel.architecture}, {kernel.registers} registers,"
            f" {kernel.spilled_words} spilled, {kernel.shared_bytes} B shared,"
            f" {kernel.program_bytes} B per program, CUDA {kernel.toolkit}, PTX {kernel.ptx},"
            f" {len(outcome.code)} B"
        )
        found[source] = outcome
    print(f"  built in {time.perf_counter() - start:.1f} s")
    return found


def run(model: DeviceModel, driver: Driver) -> None:
    """Run, check and time."""
    device = driver.device
    print(f"{device.name}, {device.architecture}, driver for CUDA {device.driver}, {device}")
    x = np.random.default_rng(1).normal(size=(ROWS, WIDTH)).astype(np.float16)
    wanted = expected(x)
    for number in range(3):
        check(model.run({"x": x}), wanted, f"host to host, run {number}")
    times = model.times_s({"x": x}, warmup=20, runs=100)
    print(
        f"  graph: median {1e6 * statistics.median(times):.1f} us, least {1e6 * min(times):.1f} us"
    )
    ten = model.times_s({"x": x}, warmup=5, runs=50, repeats=10)
    print(f"  ten in one graph: median {1e6 * statistics.median(ten):.1f} us each")
    rounds = model.step_times({"x": x}, warmup=20, runs=50)
    for step, every in zip(
        model.table.plans[0].kernel_steps, zip(*rounds, strict=True), strict=True
    ):
        middle = statistics.median(each.duration_s for each in every)
        print(f"    {', '.join(step.nodes)} ({step.kernel}): {1e6 * middle:.1f} us")
    once = model.prepare({"x": x})
    once()
    start = time.perf_counter()
    for _ in range(100):
        once()
    print(f"  prepared run, host's clock: {1e4 * (time.perf_counter() - start):.1f} us")


def with_torch(model: DeviceModel) -> None:
    """Share tensors with PyTorch, in its streams, without copies."""
    import torch

    x = np.random.default_rng(2).normal(size=(ROWS, WIDTH)).astype(np.float16)
    wanted = expected(x)
    tensor = torch.from_numpy(x).cuda()
    found = model.run({"x": tensor})
    y = torch.from_dlpack(found["y"])
    assert y.is_cuda
    assert y.data_ptr() == found["y"].address
    check(
        {name: torch.from_dlpack(each).cpu().numpy() for name, each in found.items()},
        wanted,
        "torch in and out",
    )
    side = torch.cuda.Stream()
    for number in range(6):
        with torch.cuda.stream(side):
            mine = torch.from_numpy(x).cuda(non_blocking=True) * (number + 1)
            outputs = model.run({"x": mine}, stream=side)
            doubled = 2 * torch.from_dlpack(outputs["y"])
        del outputs, mine
        side.synchronize()
        half = {"y": (doubled / 2).cpu().numpy()}
    # a layer norm does not see the scale of what it is given
    check(half, {"y": wanted["y"]}, "in torch's own stream")
    default = torch.cuda.current_stream()
    call = lambda: model.run({"x": tensor}, stream=default)  # noqa: E731
    print(f"  run() in torch's stream, host's clock: {1e6 * host_seconds(call):.1f} us a call")
    compare(model, tensor, torch)


def compare(model: DeviceModel, tensor: Any, torch: Any) -> None:  # noqa: ANN401
    """Print what PyTorch takes for the same in a CUDA graph."""
    constants = {name: torch.from_numpy(each).cuda() for name, each in work().constants.items()}
    scale, shift = constants["scale"].half(), constants["shift"].half()

    def eager() -> None:
        normed = torch.nn.functional.layer_norm(tensor, (WIDTH,), scale, shift, EPSILON)
        torch.relu(normed @ constants["w"]).sum(0, dtype=torch.float32)

    for _ in range(3):
        eager()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        eager()
    start, end = torch.cuda.Event(True), torch.cuda.Event(True)
    found = []
    for _ in range(100):
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end))
    print(f"  torch eager in a graph: median {1e3 * statistics.median(found):.1f} us")


def host_seconds(call: Callable[[], object]) -> float:
    """Return how long one call keeps the host."""
    for _ in range(20):
        call()
    start = time.perf_counter()
    for _ in range(200):
        call()
    return (time.perf_counter() - start) / 200


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build-only", type=Path)
    parser.add_argument("--built", type=Path)
    parser.add_argument("--no-torch", action="store_true")
    asked = parser.parse_args()
    versions()
    if asked.built:
        driver = NvidiaDriver()
        done = pickle.loads(asked.built.read_bytes())
    else:
        with tempfile.TemporaryDirectory() as cache:
            done = assemble([work()], built(Path(cache)))
        if asked.build_only:
            asked.build_only.write_bytes(pickle.dumps(done))
            return
        driver = NvidiaDriver()
    model = DeviceModel(driver, done.table, done.code, done.constants, where="smoke")
    run(model, driver)
    if not asked.no_torch:
        with_torch(model)
    model.close()
    print("all well")


if __name__ == "__main__":
    main()
