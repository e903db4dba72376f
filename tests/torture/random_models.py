"""Random models: valid graphs of mixed operators that must come out right of every command.

`main(count, seed)` grows so many models, each by its own number, and returns how many were
rewritten or compiled wrongly, or refused. Whatever is found is told by that number:
`python -m tests.torture.random_models --seed N --count 1`.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.finding import Finding
from torture.growing import COARSE, FINE, Growing, NoNode
from torture.random_patterns import PATTERNS
from torture.random_steps import STEPS
from torture.running import outputs_of
from torture.ways import QUICK_WAYS, WAYS, Way

ALLOWED = (1e-9, 2e-4, 2e-2)
"""How far right results may be apart, relative to their size, computed in f64, f32 and f16."""


def grown(seed: int) -> Growing:
    """Return the random model of this number."""
    random = np.random.default_rng(seed)
    kinds = ["float32"] * 8 + ["float64"] + ["float16"] * (seed % 8 == 0) + ["int64", "bool"]
    halves = bool("float16" in kinds)
    grow = Growing(random, COARSE if halves else FINE)
    for _ in range(grow.size(1, 3)):
        rank = grow.choice(1, 2, 3, 4, 4)
        sizes = (1, 2, 3, 4, 7, 8, 9, 16) if rank > 2 else (1, 2, 5, 8, 17, 33, 64, 100)
        shape = [grow.choice(*sizes) for _ in range(rank)]
        grow.input(grow.numbers(*shape, dtype=grow.choice(*kinds)))
    side = grow.choice(12, 12, 24, 40)
    grow.input(grow.numbers(1, grow.choice(1, 3, 4, 6, 16), grow.size(3, side), grow.size(3, side)))
    every = {**STEPS, **PATTERNS}
    steps, weights = list(every), np.array(list(every.values()))
    wanted = grow.size(3, 16)
    for _ in range(20 * wanted):
        if len(grow.nodes) >= wanted:
            break
        step = steps[int(random.choice(len(steps), p=weights / weights.sum()))]
        try:
            step(grow)
        except NoNode:
            continue
    return grow


def run(count: int, seed: int, ways: dict[str, Way] | None = None) -> list[Finding]:
    """Return what went wrong with so many models, printing each finding as it is made."""
    found = []
    for number in range(seed * 100_000, seed * 100_000 + count):
        for each in examined(number, ways or WAYS):
            print(f"{each.kind}: {each.where}: {each.what}", flush=True)
            found.append(each)
    return found


def main(count: int, seed: int) -> int:
    """Return how many findings there are among so many models."""
    return len(run(count, seed))


def examined(number: int, ways: dict[str, Way]) -> Iterator[Finding]:
    """Yield what goes wrong with one model, each way."""
    grow = grown(number)
    model = grow.model(is_open=number % 3 == 1)
    if not _runs(grow, model):
        return
    for name, way in ways.items():
        where = f"random model {number}, {name}"
        try:
            results = way(model, grow.inputs)
        except Exception as error:  # whatever it is, it is told
            last = traceback.extract_tb(error.__traceback__)[-1]
            spot = f"{Path(last.filename).name}:{last.lineno}"
            yield Finding("refused", where, f"{type(error).__name__}: {error} ({spot})"[:400])
            continue
        yield from (Finding("wrong", where, what) for what in _wrong(grow, results))


def _runs(grow: Growing, model: onnx.ModelProto) -> bool:
    """Return whether ONNX Runtime takes the model as a whole, as it takes each of its nodes.

    What it infers for a node need not be what the node gives (an empty list of axes).
    """
    try:
        return not any(_wrong(grow, outputs_of(model, grow.inputs)))
    except Exception:  # its own errors have no common class
        return False


def _wrong(grow: Growing, results: dict[str, Array]) -> Iterator[str]:
    for name, array in results.items():
        wanted = grow.values[name]
        if array.shape != wanted.shape or array.dtype != wanted.dtype:
            yield f"{name} is {array.dtype}{array.shape}, not {wanted.dtype}{wanted.shape}"
            continue
        a, b = array.astype(np.float64), wanted.astype(np.float64)
        exact = wanted.dtype.kind != "f"
        scale = np.abs(b) + np.sqrt(np.mean(b * b))
        allowed = 0.0 if exact else ALLOWED[grow.coarsest[name]] * scale + 1e-12
        off = ~(np.abs(a - b) <= allowed)
        if off.any():
            worst = float(np.abs(a - b)[off].max())
            yield f"{name}: {int(off.sum())} of {off.size} elements are off, by up to {worst:.3g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.torture.random_models")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="one model by its number, with all its nodes")
    parser.add_argument("--quick", action="store_true", help="without the proofs of compile")
    given = parser.parse_args()
    if given.number is not None:
        print(onnx.printer.to_text(grown(given.number).model(is_open=given.number % 3 == 1)))
        print(*examined(given.number, WAYS), sep="\n")
        sys.exit()
    found = run(given.count, given.seed, QUICK_WAYS if given.quick else None)
    print(f"{given.count} random models, {len(found)} findings")
    sys.exit(min(1, len(found)))
