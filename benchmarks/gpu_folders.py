"""Folders of `burnish compile --target sm_90`, made here and run where a card is.

    python benchmarks/gpu_folders.py build MODEL.onnx,… -o build/gpu_folders [--shape batch=1]
    python benchmarks/gpu_folders.py run build/gpu_folders -o times.json

`build` needs no card: it compiles each model, draws inputs (floats by recipe), and stores what ONNX
Runtime gives for them on the CPU. `run` needs NumPy, cuda-bindings and a card: it loads each folder
as anybody would (`burnish.load`), compares, and times replays of its graph as a caller sees them
and on the card's own clock (one, and ten in one graph), and each step. It prints one JSON document,
with what failed and why.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from burnish.core import records
from burnish.core.array_types import name_of
from burnish.core.arrays import Arrays
from burnish.core.tensors import FLOATS
from burnish.cuda.recipe import Recipe, made

Report = dict[str, Any]

COMPILED, EXPECTED = "compiled", "expected.npz"
RECIPES, STORED = "inputs.json", "inputs.npz"
SAMPLE = 1 << 16
"""Elements of each output that are compared."""
WARMUP, RUNS = 20, 200
ROUNDS = 20
"""In which each step is timed by itself."""


def drawn(model: Path, sizes: dict[str, int]) -> tuple[dict[str, Recipe], Arrays]:
    """Return inputs for a model: floats that can be made anywhere, and the rest as it is."""
    from burnish.feeds.choose import choose
    from burnish.study.given import model_of

    recipes, stored = {}, {}
    (found,) = choose(model_of(model, None), bindings=sizes, seed=0, samples=1)
    for number, (name, array) in enumerate(found.arrays.items()):
        if name_of(array) in FLOATS:
            recipes[name] = Recipe(name_of(array), array.shape, number + 1)
        else:
            stored[name] = array
    return recipes, stored


def read_feeds(place: Path) -> dict[str, np.ndarray]:
    """Return what a folder is fed."""
    told = json.loads((place / RECIPES).read_text())
    feeds = {name: made(records.decode(Recipe, each)) for name, each in told.items()}
    with np.load(place / STORED) as stored:
        return {**feeds, **stored}


def expected(model: Path, feeds: Arrays) -> dict[str, np.ndarray]:
    """Return what ONNX Runtime gives on the CPU."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    outputs = session.run(None, dict(feeds))
    names = [each.name for each in session.get_outputs()]
    return {name: sample(array) for name, array in zip(names, outputs, strict=True)}


def sample(array: np.ndarray) -> np.ndarray:
    """Return elements from all over an array."""
    flat = np.asarray(array).reshape(-1)
    return flat[:: max(flat.size // SAMPLE, 1)].astype(np.float32)


def build(model: Path, place: Path, sizes: dict[str, int], target: str) -> None:
    """Write the folder of one model, what to feed it, and what must come of it."""
    import burnish

    begun = time.monotonic()
    place.mkdir(parents=True, exist_ok=True)
    shape = {"shape": sizes} if sizes else {}
    report = burnish.compile(model, output=place / COMPILED, target=target, **shape)
    recipes, stored = drawn(model, sizes)
    told = {name: records.encode(recipe) for name, recipe in recipes.items()}
    (place / RECIPES).write_text(json.dumps(told))
    np.savez(place / STORED, **stored)
    np.savez(place / EXPECTED, **expected(model, read_feeds(place)))
    steps = report.plans[0].steps
    print(f"{place.name}: {len(steps)} steps, {time.monotonic() - begun:.0f} s", file=sys.stderr)


def run(place: Path) -> Report:
    """Return how near and how fast a folder is."""
    import burnish

    feeds = read_feeds(place)
    begun = time.monotonic()
    with burnish.load(place / COMPILED) as model:
        outputs = model.run(feeds)
        ready_s = time.monotonic() - begun
        with np.load(place / EXPECTED) as wanted:
            errors = {name: apart(sample(outputs[name]), wanted[name]) for name in wanted.files}
        replay = model.prepare(feeds)
        times = [timed(replay) for _ in range(WARMUP + RUNS)][WARMUP:]
        executable: Any = model.executable(feeds)
        # one with ONNX Runtime parts is no graph: it goes back and forth
        graphs = [
            executable.times_s(feeds, warmup=WARMUP, runs=RUNS, repeats=repeats)
            for repeats in ((1, 10) if hasattr(executable, "times_s") else ())
        ]
        rounds = executable.step_times(feeds, warmup=5, runs=ROUNDS)
        steps = [
            statistics.median(each.duration_s for each in one) for one in zip(*rounds, strict=True)
        ]
        plan = executable.plan
    rows = [
        {
            "step": getattr(step, "kernel", getattr(step, "file", "")),
            "nodes": list(step.nodes),
            "us": 1e6 * took,
            "predicted_us": 1e6 * (getattr(step, "predicted_s", None) or 0.0),
        }
        for step, took in zip(plan.steps, steps, strict=True)
    ]
    return {
        "model": place.name, "target": plan.target, "errors": errors, "ready_s": ready_s,
        "kernels": len(plan.kernel_steps), "ort_parts": len(plan.ort_steps),
        "arena_bytes": plan.arena_bytes, "median_us": 1e6 * statistics.median(times),
        "least_us": 1e6 * min(times),
        "graph_us": [1e6 * statistics.median(each) for each in graphs],
        "steps_us": 1e6 * sum(steps),
        "predicted_us": sum(row["predicted_us"] for row in rows), "steps": rows,
    }  # fmt: skip


def timed(call: Any) -> float:  # noqa: ANN401
    """Return the seconds of one call."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def apart(here: np.ndarray, there: np.ndarray) -> float:
    """Return how far two arrays are apart, relative to the second's length."""
    return float(np.linalg.norm(here - there) / max(np.linalg.norm(there), 1e-30))


def run_all(place: Path) -> list[Report]:
    """Return what became of each folder; one that fails is told, and the next is run."""
    found = []
    for each in sorted(path.parent for path in place.glob(f"*/{RECIPES}")):
        try:
            found.append(run(each))
        except Exception:
            found.append({"model": each.name, "failed": traceback.format_exc()})
    return found


def main() -> None:
    """Build or run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("build", "run"))
    parser.add_argument("of")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--shape", default="")
    parser.add_argument("--target", default="sm_90")
    asked = parser.parse_args()
    if asked.what == "build":
        sizes = {k: int(v) for k, v in (s.split("=") for s in asked.shape.split(",") if s)}
        for text in asked.of.split(","):
            model = Path(text)
            build(model, asked.output / model.stem, sizes, asked.target)
        return
    text = json.dumps(run_all(Path(asked.of)), indent=1)
    print(text)
    if asked.output:
        asked.output.write_text(text)


if __name__ == "__main__":
    main()
