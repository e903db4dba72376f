"""Random models for a card: grown by number as for the CPU, in f32 and f16, wide enough for tiles.

`python -m tests.torture.random_cards --seed N --count 100`; a finding is told by its number:
`--number 300017`.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx

from torture.card_ways import CARD_WAYS, WAYS_THERE
from torture.finding import Finding, Progress
from torture.growing import COARSE, FINE, Growing
from torture.hands import Hands, Outcome
from torture.random_models import extend, gone, runs
from torture.random_newer import NEWER
from torture.random_patterns import PATTERNS
from torture.random_steps import STEPS, Step
from torture.random_wide import WIDE
from torture.ways import Way

LIMIT_S = 300.0
"""How long one model may take, in the interpreter."""
MOST_ELEMENTS = 16_384
"""Of an input: an interpreter has to walk over it."""
BUILT = 8
"""Of so many models one has its kernels built as well."""
POISONED, POISONED_CODE = "CUDA_ERROR", 3
"""After such an error a process can do nothing more on its card; it ends with this code."""
SHOWN = 8
"""Elements of a constant that are printed."""
LONG = (1, 2, 3, 8, 16, 33, 64, 130, 257, 512, 1024)
SHORT = (1, 2, 3, 7, 8, 16, 20, 33, 64)


def grown(number: int) -> Growing:
    """Return the random model of this number: every second is one of f16."""
    random = np.random.default_rng([number, 9])
    halves = number % 2 == 1
    single = "float16" if halves else "float32"
    noise = COARSE if halves else FINE
    grow = Growing(random, noise, opset=21 if number % 5 else 24, single=single)
    grow.shown = grow.choice(0.1, 0.1, 0.4)  # an output inside of a group is stored on the way
    for _ in range(grow.size(1, 2)):
        rank = grow.choice(2, 2, 3, 3, 4, 4)
        sides = [grow.choice(*(SHORT if rank > 2 else LONG)) for _ in range(rank)]
        kind = grow.choice(*["float32"] * 8, "int64", "bool")
        grow.input(grow.numbers(*_bounded(sides), dtype=kind))
    channels = grow.choice(1, 3, 4, 8, 16, 24, 40)
    image = [grow.choice(1, 1, 2), channels, grow.size(3, 24), grow.size(3, 24)]
    grow.input(grow.numbers(*_bounded(image)))
    extend(grow, _steps(grow), grow.size(3, 14))
    return grow


def _steps(grow: Growing) -> Mapping[Step, float]:
    """Return what may come next: half of the models have little but layers of networks."""
    plain = {**STEPS, **PATTERNS, **NEWER}
    share = 3.0 if grow.chance(0.5) else 0.5
    return {**plain, **{step: share * weight for step, weight in WIDE.items()}}


def _bounded(sides: Sequence[int]) -> list[int]:
    """Return sides whose longest is halved until there are not too many elements."""
    found = list(sides)
    while math.prod(found) > MOST_ELEMENTS:
        longest = found.index(max(found))
        found[longest] //= 2
    return found


def run(
    count: int, seed: int, hands: Hands, record: str = "", *, there: bool = False
) -> list[Finding]:
    """Return what went wrong with so many models, printing each finding as it is made.

    `there`: on the card that is here, not in the interpreter; `record` is a file for what is found.
    """
    progress = Progress("cards", count)

    def told(outcome: Outcome[list[Finding]]) -> None:
        progress.tell(1, _findings(outcome))

    numbers = range(seed * 100_000, seed * 100_000 + count)
    pieces = [(number, there, record) for number in numbers]
    outcomes = hands.spread(examined, pieces, limit_s=LIMIT_S, told=told)
    return [each for outcome in outcomes for each in _findings(outcome)]


def _findings(outcome: Outcome[list[Finding]]) -> list[Finding]:
    return outcome.result or outcome.trouble(f"random model {outcome.arguments[0]} for a card")


def examined(number: int, there: bool = False, record: str = "") -> list[Finding]:
    """Return what goes wrong with one model, each way."""
    grow = grown(number)
    model = made(grow, number)
    if not runs(grow, model):
        return []
    found = []
    for each in gone(grow, model, _ways(number, there=there), f"random model {number} for a card"):
        found.append(each)
        if record:
            with Path(record).open("a") as file:
                file.write(f"{each}\n{described(model)}\n")
        if record and POISONED in each.what:
            os._exit(POISONED_CODE)
    return found


def _ways(number: int, *, there: bool) -> Mapping[str, Way]:
    if there:
        return WAYS_THERE
    return {n: way for n, way in CARD_WAYS.items() if n != "card built" or number % BUILT == 0}


def made(grow: Growing, number: int) -> onnx.ModelProto:
    """Return the model that has grown; a third have names for sizes."""
    return grow.model(is_open=number % 3 == 1)


def described(model: onnx.ModelProto) -> str:
    """Return a model as text, without the elements of long constants."""
    short = onnx.ModelProto()
    short.CopyFrom(model)
    del short.graph.initializer[:]
    for held in model.graph.initializer:
        if math.prod(held.dims) <= SHOWN:
            short.graph.initializer.append(held)
        else:
            shape = onnx.helper.make_tensor_value_info(held.name, held.data_type, held.dims)
            short.graph.value_info.append(shape)
    return str(onnx.printer.to_text(short))


def command_line() -> int:
    """Do what the command line asks; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.random_cards")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=math.inf, help="begin nothing after so long")
    parser.add_argument("--there", action="store_true", help="on the card that is here")
    parser.add_argument("--record", default="", help="a file for what is found, as it is found")
    parser.add_argument("--number", type=int, help="one model by its number, with all its nodes")
    given = parser.parse_args()
    if given.number is not None:
        print(described(made(grown(given.number), given.number)))
        found = examined(given.number, given.there)
        print(*found, sep="\n")
        return min(1, len(found))
    with Hands(given.jobs, limit_s=given.limit) as hands:
        found = run(given.count, given.seed, hands, given.record, there=given.there)
    done = given.count - hands.left
    print(f"{done} of {given.count} random models for a card, {len(found)} findings")
    return min(1, len(found))


if __name__ == "__main__":
    from torture import random_cards  # by this name hands find what they are to do

    sys.exit(random_cards.command_line())
