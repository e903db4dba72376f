"""Random models: valid graphs of mixed operators that must come out right of every command.

`run` grows so many models, each by its own number, and returns which were rewritten or compiled
wrongly, or refused. Whatever is found is told by that number:
`python -m tests.torture.random_models --seed N --count 1`.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx

from burnish.codegen.open_size import ClosedSizeError
from burnish.core.arrays import Array
from torture.finding import Finding, Progress
from torture.growing import COARSE, FINE, Growing, NoNode
from torture.hands import Hands, Outcome
from torture.random_newer import NEWER
from torture.random_patterns import PATTERNS
from torture.random_steps import STEPS, Step
from torture.running import outputs_of
from torture.ways import QUICK_WAYS, WAYS, Way, open_batch

ALLOWED = (1e-9, 2e-4, 2e-2)
"""How far right results may be apart, relative to their size, computed in f64, f32 and f16."""
LIMIT_S = 300.0
"""How long one model may take."""
WITH_BATCH = 2
"""Of each four models this one has a batch that may stay open."""


def grown(seed: int) -> Growing:
    """Return the random model of this number."""
    random = np.random.default_rng(seed)
    kinds = ["float32"] * 8 + ["float64"] + ["float16"] * (seed % 8 == 0) + ["int64", "bool"]
    halves = bool("float16" in kinds)
    grow = Growing(random, COARSE if halves else FINE, opset=21 if seed % 5 else 24)
    if seed % 4 == WITH_BATCH:
        grow.rows = grow.choice(2, 3, 5)
    for _ in range(grow.size(1, 3)):
        rank = grow.choice(1, 2, 3, 4, 4)
        sizes = (1, 2, 3, 4, 7, 8, 9, 16) if rank > 2 else (1, 2, 5, 8, 17, 33, 64, 100)
        shape = [grow.choice(*sizes) for _ in range(rank)]
        _begin(grow, shape, grow.choice(*kinds))
    side = grow.choice(12, 12, 24, 40)
    sides = grow.size(3, side), grow.size(3, side)
    _begin(grow, [1, grow.choice(1, 3, 4, 6, 16), *sides], "float32")
    every = {**STEPS, **PATTERNS, **NEWER}
    extend(grow, every, grow.size(3, 6 if grow.rows else 16))
    return grow


def extend(grow: Growing, every: Mapping[Step, float], wanted: int) -> None:
    """Add steps, each as likely as is told, until there are so many nodes."""
    steps, weights = list(every), np.array(list(every.values()))
    for _ in range(20 * wanted):
        if len(grow.nodes) >= wanted:
            break
        step = steps[int(grow.random.choice(len(steps), p=weights / weights.sum()))]
        try:
            step(grow)
        except NoNode:
            continue


def _begin(grow: Growing, shape: Sequence[int], dtype: str) -> None:
    """Add an input; where there is a batch, it has one."""
    sizes = (grow.rows, *shape[1:]) if grow.rows else shape
    name = grow.input(grow.numbers(*sizes, dtype=dtype))
    if grow.rows:
        grow.batched.add(name)


def run(count: int, seed: int, hands: Hands, ways: Sequence[str] = tuple(WAYS)) -> list[Finding]:
    """Return what went wrong with so many models, printing each finding as it is made."""
    progress = Progress("random", count)

    def told(outcome: Outcome[list[Finding]]) -> None:
        progress.tell(1, _findings(outcome))

    numbers = range(seed * 100_000, seed * 100_000 + count)
    pieces = [(number, tuple(ways)) for number in numbers]
    outcomes = hands.spread(examined, pieces, limit_s=LIMIT_S, told=told)
    return [each for outcome in outcomes for each in _findings(outcome)]


def _findings(outcome: Outcome[list[Finding]]) -> list[Finding]:
    return outcome.result or outcome.trouble(f"random model {outcome.arguments[0]}")


def examined(number: int, ways: Sequence[str]) -> list[Finding]:
    """Return what goes wrong with one model, each way."""
    return list(_examined(number, ways))


def _examined(number: int, ways: Sequence[str]) -> Iterator[Finding]:
    grow = grown(number)
    model = grow.model(is_open=number % 3 == 1)
    if not runs(grow, model):
        return
    own = {name: WAYS[name] for name in ways}
    yield from gone(grow, model, own, f"random model {number}")
    if grow.rows:
        yield from _examined_open(number, grow, model)


def gone(
    grow: Growing, model: onnx.ModelProto, ways: Mapping[str, Way], where: str
) -> Iterator[Finding]:
    """Yield what goes wrong with a model on each of some ways."""
    for name, way in ways.items():
        place = f"{where}, {name}"
        try:
            results = way(model, grow.inputs)
        except Exception as error:  # whatever it is, it is told
            yield _refused(place, error)
            continue
        yield from (Finding("wrong", place, what) for what in _wrong(grow, grow.values, results))


def _examined_open(number: int, grow: Growing, model: onnx.ModelProto) -> Iterator[Finding]:
    """Yield what goes wrong with a plan for all sizes of the batch, if there is one."""
    where = f"random model {number}, up to {grow.rows}"
    sizes = sorted({1, grow.rows - 1, grow.rows})
    fed = {size: _of_size(grow, size) for size in sizes}
    try:
        found = open_batch(model, grow.rows, [fed[size] for size in sizes])
    except ClosedSizeError:
        return  # it said why; what may stay open has tests of its own
    except Exception as error:  # whatever it is, it is told
        yield _refused(where, error)
        return
    for size, results in zip(sizes, found, strict=True):
        try:
            wanted = outputs_of(model, fed[size])
        except Exception as error:  # what the model itself refuses no plan may give
            yield Finding("wrong", f"{where}, at {size}", f"the model refuses it: {error}"[:400])
            continue
        for what in _wrong(grow, wanted, results):
            yield Finding("wrong", f"{where}, at {size}", what)


def _of_size(grow: Growing, size: int) -> dict[str, Array]:
    """Return the inputs of so many of the batch."""
    return {n: a[:size] if n in grow.batched else a for n, a in grow.inputs.items()}


def _refused(where: str, error: Exception) -> Finding:
    last = traceback.extract_tb(error.__traceback__)[-1]
    spot = f"{Path(last.filename).name}:{last.lineno}"
    return Finding("refused", where, f"{type(error).__name__}: {error} ({spot})"[:400])


def runs(grow: Growing, model: onnx.ModelProto) -> bool:
    """Return whether ONNX Runtime takes the model as a whole, as it takes each of its nodes.

    What it infers for a node need not be what the node gives (an empty list of axes).
    """
    try:
        return not any(_wrong(grow, grow.values, outputs_of(model, grow.inputs)))
    except Exception:  # its own errors have no common class
        return False


def _wrong(grow: Growing, right: dict[str, Array], results: dict[str, Array]) -> Iterator[str]:
    for name, array in results.items():
        wanted = right[name]
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


def command_line() -> int:
    """Do what the command line asks; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.random_models")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--number", type=int, help="one model by its number, with all its nodes")
    parser.add_argument("--quick", action="store_true", help="without the proofs of compile")
    given = parser.parse_args()
    if given.number is not None:
        print(onnx.printer.to_text(grown(given.number).model(is_open=given.number % 3 == 1)))
        found = examined(given.number, tuple(WAYS))
        print(*found, sep="\n")
        return min(1, len(found))
    with Hands(given.jobs) as hands:
        found = run(given.count, given.seed, hands, tuple(QUICK_WAYS if given.quick else WAYS))
    print(f"{given.count} random models, {len(found)} findings")
    return min(1, len(found))


if __name__ == "__main__":
    from torture import random_models  # by this name hands find what they are to do

    sys.exit(random_models.command_line())
