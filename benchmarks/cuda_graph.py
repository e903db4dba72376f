"""BERT-base in fp16 on a GPU, eager: what does burnish say holds it back, and is it right?

python benchmarks/cuda_graph.py [--folder DIR] [--shapes 1,128 32,512] [--name bert-base]

Profiles PyTorch's eager model, prints the diagnosis, then captures a CUDA graph of the same call
and replays it. Fails where a gain was predicted for the graph and is more than 15 % off. Needs an
NVIDIA GPU and torch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ALLOWED = 0.15
CALLS, WARMUP = 200, 20


def main() -> int:
    """Run all shapes, print a row each; return 1 if a prediction is too far off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("cuda-graph-bench"))
    parser.add_argument("--name", default="bert-base")
    parser.add_argument("--shapes", nargs="*", default=["1,128", "32,512"])
    asked = parser.parse_args()
    burnish("export", asked.name, "-p", "fp16", "--store", asked.folder)
    path = next(asked.folder.rglob("*.onnx"))
    bad = 0
    for shape in asked.shapes:
        bad += not agrees(path, *map(int, shape.split(",")))
    return int(bad > 0)


def agrees(path: Path, batch: int, sequence: int) -> bool:
    """Print what was predicted and what was measured; return whether they are near enough."""
    sizes = f"batch={batch},sequence={sequence}"
    found = diagnosed(path, sizes)
    graph = next((one for one in found["advice"] if "CUDA graph" in one["what"]), None)
    eager_s, graph_s = measured(path, {"batch": batch, "sequence": sequence})
    ratio = eager_s / graph_s
    print(f"\n({batch},{sequence}): {found['sentence']}")
    kinds = ", ".join(f"{kind} {1e6 * s:.0f} µs" for kind, s in found["families"].items())
    print(f"  kinds of work: {kinds}")
    print(f"  eager {1e3 * eager_s:.3f} ms, CUDA graph {1e3 * graph_s:.3f} ms: {ratio:.2f}×")
    if graph is None:
        print("  no gain was predicted for a CUDA graph")
        return ratio < 1.15
    off = graph["gain"] / ratio - 1
    print(f"  predicted {graph['gain']:.2f}×, off by {100 * off:+.1f} %")
    return abs(off) <= ALLOWED


def diagnosed(path: Path, sizes: str) -> dict[str, Any]:
    """Return the diagnosis of `burnish profile`."""
    words = ("profile", path, "--engine", "torch-eager", "--shape", sizes, "--runs", "20", "--json")
    told = json.loads(burnish(*words))
    (profile,) = told["profiles"]
    return dict(profile["diagnosis"])


def measured(path: Path, sizes: dict[str, int]) -> tuple[float, float]:
    """Return the median of eager calls and of replays of a CUDA graph of the same call."""
    import torch

    from burnish.engines.base import ENGINES, EngineOptions
    from burnish.feeds.choose import choose
    from burnish.store import layout

    model = layout.stored(path)
    (feeds,) = choose(model, bindings=sizes)
    with ENGINES["torch-eager"].open(model, EngineOptions()) as session:
        eager_s = timed(session.prepare(feeds.arrays))
        arguments = session._arguments(feeds.arrays)  # type: ignore[attr-defined]
        module = session._opened().module  # type: ignore[attr-defined]
        with torch.inference_mode():
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    module(**arguments)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                module(**arguments)

        def replay() -> None:
            graph.replay()
            torch.cuda.synchronize()

        return eager_s, timed(replay)


def timed(call: Callable[[], object]) -> float:
    """Return the median of many calls that block."""
    for _ in range(WARMUP):
        call()
    samples = []
    for _ in range(CALLS):
        before = time.perf_counter()
        call()
        samples.append(time.perf_counter() - before)
    return statistics.median(samples)


def burnish(*words: object) -> str:
    """Return what a burnish command prints."""
    command = [sys.executable, "-m", "burnish", "-q", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
