"""Whether the machine is quiet enough to measure, looked at before anything is measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from burnish.bench import machine
from burnish.bench.rounds import SETTLED_ROUNDS
from burnish.bench.subject import BenchOptions
from burnish.core import units
from burnish.timing.stopwatch import SETTLE_S

LOOKS = 10
BETWEEN_LOOKS_S = 0.03
MOST_WAITING = 0.5
"""More tasks of others than this, for each core, are felt in every block."""
OPENING_S = 1.5
"""About what a fresh process takes to start, open a small model and warm up, if undisturbed."""


def warning(
    options: BenchOptions,
    subjects: int,
    *,
    root: Path = machine.ROOT,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Return why to wait or to give more time; empty: the machine is quiet, or does not tell.

    What it would take is counted for small models: the rounds that every subject has, as much
    longer as others want the cores too. They are counted on all of the machine, also where this
    process may use a few of its cores only.
    """
    cores = max(machine.usable_cores(root), machine.all_cores(root))
    others = _others(root, sleep)
    if others is None or others <= MOST_WAITING * cores:
        return ""
    block_s = options.block_s + SETTLE_S
    round_s = subjects * (OPENING_S + options.blocks * block_s)
    needed_s = min(options.rounds, SETTLED_ROUNDS) * round_s * (others + cores) / cores
    found = f"others keep {units.count(round(others), 'task')} busy on "
    found += units.count(cores, "core")
    if needed_s <= options.budget_s:
        return f"{found}; {options.budget_named} is probably enough all the same"
    longer = f"--budget {options.budget_for(needed_s)}s"
    return f"{found}; wait until they are done, or give it longer: {longer}"


def _others(root: Path, sleep: Callable[[float], None]) -> float | None:
    """Return how many tasks besides this one want a core, on average over a moment."""
    seen = []
    for _ in range(LOOKS):
        try:
            fields = (root / "proc/loadavg").read_text(encoding="utf-8").split()
            seen.append(int(fields[3].partition("/")[0]) - 1)
        except (OSError, IndexError, ValueError):
            return None
        sleep(BETWEEN_LOOKS_S)
    return max(0.0, statistics.fmean(seen))
