"""Zoo models compiled for a card here and run there, where neither PyTorch nor Triton is used.

    python benchmarks/gpu_folder.py build mobilenet-v2:1,nafnet:1,nerf-mlp -o build/gpu_models
    python benchmarks/gpu_folder.py run build/gpu_models -o times.json

`build` needs PyTorch and Triton, and no card: it writes a folder per model with its cubins, inputs
by recipe, and what PyTorch gives for them in fp32 (a sample of large outputs). `run` needs NumPy,
cuda-bindings and a card: it checks the outputs, and times a captured graph and each kernel in it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from burnish.core import records
from burnish.cuda import folder
from burnish.cuda.driver import Driver
from burnish.cuda.recipe import Recipe, made

Module = Any
"""A zoo model: PyTorch has no types here."""

SAMPLE = 1 << 16
"""Elements of each output that are compared."""


def recipes(built: Module) -> dict[str, Recipe]:
    """Return inputs like a model's own, that can be made anywhere."""
    found = {}
    for number, (name, tensor) in enumerate(built.inputs.items()):
        kind = str(tensor.dtype).removeprefix("torch.")
        dtype = {"float16": "f16", "float32": "f32", "int64": "i64", "bool": "bool"}[kind]
        low, high = (float(tensor.min()), float(tensor.max()))
        if dtype == "i64":
            high += 1
        found[name] = Recipe(dtype, tuple(tensor.shape), number + 1, low, high)
    return found


def expected(built: Module, inputs: dict[str, Recipe]) -> list[np.ndarray]:
    """Return what PyTorch gives in fp32."""
    import torch

    tensors = []
    for each in inputs.values():
        tensor = torch.from_numpy(made(each))
        tensors.append(tensor.float() if tensor.is_floating_point() else tensor)
    with torch.inference_mode():
        result = built.module.float()(*tensors)
    results = (
        [result]
        if isinstance(result, torch.Tensor)
        else list(result.values() if isinstance(result, dict) else result)
    )
    return [sample(each.numpy()) for each in results]


def sample(array: np.ndarray) -> np.ndarray:
    """Return elements from all over an array."""
    flat = np.asarray(array).reshape(-1)
    return flat[:: max(flat.size // SAMPLE, 1)].astype(np.float32)


def build(text: str, target: Path) -> None:
    """Write the folder of one case."""
    import gpu_kernels as cases

    from burnish.codegen.gpu.work import work_of
    from burnish.cuda.assemble import assemble, sources
    from burnish.cuda.build import BuildOptions
    from burnish.cuda.build import build as compile_all
    from burnish.cuda.kernel import BuiltCubin

    case = cases.parse_case(text)
    begun = time.monotonic()
    model = cases.build(case, small=False)
    inputs = recipes(model)
    work = work_of(cases.planned(cases.exported(model), "full"))
    needed = sources([work])
    found = compile_all(needed, "sm_90", BuildOptions(cache=target / "cache"))
    failed = {
        s.name: o.reason
        for s, o in zip(needed, found, strict=True)
        if not isinstance(o, BuiltCubin)
    }
    if failed:
        raise SystemExit(f"{text}: {failed}")
    place = target / case.label
    folder.write(place, assemble([work], dict(zip(needed, found, strict=True))))
    (place / "inputs.json").write_text(
        json.dumps({n: records.encode(r) for n, r in inputs.items()})
    )
    np.savez(place / "expected.npz", *expected(model, inputs))
    print(
        f"{text}: {len(work.calls)} launches of {len(needed)} kernels,"
        f" {time.monotonic() - begun:.0f} s"
    )


def run(place: Path, driver: Driver) -> dict[str, Any]:
    """Return how near and how fast a folder is."""
    begun = time.monotonic()
    model = folder.load(place, driver)
    told = json.loads((place / "inputs.json").read_text())
    feeds = {name: made(records.decode(Recipe, each)) for name, each in told.items()}
    feeds = {name: feeds[name] for name in model.table.plans[0].inputs}
    ready = time.monotonic() - begun
    outputs = list(model.run(feeds).values())
    with np.load(place / "expected.npz") as wanted:
        errors = [apart(sample(o), wanted[n]) for o, n in zip(outputs, wanted.files, strict=False)]
    times = model.times_s(feeds, warmup=10, runs=50)
    ten = model.times_s(feeds, warmup=3, runs=20, repeats=10)
    rounds = model.step_times(feeds, warmup=5, runs=20)
    plan = model.table.plans[0]
    steps = [
        {
            "kernel": step.kernel,
            "nodes": list(step.nodes),
            "us": 1e6 * statistics.median(each.duration_s for each in every),
        }
        for step, every in zip(plan.kernel_steps, zip(*rounds, strict=True), strict=False)
    ]
    model.close()
    found = {
        "model": place.name, "errors": errors, "ready_s": ready, "launches": len(plan.kernel_steps),
        "median_us": 1e6 * statistics.median(times), "ten_us": 1e6 * statistics.median(ten),
        "kernels_us": sum(each["us"] for each in steps), "steps": steps,
    }  # fmt: skip
    print({name: value for name, value in found.items() if name != "steps"}, flush=True)
    return found


def apart(here: np.ndarray, there: np.ndarray) -> float:
    """Return how far two arrays are apart, relative to the second's length."""
    return float(np.linalg.norm(here - there) / max(np.linalg.norm(there), 1e-30))


def main() -> None:
    """Build or run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("build", "run"))
    parser.add_argument("of")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    if asked.what == "build":
        for text in asked.of.split(","):
            build(text, asked.output)
        return
    from burnish.cuda.nvidia import NvidiaDriver

    driver, found = NvidiaDriver(), []
    for place in sorted(path.parent for path in Path(asked.of).glob("*/device.json")):
        try:
            found.append(run(place, driver))
        except Exception:
            found.append({"model": place.name, "failed": traceback.format_exc()})
            print(found[-1]["failed"], flush=True)
    if asked.output:
        asked.output.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
