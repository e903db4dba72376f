"""What verdicts are worth here: false ones, planted slowdowns that are found, the gate's.

Three questions, each with the default way to measure, in fresh processes, no sample used twice:
how often is a difference claimed between a model and itself; how often is the slowdown found of
a model with a layer more, about 10 % of the work; and, on a simulated machine, how often does the
gate find 5 %, and how often does it fail a build for nothing.

Models of three sizes take turns, of about 1, 5 and 20 ms on one core. With `--keep FILE` every
comparison is a line of a file, and those of earlier runs on this kind of machine count too: a
machine that is lent for minutes adds up to hours.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import numpy as np
import onnx
import onnx.helper

from burnish.bench.machine import usable_cores
from burnish.bench.measure import Comparison, Verdict
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.core import records, units
from burnish.engines.installed import version_of
from burnish.feeds.feed import Feeds
from burnish.hw import detect
from burnish.store.stored import StoredModel
from burnish.version import __version__

WIDTH = 256
ROWS = (128, 512, 2048)
"""What tells the models apart: one is about four times as long as the one before."""
LAYERS = 10
"""One more is 10 % more work, and a little less than that in time: the call itself costs too."""
CORES = 2
"""As many as the machine has on which the promise was made."""
ITSELF, PLANTED = "A/A", "planted"
ALLOWED = 0.05
MOST_BLIND = 0.4
FOUND = 0.8


def main() -> int:
    """Run the comparisons, print the share of each verdict, and fail where a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--planted", type=int, default=20)
    parser.add_argument("--simulated", type=int, default=100)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for one comparison")
    parser.add_argument("--jobs", type=int, default=1,
                        help="comparisons at a time, each on cores of its own")  # fmt: skip
    parser.add_argument("--cores", type=int, default=CORES,
                        help="how many each of several jobs has")  # fmt: skip
    parser.add_argument("--keep", type=Path, metavar="FILE",
                        help="add comparisons to those in this file, and count all")  # fmt: skip
    parser.add_argument("--limit", type=float, default=1e6, metavar="SECONDS",
                        help="begin no comparison after so long")  # fmt: skip
    asked = parser.parse_args()
    most = max(1, len(os.sched_getaffinity(0)) // asked.cores)
    if not 1 <= asked.jobs <= most:
        parser.error(f"--jobs {asked.jobs}: there are cores for 1 to {most}")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    until = time.monotonic() + asked.limit
    kept = Kept(asked.keep)
    with (
        tempfile.TemporaryDirectory(prefix="burnish-aa-") as folder,
        _hands(asked.jobs, asked.cores) as pool,
    ):
        ask = functools.partial(pool.submit, compared, asked.budget, Path(folder))
        slower = {ask(LAYERS + 1, seed): seed for seed in kept.seeds(PLANTED, asked.planted)}
        alike = {ask(LAYERS, seed): seed for seed in kept.seeds(ITSELF, asked.comparisons)}
        planted, itself = (
            [*kept.earlier(what), *_told(what, futures, until, kept)]
            for what, futures in ((PLANTED, slower), (ITSELF, alike))
        )
    return summary(itself, planted) | gate(asked.simulated)


def write_model(path: Path, rows: int, layers: int) -> StoredModel:
    """Write dense layers, large enough to use all threads."""
    dice = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for layer in range(layers):
        weight = dice.normal(0, WIDTH**-0.5, (WIDTH, WIDTH)).astype(np.float32)
        weights.append(onnx.numpy_helper.from_array(weight, f"w{layer}"))
        nodes.append(onnx.helper.make_node("MatMul", [value, f"w{layer}"], [f"m{layer}"]))
        value = f"r{layer}" if layer < layers - 1 else "y"
        nodes.append(onnx.helper.make_node("Relu", [f"m{layer}"], [value]))
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [rows, WIDTH])
        for name in ("x", "y")
    ]
    graph = onnx.helper.make_graph(nodes, "layers", ends[:1], ends[1:], weights)
    opset = onnx.helper.make_opsetid("", 18)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return StoredModel(path, path.stem)


def compared(budget_s: float, folder: Path, layers: int, seed: int) -> Comparison:
    """Compare a model with one of so many layers, once."""
    rows = ROWS[seed % len(ROWS)]
    threads = units.count(usable_cores(), "thread")
    first, second = (
        write_model(folder / f"{os.getpid()}_{rows}_{number}.onnx", rows, number)
        for number in (LAYERS, layers)
    )
    subjects = [
        BenchSubject(f"{name}, {rows} rows, {threads}", model, "onnxruntime-cpu")
        for name, model in (("first", first), ("second", second))
    ]
    feeds = Feeds({"x": np.ones((rows, WIDTH), np.float32)}, {})
    return bench(subjects, feeds, BenchOptions(seed=seed, budget_s=budget_s)).comparisons[0]


def _hands(jobs: int, own: int) -> ProcessPoolExecutor:
    """Return processes to compare in; of several, each has cores of its own."""
    context = multiprocessing.get_context("spawn")
    shares = context.SimpleQueue()
    cores = by_place()
    each = own if jobs > 1 else len(cores)
    for first in range(0, each * jobs, each):
        shares.put(cores[first : first + each])
    return ProcessPoolExecutor(jobs, context, _take, (shares,))


def _take(shares: SimpleQueue[list[int]]) -> None:
    """Keep to one share of the cores, with every process that is started from here."""
    os.sched_setaffinity(0, shares.get())


def by_place(root: Path = Path("/sys/devices/system/cpu")) -> list[int]:
    """Return the usable processors, those of one core side by side: two jobs share none."""

    def place(processor: int) -> tuple[int, int, int]:
        topology = root / f"cpu{processor}" / "topology"
        try:
            package, core = (
                int((topology / name).read_text()) for name in ("physical_package_id", "core_id")
            )
        except (OSError, ValueError):
            return (0, processor, processor)
        return (package, core, processor)

    return sorted(os.sched_getaffinity(0), key=place)


class Kept:
    """Comparisons of earlier runs on this kind of machine, and the file that new ones go to."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._machine = f"{detect.cpu().model}, burnish {__version__}, ONNX Runtime {_runtime()}"
        self._found: dict[str, list[Comparison]] = {ITSELF: [], PLANTED: []}
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        for line in map(json.loads, lines):
            if line["machine"] == self._machine:
                self._found[line["what"]].append(records.decode(Comparison, line["comparison"]))

    def earlier(self, what: str) -> list[Comparison]:
        """Return what was found before."""
        found = self._found[what]
        if found:
            print(f"{what}: {units.count(len(found), 'comparison')} from earlier runs")
        return found

    def seeds(self, what: str, number: int) -> range:
        """Return seeds that no earlier run had."""
        return range(len(self._found[what]), len(self._found[what]) + number)

    def add(self, what: str, one: Comparison) -> None:
        """Write a comparison down, if there is a file."""
        if self._path is not None:
            line = {"what": what, "machine": self._machine, "comparison": records.encode(one)}
            with self._path.open("a") as file:
                file.write(json.dumps(line) + "\n")


def _runtime() -> str | None:
    return version_of("onnxruntime", "onnxruntime-gpu")


def _told(
    what: str, asked: Mapping[Future[Comparison], int], until: float, kept: Kept
) -> list[Comparison]:
    """Return the comparisons, printing each as it ends; what is not begun in time is given up."""
    began, found = time.monotonic(), []
    limit = threading.Timer(max(0.0, until - began), lambda: [one.cancel() for one in asked])
    limit.daemon = True
    limit.start()
    for future in as_completed(asked):
        if future.cancelled():
            continue
        one = future.result()
        found.append(one)
        kept.add(what, one)
        interval = f"[{one.low or 0:.3f}, {one.high or 0:.3f}]"
        rounds = units.count(len(one.round_ratios), "round")
        line = f"{what} {asked[future]:4d}  {one.baseline:28} {interval}  {rounds}"
        print(f"{line}  {one.verdict.value}", flush=True)
    limit.cancel()
    if found:
        each_s = (time.monotonic() - began) / len(found)
        print(f"{what}: {len(found)} of {len(asked)} comparisons, one in {each_s:.1f} s")
    return found


def summary(itself: list[Comparison], planted: list[Comparison]) -> int:
    """Print how often each verdict was given; return 1 if a promise is broken."""
    broken = 0
    if itself:
        verdicts = Counter(one.verdict for one in itself)
        for verdict in Verdict:
            share = units.share(verdicts[verdict] / len(itself))
            print(f"{verdict.value:22} {verdicts[verdict]:4d}  {share}")
        claims = verdicts[Verdict.FASTER] + verdicts[Verdict.SLOWER]
        effects = sorted(one.minimum_detectable_effect or 0.0 for one in itself)
        print(
            f"A/A: {claims} of {len(itself)} claim a difference, allowed {units.share(ALLOWED)};"
            f" smallest visible difference, in the median {units.share(effects[len(effects) // 2])}"
        )
        for name in sorted({one.baseline for one in itself}):
            of = Counter(one.verdict.value for one in itself if one.baseline == name)
            print(f"  {name}: " + ", ".join(f"{number} {word}" for word, number in of.items()))
        blind = verdicts[Verdict.NOT_ENOUGH]
        broken |= claims > ALLOWED * len(itself) or blind > MOST_BLIND * len(itself)
    if planted:
        found = sum(one.verdict is Verdict.SLOWER for one in planted)
        ratios = sorted(1 / (one.ratio or 1.0) - 1 for one in planted)
        print(
            f"planted: {found} of {len(planted)} slowdowns found, asked for"
            f" {units.share(FOUND)}; in the median {units.share(ratios[len(ratios) // 2])} slower"
        )
        broken |= found < FOUND * len(planted)
    return int(broken)


def gate(number: int) -> int:
    """Print what the gate finds of a slowdown of 5 % on simulated machines, and what of none."""
    if not number:
        return 0
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from bench.simulation import gated, mixed

    machines = [mixed(random.Random(seed)) for seed in range(number)]
    found = sum(gated(one, seed=seed, slowdown=0.05) for seed, one in enumerate(machines))
    false = sum(gated(one, seed=seed, slowdown=0.0) for seed, one in enumerate(machines))
    print(f"gate: {found} of {number} simulated slowdowns of 5 % fail, {false} of {number} of none")
    return int(found < 0.9 * number or false > 0.01 * number)


if __name__ == "__main__":
    raise SystemExit(main())
