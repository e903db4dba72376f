"""BERT-base in fp16 on a GPU, eager: what does burnish say holds it back, and is it right?

python benchmarks/cuda_graph.py [--folder DIR] [--shapes 1,128 32,512] [--name bert-base] [-o FILE]

Exports it if the folder holds no model (with `--shapes` and nothing behind it, no more is done).
Profiles PyTorch's eager model, prints the diagnosis, then captures a CUDA graph of the same call
and replays it in turns with eager calls. Only the eager model is run: of the ONNX file its
interface and its nodes are read, so its weights may be a file of zeros. A processor whose clock
changes makes eager calls slower and a graph's replay not: where an eager call took a tenth more or
less than when it was profiled, nothing is shown of the prediction, and both are done again, up to
`--tries` times. Fails where what was predicted for the gain is more than 15 % off or was never
shown, where a graph helps and nobody said so, or where the sentence names neither launching nor the
kind of work that takes most of the time. Needs an NVIDIA GPU and torch.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from burnish.timing.turns import Turns, take_turns
from burnish.timing.waiting import waiting

ALLOWED, MOVED = 0.15, 0.10
TURNS = Turns(rounds=9, warmup=2, calls=5, settling=3, block_s=0.05)
HEAD = """| shape | held back by | profiled | eager | graph | foreseen | gain | predicted | off by |
|---|---|--:|--:|--:|--:|--:|--:|--:|"""
Row = dict[str, Any]


def main() -> int:
    """Run all shapes, print a row each; return 1 if a prediction is too far off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("cuda-graph-bench"))
    parser.add_argument("--name", default="bert-base")
    parser.add_argument("--shapes", nargs="*", default=["1,128", "32,512"])
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    if not list(asked.folder.rglob("*.onnx")):
        burnish("export", asked.name, "-p", "fp16", "--store", asked.folder)
    path = next(asked.folder.rglob("*.onnx"))
    rows = []
    with Both(path) if asked.shapes else contextlib.nullcontext() as both:
        for shape in asked.shapes:
            for row in tried(path, both, shape, asked.tries):
                rows.append(row)
                print(f"\n{HEAD}\n{told(row)}", flush=True)
                if asked.output:
                    asked.output.write_text(json.dumps(rows, indent=1))
    shown = [row for row in rows if not moved(row)]
    is_complete = {row["shape"] for row in shown} == {row["shape"] for row in rows}
    return int(not (is_complete and all(map(holds, shown))))


def tried(path: Path, both: Both, shape: str, tries: int) -> Iterator[Row]:
    """Yield predictions and measurements, until the host was as fast for the one as the other."""
    for _ in range(tries):
        row = compared(path, both, *map(int, shape.split(",")))
        yield row
        if not moved(row):
            return


def moved(row: Row) -> bool:
    """Return whether eager calls took longer or shorter than when they were profiled."""
    ratio = statistics.median(row["eager_s"]) / row["diagnosis"]["wall_s"]
    return not 1 - MOVED <= ratio <= 1 + MOVED


def compared(path: Path, both: Both, batch: int, sequence: int) -> Row:
    """Return what was predicted for a CUDA graph, and what was measured."""
    found = diagnosed(path, f"batch={batch},sequence={sequence}")
    print(f"\n({batch},{sequence}): {found['sentence']}", flush=True)
    kinds = ", ".join(f"{kind} {1e6 * s:.0f} µs" for kind, s in found["families"].items())
    print(f"  kinds of work: {kinds}", flush=True)
    graph = next((one for one in found["advice"] if "CUDA graph" in one["what"]), None)
    eager_s, graph_s = both.measured({"batch": batch, "sequence": sequence})
    ratios = [a / b for a, b in zip(eager_s, graph_s, strict=True)]
    return {
        "shape": f"({batch},{sequence})", "diagnosis": found,
        "predicted": graph["gain"] if graph else None,
        "eager_s": eager_s, "graph_s": graph_s, "ratios": ratios,
        "gain": statistics.median(ratios),
    }  # fmt: skip


def told(row: Row) -> str:
    """Return a row of the table."""
    said = "none" if row["predicted"] is None else f"{row['predicted']:.2f}×"
    off = "" if row["predicted"] is None else f"{100 * (row['predicted'] / row['gain'] - 1):+.1f} %"
    eager, graph = (1e3 * statistics.median(row[which]) for which in ("eager_s", "graph_s"))
    wall = 1e3 * row["diagnosis"]["wall_s"]
    foreseen = "–" if row["predicted"] is None else f"{wall / row['predicted']:.3f} ms"
    off += "; not shown: the host was faster or slower when it was profiled" * moved(row)
    gain = f"{row['gain']:.2f}× ({min(row['ratios']):.2f} – {max(row['ratios']):.2f})"
    return (
        f"| {row['shape']} | {row['diagnosis']['holds']} | {wall:.3f} ms | {eager:.3f} ms |"
        f" {graph:.3f} ms | {foreseen} | {gain} | {said} | {off} |"
    )


def holds(row: Row) -> bool:
    """Say whether the prediction is near, and the sentence names what holds the model back."""
    predicted = row["predicted"] or 1.0
    near = abs(predicted / row["gain"] - 1) <= ALLOWED
    families = row["diagnosis"]["families"]
    most = max(families, key=families.get, default="")
    named = row["diagnosis"]["holds"] == "launching" or most in row["diagnosis"]["sentence"]
    return bool(near and named)


def diagnosed(path: Path, sizes: str) -> dict[str, Any]:
    """Return the diagnosis of `burnish profile`."""
    words = ("profile", path, "--engine", "torch-eager", "--shape", sizes, "--runs", "20", "--json")
    told = json.loads(burnish(*words))
    (profile,) = told["profiles"]
    return dict(profile["diagnosis"])


class Both:
    """The eager model and CUDA graphs of it, built once for all shapes."""

    def __init__(self, path: Path) -> None:
        from burnish.engines.base import ENGINES, EngineOptions
        from burnish.store import layout

        self._model, self._exit = layout.stored(path), contextlib.ExitStack()
        engine = ENGINES["torch-eager"]
        self._sessions = [
            self._exit.enter_context(engine.open(self._model, options))
            for options in (EngineOptions(), EngineOptions(mode="graph"))
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def measured(self, sizes: dict[str, int]) -> tuple[list[float], list[float]]:
        """Return eager calls and replays of a CUDA graph of the same call: each round's median."""
        from burnish.feeds.choose import choose

        (feeds,) = choose(self._model, bindings=sizes)
        calls = [session.prepare(feeds.arrays) for session in self._sessions]
        # an eager call takes longer than a busy system lets a program run at once, a replay not
        first, second = take_turns(calls, TURNS, waited=waiting())
        return [statistics.median(s) for s in first], [statistics.median(s) for s in second]


def burnish(*words: object) -> str:
    """Return what a burnish command prints."""
    command = [sys.executable, "-m", "burnish", "-q", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
