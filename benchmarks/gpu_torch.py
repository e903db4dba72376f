"""`torch.compile(model, backend="burnish")` on a card, against eager and the default back end.

python benchmarks/gpu_torch.py [--models bert-base,vit-s32,…] [--batch 1] [-o gpu_torch.json]

Every model is compiled by both back ends in processes side by side, which fills their caches; then
one after the other is measured in a process of its own: results against PyTorch's in f32, eager's
own error beside them, and blocking calls of all three in turns. Needs an NVIDIA GPU and torch;
`--device cpu --small` tries the script itself without one. Fails where a model differs from
eager, where PyTorch had to run a graph, or where the default back end is faster.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

MODELS = "bert-base,vit-s32,mobilenet-v2,nafnet,gpt2"
BACK_ENDS = ("inductor", "burnish")
ALLOWED = 1.02
"""Of the default's time: what two equal ones differ by is within it."""
ROUNDS, BLOCK_S = 9, 0.05
HEAD = """| model | eager | default | burnish | default / burnish | error (eager's) | shared |
|---|--:|--:|--:|--:|--:|--:|"""
Row = dict[str, Any]
Module = Any


def built(name: str, batch: int, device: str, *, small: bool) -> tuple[Module, dict[str, Any]]:
    """Return a model in f16 (f32 on a CPU, for the zoo's) and its inputs, on a device."""
    import gpu_unseen

    from burnish.zoo.entry import MODELS, NetworkOptions

    precision = "fp32" if device == "cpu" else "fp16"
    options = NetworkOptions(precision=precision, batch=batch, small=small)
    unseen = gpu_unseen.is_unseen(name)
    made = gpu_unseen.built(name, batch) if unseen else MODELS[name].build(options)
    return made.module.to(device), {key: each.to(device) for key, each in made.inputs.items()}


def compiled(module: Module, name: str) -> Callable[..., Any]:
    """Return a module under a back end, found by its name as anybody would ask for it."""
    import torch

    found: Callable[..., Any] = torch.compile(module, backend=name)
    return found


def first_call_s(name: str, batch: int, device: str, back_end: str, *, small: bool) -> float:
    """Return how long compiling takes, which leaves the result in the back end's cache."""
    import torch

    module, inputs = built(name, batch, device, small=small)
    begun = time.perf_counter()
    with torch.inference_mode():
        compiled(module, back_end)(**inputs)
    return time.perf_counter() - begun


def measured(name: str, batch: int, device: str, *, small: bool) -> Row:
    """Return how far results are from f32's, and how long blocking calls take, in turns."""
    import torch

    from burnish.bench.on_card import alone_on
    from burnish.integrations.torch_backend import graph_breaks, graphs
    from burnish.timing.turns import Turns, take_turns

    module, inputs = built(name, batch, device, small=small)
    calls = {"eager": module, **{each: compiled(module, each) for each in BACK_ENDS}}
    with torch.inference_mode():
        wide = copy.deepcopy(module).float()
        wanted = _outputs(wide(**{key: _wide(each) for key, each in inputs.items()}))
        found = {each: _outputs(call(**inputs)) for each, call in calls.items()}
    del wide
    with alone_on("cpu" if device == "cpu" else "cuda:0"):
        rounds = take_turns(
            [_blocking(call, inputs, device) for call in calls.values()],
            Turns(ROUNDS, warmup=2, calls=5, settling=3, block_s=BLOCK_S),
        )
    levels = {
        each: [statistics.median(one) for one in own]
        for each, own in zip(calls, rounds, strict=True)
    }
    ratios = [a / b for a, b in zip(levels["inductor"], levels["burnish"], strict=True)]
    return {
        "model": name, "batch": batch, "from_eager": _apart(found["burnish"], found["eager"]),
        "errors": {each: _apart(outputs, wanted) for each, outputs in found.items()},
        "median_s": {each: statistics.median(own) for each, own in levels.items()},
        "range_s": {each: [min(own), max(own)] for each, own in levels.items()},
        "ratio": statistics.median(ratios), "ratios": ratios,
        "kernels": [each.kernels for each in graphs()],
        "eager_graphs": [each.eager for each in graphs() if each.eager],
        "graph_breaks": [[each.reason, each.times] for each in graph_breaks()],
        "shared_bytes": sum(each.shared_bytes for each in graphs()),
        "copied_bytes": sum(each.copied_bytes for each in graphs()),
    }  # fmt: skip


def _wide(value: Any) -> Any:  # noqa: ANN401
    return value.float() if value.is_floating_point() else value


def _outputs(result: Any) -> list[Any]:  # noqa: ANN401
    from burnish.engines.torch_session import flat_outputs

    return [each.float().clone() for each in flat_outputs(result)]


def _apart(found: list[Any], wanted: list[Any]) -> float:
    """Return how far results are apart, relative to the second's length; the worst output's."""
    pairs = zip(found, wanted, strict=True)
    return max(float((a - b).norm() / b.norm().clamp_min(1e-30)) for a, b in pairs)


def _blocking(call: Callable[..., Any], inputs: dict[str, Any], device: str) -> Callable[[], None]:
    import torch

    wait = (lambda: None) if device == "cpu" else torch.cuda.synchronize

    def run() -> None:
        with torch.inference_mode():
            call(**inputs)
        wait()

    return run


def in_process(asked: argparse.Namespace, name: str, what: str) -> Row:
    """Return what a process of its own finds; one that fails says why."""
    words = [sys.executable, __file__, "--models", name, "--only", what, "--device", asked.device]
    words += ["--batch", str(asked.batch), *(["--small"] if asked.small else [])]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=asked.limit)
    except subprocess.TimeoutExpired:
        return {"model": name, "failed": f"{what} took more than {asked.limit} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"model": name, "failed": (done.stderr or done.stdout)[-1500:]}
    found: Row = json.loads(lines[-1])
    return found


def all_compiled(asked: argparse.Namespace, names: list[str]) -> list[Row]:
    """Compile every model with both back ends, side by side; return what became of each."""
    with ThreadPoolExecutor(2 * len(names)) as pool:
        jobs = [(name, each) for name in names for each in BACK_ENDS]
        return list(pool.map(lambda job: in_process(asked, *job), jobs))


def told(row: Row) -> str:
    """Return a row of the table."""
    if "failed" in row:
        return f"| {row['model']} | failed: {row['failed'].strip().splitlines()[-1][:200]} |"
    micro = {each: f"{1e6 * s:,.0f} µs" for each, s in row["median_s"].items()}
    errors = row["errors"]
    eager = f"; PyTorch runs: {row['eager_graphs'][0]}" if row["eager_graphs"] else ""
    return (
        f"| {row['model']} b{row['batch']} | {micro['eager']} | {micro['inductor']} |"
        f" {micro['burnish']} | {row['ratio']:.2f} ({min(row['ratios']):.2f} –"
        f" {max(row['ratios']):.2f}) | {errors['burnish']:.1e} ({errors['eager']:.1e}) |"
        f" {row['shared_bytes'] / 2**20:.1f} of"
        f" {(row['shared_bytes'] + row['copied_bytes']) / 2**20:.1f} MiB |{eager}"
    )


def holds(row: Row) -> bool:
    """Say whether a model equals eager, runs on our kernels, and is not slower than the default."""
    if "failed" in row or row["eager_graphs"]:
        return False
    near = row["errors"]["burnish"] <= max(2 * row["errors"]["eager"], 1e-3)
    return bool(near and row["ratio"] * ALLOWED >= 1)


def main() -> int:
    """Compile all side by side, then measure one after the other; return 1 if one falls short."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--limit", type=int, default=150, help="seconds for each process")
    parser.add_argument("--compile-only", action="store_true", help="fill the caches")
    parser.add_argument("--compiled", action="store_true", help="the caches are filled")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    names = asked.models.split(",")
    if asked.only == "measure":
        print(json.dumps(measured(names[0], asked.batch, asked.device, small=asked.small)))
        return 0
    if asked.only:
        took = first_call_s(names[0], asked.batch, asked.device, asked.only, small=asked.small)
        print(json.dumps({"model": names[0], "first_call_s": {asked.only: took}}))
        return 0
    first = [] if asked.compiled else all_compiled(asked, names)
    if asked.compile_only:
        print(json.dumps(first, indent=1))
        return 0
    rows = []
    print(HEAD, flush=True)
    for name in names:
        row = in_process(asked, name, "measure")
        row["compiling"] = [each for each in first if each["model"] == name]
        rows.append(row)
        print(told(row), flush=True)
        if asked.output:
            asked.output.write_text(json.dumps(rows, indent=1))
    return int(not all(map(holds, rows)))


if __name__ == "__main__":
    raise SystemExit(main())
