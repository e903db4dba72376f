"""ONNX files through the kernels for a card: right, wrong or refused, and how each was planned.

`python -m tests.torture.card_files FILE… [--on card|interpreter] [--record OUT.jsonl]`: a line a
model. On a card, `burnish compile --target cuda` is what is asked, which proves what it writes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx

from burnish.codegen.backend import open_backend
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.engines.sizes import fitting
from burnish.feeds.feed import Feeds
from burnish.store import onnx_files
from burnish.store.layout import stored
from torture.card_ways import ARCHITECTURE, predicted
from torture.hands import Hands, Outcome
from torture.running import deviation, outputs_of

LIMIT_S = 240.0
"""How long one model may take."""
ALLOWED = 3e-3
"""How far right results may be apart, in root mean squares of each output."""
SLOW_S = 20e-6
"""A kernel of a small model that should take longer than this is told."""

PROVEN = frozenset({"proven", "fp16 proven"})

Told = dict[str, Any]


def planned(path: Path) -> Told:
    """Return how a model is planned for a card: kernels, what is left, what should take long."""
    feeds = _feeds(path)
    backend = open_backend(f"cuda: {ARCHITECTURE}", 2)
    begin = time.perf_counter()
    made = plan(
        prepare(onnx_files.read(path), feeds.bindings), PlanOptions(backend, Predicted(backend))
    )
    taken = time.perf_counter() - begin
    steps = made.plan.kernel_steps
    slow = {s.kernel: s.predicted_s for s in steps if (s.predicted_s or 0) > SLOW_S}
    left = {node: why for step in made.plan.ort_steps for node, why in step.reasons.items()}
    total = sum(step.predicted_s or 0 for step in steps)
    return {
        "plan_s": round(taken, 1), "kernels": len(steps), "predicted_us": round(1e6 * total, 1),
        "slow": slow, "left": left,
    }  # fmt: skip


def interpreted(path: Path) -> Told:
    """Return how far a model's kernels are from the model, in the interpreter."""
    model, feeds = onnx.load(path), _feeds(path)
    wanted = outputs_of(model, feeds.arrays)
    return {"off": deviation(wanted, predicted(model, feeds.arrays))}


def on_card(path: Path, precision: str | None = None, target: str = "cuda") -> Told:
    """Return what compiling a model for the card that is here says; it is proven there."""
    import burnish

    begin = time.perf_counter()
    sizes = _feeds(path).bindings
    with tempfile.TemporaryDirectory(prefix="torture-card-") as folder:
        report = burnish.compile(
            path, output=Path(folder) / "c", target=target, precision=precision, shape=sizes
        )
    (made,) = report.plans
    left = {n: why for s in made.steps if s.kind != "kernel" for n, why in s.reasons.items()}
    slow = {s.name: s.measured_s for s in made.steps if (s.measured_s or 0) > SLOW_S}
    seconds = round(time.perf_counter() - begin, 1)
    return {
        "proven": report.parity is not None and report.parity.passed, "left": left,
        "steps": len(made.steps), "slow": slow, "seconds": seconds,
    }  # fmt: skip


def halved_on_card(path: Path) -> Told:
    """Return the same of the model in fp16, under names of their own."""
    return {f"fp16 {name}": value for name, value in on_card(path, "fp16").items()}


WAYS: Mapping[str, Sequence[Callable[[Path], Told]]] = {
    "card": (on_card, halved_on_card), "interpreter": (planned, interpreted), "plan": (planned,),
}  # fmt: skip


def looked_at(path: str, on: str) -> Told:
    """Return all that is found of one model."""
    told: Told = {"model": Path(path).stem, "on": on}
    for way in WAYS[on]:
        try:
            told |= way(Path(path))
        except Exception as error:  # whatever it is, it is told
            last = traceback.extract_tb(error.__traceback__)[-1]
            spot = f"{Path(last.filename).name}:{last.lineno}"
            said = f"{way.__name__}: {type(error).__name__}: {error} ({spot})"[:600]
            told.setdefault("refused", []).append(said)
    return told


def _feeds(path: Path) -> Feeds:
    return fitting(stored(path))[0]


def verdict_of(told: Told) -> str:
    """Return a word for what was found."""
    if "refused" in told:
        return "refused"
    if told.get("off", 0.0) > ALLOWED or not all(map(told.get, told.keys() & PROVEN)):
        return "WRONG"
    return "left" if told.get("left") else "right"


def command_line() -> int:
    """Do what the command line asks; return 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.card_files")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--on", choices=["card", "interpreter", "plan"], default="interpreter")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1e9, help="begin nothing after so long")
    parser.add_argument("--record", type=Path, default=None)
    given = parser.parse_args()
    verdicts: list[str] = []

    def tell(outcome: Outcome[Told]) -> None:
        path, _ = outcome.arguments
        told = outcome.result or {"model": Path(path).stem, "refused": outcome.what}
        verdict = verdict_of(told)
        verdicts.append(verdict)
        print(f"{verdict:8} {outcome.seconds:6.1f} s  {json.dumps(told)}", flush=True)
        if given.record is not None:
            with given.record.open("a") as file:
                file.write(json.dumps({"verdict": verdict, **told}) + "\n")

    with Hands(given.jobs, limit_s=given.limit) as hands:
        pieces = [(str(path), given.on) for path in given.files]
        hands.spread(looked_at, pieces, limit_s=LIMIT_S, told=tell)
    print({each: verdicts.count(each) for each in sorted(set(verdicts))}, f"left: {hands.left}")
    return int("WRONG" in verdicts)


if __name__ == "__main__":
    from torture import card_files  # by this name hands find what they are to do

    sys.exit(card_files.command_line())
