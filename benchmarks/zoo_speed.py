"""Is any zoo model slower for being optimised? ONNX Runtime ALL on the original against ours.

    python benchmarks/zoo_speed.py --prepare         # export and optimise, beside other work
    python benchmarks/zoo_speed.py [--budget 1200]   # measure on a quiet machine, print a table

Each model is measured in a process of its own: in every round both sessions are opened anew, and
blocks of calls take turns. One log ratio per round, and a t interval at 98 % over the rounds.
Heavy models get three rounds; very slow ones are opened once, and call by call is a round.
Finished models are kept in FOLDER/cells.json, so that an interrupted run goes on; `--only` measures
some of them, `--again` those that are there, too (with --prepare: optimises them again, as after a
change of rules). Models above 2 GB of weights have fewer layers.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from burnish.bench import student
from burnish.bench.compare import ERROR_RATE
from burnish.core import files, records, units
from burnish.core.arrays import Arrays
from burnish.core.errors import BurnishError, UsageError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.feeds.choose import choose
from burnish.parity.request import VerifyRequest
from burnish.store import layout, onnx_files
from burnish.store.stored import StoredModel
from burnish.study.export import ExportPlan, export
from burnish.study.optimize import optimize_file
from burnish.zoo.entry import MODELS, ModelEntry, NetworkOptions
from burnish.zoo.exporting.request import Exporter, ExportRequest, ZooSource

ENGINE = "onnxruntime-cpu"
EXPORTER: Exporter = "torchscript"
THREADS = 2
LARGEST_BYTES = 2 << 30
FEW_LAYERS = 1
HEAVY_BYTES = 500 << 20
"""Models above take long to open: they get the fewest rounds that allow an interval."""
SLOW_S = 2.0
"""Models that take longer for a call are not opened anew: each turn of one call is a round."""
FEWEST_ROUNDS = 3
SIZES = {"points": 4096}
"""Sizes of axes whose default says nothing about speed."""
BLOCK_S = 0.15
"""How long one turn takes at least; a call that takes longer is a turn of its own."""
SETTLING = 1
"""Calls of each turn that only bring back to the caches what the other model pushed out."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What was measured of one model; `problem` says why nothing was."""

    name: str
    shape: str = ""
    layers: int | None = None
    fusions: int = 0
    original_s: float = 0.0
    ours_s: float = 0.0
    round_logs: tuple[float, ...] = ()
    """log(original / ours), one of each round."""
    problem: str = ""


def ratio_of(cell: Cell) -> float:
    """Return how many times as fast ours is."""
    return math.exp(statistics.fmean(cell.round_logs))


def interval_of(cell: Cell) -> tuple[float, float]:
    """Return the range that holds the true ratio with 98 % confidence."""
    mean, rounds = statistics.fmean(cell.round_logs), len(cell.round_logs)
    error = statistics.stdev(cell.round_logs) / math.sqrt(rounds)
    reach = student.quantile(1 - ERROR_RATE / 2, rounds - 1) * error
    return math.exp(mean - reach), math.exp(mean + reach)


def verdict_of(cell: Cell) -> str:
    """Return what the interval says."""
    low, high = interval_of(cell)
    return "faster" if low > 1 else "**slower**" if high < 1 else "no difference shown"


def main() -> int:
    """Prepare or measure what is missing, and print the table; fail where a model is slower."""
    asked = _arguments()
    if asked.one:
        print(records.text_of(records.encode(measured(asked.one, asked.folder, asked))))
        return 0
    names = asked.only or sorted(MODELS)
    if asked.prepare:
        return _prepare_all(names, asked.folder, again=asked.again)
    cells = _read(asked.folder)
    began = time.monotonic()
    for name in names:
        if name in cells and not asked.again:
            continue
        if time.monotonic() - began > asked.budget:
            print(f"stopped at {name}: the budget of {asked.budget:.0f} s is spent")
            break
        cells[name] = _in_own_process(name, asked)
        files.write_text(_cells_file(asked.folder), records.text_of(records.encode(cells)))
        print("\n".join(_rows([cells[name]])), flush=True)
    print("\n".join(page(cells.values(), asked.rounds)))
    slow = [cell for cell in cells.values() if cell.round_logs and "slower" in verdict_of(cell)]
    return int(bool(slow))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("out/zoo_speed"))
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--budget", type=float, default=1500, help="seconds; then no new model")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each round, both models")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _prepare_all(names: Sequence[str], folder: Path, *, again: bool) -> int:
    """Export and optimise; return 0, for what fails is a row of the table."""
    for name in names:
        if again:
            _optimized_file(name, folder).unlink(missing_ok=True)
        try:
            _prepared(name, folder)
        except BurnishError as error:
            print(f"{name}: {error.problem}", file=sys.stderr, flush=True)
    return 0


def _prepared(name: str, folder: Path) -> tuple[StoredModel, StoredModel]:
    """Export and optimise a model, if that has not been done; return both."""
    variant = layout.place(folder / "models", name, EXPORTER)
    if not variant.is_file():
        print(f"{name}: export", file=sys.stderr, flush=True)
        request = ExportRequest(ZooSource(name), _built(MODELS[name]), EXPORTER)
        export(request, ExportPlan(folder / "models", name, EXPORTER, generation=False))
    original = layout.stored(variant)
    target = _optimized_file(name, folder)
    if not target.is_file():
        print(f"{name}: optimize", file=sys.stderr, flush=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        report = optimize_file(original, target, request=VerifyRequest(original, samples=1))
        fusions = str(len(report.rewrite.fusions))
        files.write_text(target.with_suffix(".fusions"), fusions)
    return original, layout.stored(target)


def _optimized_file(name: str, folder: Path) -> Path:
    return layout.place(folder / "models", name, f"{EXPORTER}_optimized")


def _built(entry: ModelEntry) -> NetworkOptions:
    """Return the full size, or fewer layers where the weights would not fit twice."""
    size = 4 * entry.parameters
    if size > LARGEST_BYTES and "layers" not in entry.understands:
        raise UsageError(f"{units.size(size)} of weights, and it cannot have fewer layers", hint="")
    return NetworkOptions(layers=FEW_LAYERS if size > LARGEST_BYTES else None)


def _in_own_process(name: str, asked: argparse.Namespace) -> Cell:
    command = [
        sys.executable, __file__, "--one", name, "--folder", str(asked.folder),
        "--rounds", str(asked.rounds), "--seconds", str(asked.seconds),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return Cell(name, problem=f"exit {done.returncode}: {last}")
    cell: Cell = records.decode(Cell, json.loads(done.stdout))
    return cell


def measured(name: str, folder: Path, asked: argparse.Namespace) -> Cell:
    """Return what two models take in turn, over several rounds of fresh sessions."""
    try:
        original, ours = _prepared(name, folder)
    except BurnishError as error:
        return Cell(name, problem=" ".join(error.problem.split()))
    (feeds,) = choose(original, bindings=_bindings(original))
    medians = _medians(original, ours, feeds.arrays, asked)
    return Cell(
        name,
        shape=", ".join(f"{axis}={size}" for axis, size in feeds.bindings.items()) or "fixed",
        layers=_built(MODELS[name]).layers,
        fusions=int(ours.onnx.with_suffix(".fusions").read_text()),
        original_s=statistics.median(one for one, _ in medians),
        ours_s=statistics.median(other for _, other in medians),
        round_logs=tuple(math.log(one / other) for one, other in medians),
    )


def _bindings(model: StoredModel) -> dict[str, int]:
    inputs = onnx_files.interface(onnx_files.read(model.onnx)).inputs
    named = {size for spec in inputs for size in spec.shape if isinstance(size, str)}
    return {name: size for name, size in SIZES.items() if name in named}


def _medians(
    original: StoredModel, ours: StoredModel, arrays: Arrays, asked: argparse.Namespace
) -> list[tuple[float, float]]:
    """Return the typical call of both, for each round; who comes first alternates."""
    with _calls([original, ours], arrays) as calls:
        if max(map(_timed, calls)) > SLOW_S:
            return [_in_turn(calls, first=number % 2) for number in range(FEWEST_ROUNDS)]
    heavy = sum(path.stat().st_size for path in original.onnx.parent.iterdir() if path.is_file())
    medians = []
    for number in range(FEWEST_ROUNDS if heavy > HEAVY_BYTES else asked.rounds):
        pair = (original, ours) if number % 2 == 0 else (ours, original)
        one, other = _round(pair, arrays, asked.seconds)
        medians.append((one, other) if number % 2 == 0 else (other, one))
    return medians


def _in_turn(calls: Sequence[Callable[[], None]], *, first: int) -> tuple[float, float]:
    """Return the time of one call of each, in this order or the other."""
    found = {index: _timed(calls[index]) for index in (first, 1 - first)}
    return found[0], found[1]


def _round(pair: Sequence[StoredModel], arrays: Arrays, for_s: float) -> tuple[float, float]:
    """Return the median call of each of two models, whose turns alternate for a while."""
    with _calls(pair, arrays) as calls:
        counts = [_calls_a_turn(call) for call in calls]
        samples: list[list[float]] = [[] for _ in calls]
        end = time.perf_counter() + for_s
        while time.perf_counter() < end or len(samples[0]) < 2:
            for call, count, own in zip(calls, counts, samples, strict=True):
                own += [_timed(call) for _ in range(count)][SETTLING:] or [_timed(call)]
    return statistics.median(samples[0]), statistics.median(samples[1])


@contextmanager
def _calls(models: Sequence[StoredModel], arrays: Arrays) -> Iterator[list[Callable[[], None]]]:
    """Yield calls that run models, opened in this order."""
    with ExitStack() as stack:
        options = EngineOptions(threads=THREADS)
        opened = (stack.enter_context(ENGINES[ENGINE].open(model, options)) for model in models)
        yield [session.prepare(arrays) for session in opened]


def _calls_a_turn(call: Callable[[], None]) -> int:
    """Warm a model up; return how many calls fill a turn."""
    _timed(call)
    took = min(_timed(call) for _ in range(2))
    return SETTLING + max(1, math.ceil(BLOCK_S / took)) if took < BLOCK_S else 1


def _timed(call: Callable[[], None]) -> float:
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def page(cells: Iterable[Cell], rounds: int) -> Iterator[str]:
    """Yield the table for docs/figures.md, its conditions first."""
    found = sorted(cells, key=lambda cell: cell.name)
    done = [cell for cell in found if cell.round_logs]
    yield ""
    yield (
        f"{date.today().isoformat()}, ONNX Runtime {version('onnxruntime')} at level ALL with"
        f" {THREADS} threads on {platform.machine()} ({os.cpu_count()} cores), f32,"
        f" {EXPORTER} exports, batch and lengths as given, {rounds} rounds of fresh sessions in"
        " turn (heavy models: 3); ratio: original / ours, with 98 % confidence."
    )
    yield ""
    yield "| model | sizes | fusions | original | ours | ratio | verdict |"
    yield "| --- | --- | ---: | ---: | ---: | --- | --- |"
    yield from _rows(found)
    if done:
        mean = math.exp(statistics.fmean(math.log(ratio_of(cell)) for cell in done))
        verdicts = [verdict_of(cell).strip("*") for cell in done]
        counts = ", ".join(f"{verdicts.count(name)} {name}" for name in dict.fromkeys(verdicts))
        yield ""
        yield f"Geometric mean over {units.count(len(done), 'model')}: {mean:.3f}; {counts}."


def _rows(cells: Sequence[Cell]) -> Iterator[str]:
    for cell in cells:
        label = cell.name + (f" ({cell.layers} layers)" if cell.layers else "")
        if not cell.round_logs:
            yield f"| {label} | | | | | | not measured: {_cut(cell.problem)} |"
            continue
        low, high = interval_of(cell)
        times = [units.seconds(cell.original_s), units.seconds(cell.ours_s)]
        ratio = f"{ratio_of(cell):.2f} ({low:.2f} to {high:.2f})"
        parts = [label, cell.shape, str(cell.fusions), *times, ratio, verdict_of(cell)]
        yield f"| {' | '.join(parts)} |"


def _cut(problem: str, most: int = 160) -> str:
    plain = problem.replace("|", "/")
    return plain if len(plain) <= most else f"{plain[:most]} …"


def _cells_file(folder: Path) -> Path:
    return folder / "cells.json"


def _read(folder: Path) -> dict[str, Cell]:
    path = _cells_file(folder)
    if not path.is_file():
        return {}
    stored: dict[str, Cell] = records.decode(dict[str, Cell], json.loads(path.read_text()))
    return stored


if __name__ == "__main__":
    raise SystemExit(main())
