"""Any networks as kernels against the engines a user could have picked: one thread, not tuned.

    python benchmarks/one_thread.py FILE.py [--only NAME,…] [--folder KEPT] [--rounds 9]

Each function of FILE without parameters that is public and defined there returns a module and its
inputs, as `burnish export --module` wants it: `networks.py` is one such file, yours another. Each
is exported, compiled as predicted (which compares it with the export) and then takes turns with
ONNX Runtime and OpenVINO in one process; what is compared is processor time, which others who use
the machine disturb less than the clock on the wall. A row tells how often the best of the two
takes our time, what was left to ONNX Runtime, and why; one that is refused tells what was said.
What is in KEPT is not made again.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import burnish
from burnish.feeds.choose import choose
from burnish.store.stored import StoredModel

BLOCK_S = 0.03
"""How long calls of one kind last before another has its turn."""
LIMIT_S = 600.0
Report = dict[str, Any]
Run = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """What became of one network."""

    name: str
    said: str = ""
    """Why there are no kernels; empty: there are."""
    seconds: float = 0.0
    """What compiling took."""
    kernels: int = 0
    left: tuple[str, ...] = ()
    times_s: Mapping[str, float] = field(default_factory=dict)
    """The lower quartile of processor time of a call, by who computes it; ours is `burnish`."""

    @property
    def ratio(self) -> float:
        """Return the best engine's time over ours."""
        others = [found for name, found in self.times_s.items() if name != "burnish"]
        return min(others) / self.times_s["burnish"] if others else math.nan


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each network and the mean; return 1 if one has no kernels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--folder", type=Path, default=Path("out/one-thread"))
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args(argv)
    only = [name for name in asked.only.split(",") if name]
    rows = []
    for name in only or networks(asked.file):
        rows.append(tried(asked.file, name, asked.folder, asked.rounds))
        print(line(rows[-1]), flush=True)
    found = [row.ratio for row in rows if not math.isnan(row.ratio)]
    mean = math.exp(statistics.fmean(map(math.log, found))) if found else math.nan
    print(f"\ngeometric mean of {len(found)}: {mean:.2f}")
    return int(any(row.said for row in rows))


def networks(file: Path) -> list[str]:
    """Return the functions of a file that make a network, in their order; nothing of it runs."""
    return [
        each.name
        for each in ast.parse(file.read_text()).body
        if isinstance(each, ast.FunctionDef)
        and not each.name.startswith("_")
        and not (each.args.args or each.args.kwonlyargs or each.args.vararg)
    ]


def tried(file: Path, name: str, folder: Path, rounds: int) -> Row:
    """Return what became of a network."""
    store, compiled = folder / "models", folder / "compiled" / name
    start = time.monotonic()
    if not [*(store / name).glob("**/*.onnx")]:
        said = _burnish(
            "export", "--module", f"{file.resolve()}:{name}", "--name", name, "--store", str(store),
            "--exporter", "torchscript", "--static",
        )  # fmt: skip
        if isinstance(said, str):
            return Row(name, said)
    (model,) = (store / name).glob("**/*.onnx")
    kept = compiled.with_suffix(".json")
    if not kept.is_file():
        start = time.monotonic()
        said = _burnish(
            "compile", str(model), "-o", str(compiled), "--no-tune", "--threads", "1", "--json"
        )
        if isinstance(said, str):
            return Row(name, said)
        kept.write_text(json.dumps({**said, "benchmark_seconds": time.monotonic() - start}))
    report = json.loads(kept.read_text())
    steps = [step for plan in report["plans"] for step in plan["steps"]]
    left = [f"{node}: {why}" for step in steps for node, why in step["reasons"].items()]
    kernels = sum(step["kind"] == "kernel" for step in steps)
    times = in_turns(_sessions(model, compiled), rounds)
    return Row(name, "", report["benchmark_seconds"], kernels, tuple(left), times)


def _burnish(*words: str) -> Report | str:
    """Return a command's JSON document, if it prints one; where it fails, what it said."""
    command = [sys.executable, "-m", "burnish", "-q", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"{words[0]}: not done within {LIMIT_S:.0f} s"
    if done.returncode:
        return f"{words[0]}: exit code {done.returncode}, {' '.join(done.stderr.split())[-300:]}"
    return dict(json.loads(done.stdout)) if "--json" in words else {}


def _sessions(model: Path, compiled: Path) -> dict[str, Run]:
    """Return what runs a model once on the same inputs, by who does it; what cannot is left out."""
    import onnxruntime
    import openvino

    (fed,) = choose(StoredModel(model, model.stem), samples=1)
    feeds = {name: np.ascontiguousarray(array) for name, array in fed.arrays.items()}
    ours = burnish.load(compiled, threads=1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    theirs = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    found: dict[str, Run] = {
        "burnish": lambda: ours.run(feeds),
        "onnxruntime": lambda: theirs.run(None, feeds),
    }
    told = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    try:
        request = openvino.compile_model(model, "CPU", told).create_infer_request()
        request.infer(feeds)
    except RuntimeError:
        return found
    return {**found, "openvino": lambda: request.infer(feeds, share_outputs=True)}


def in_turns(calls: Mapping[str, Run], rounds: int) -> dict[str, float]:
    """Return the lower quartile of the processor time of one call of each, in turns."""
    for call in calls.values():
        call()
    start = time.process_time()
    next(iter(calls.values()))()
    number = max(1, round(BLOCK_S / max(time.process_time() - start, 1e-6)))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(number):
                call()
            times[name].append((time.process_time() - start) / number)
    return {name: statistics.quantiles(found, n=4)[0] for name, found in times.items()}


def line(row: Row) -> str:
    """Return a row for people."""
    return f"{row.name:24} " + "  ".join(_told(row))


def _told(row: Row) -> Iterator[str]:
    if row.said:
        yield row.said
        return
    yield f"{row.ratio:5.2f}"
    for name, seconds in row.times_s.items():
        yield f"{name} {seconds * 1e3:.2f} ms"
    yield f"{row.kernels} kernels, compiled in {row.seconds:.0f} s"
    yield from (f"left: {each}" for each in row.left)


if __name__ == "__main__":
    sys.exit(main())
