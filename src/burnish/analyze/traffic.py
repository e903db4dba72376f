"""How much an inference reads from memory and writes to it: counted by the device, or predicted."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from burnish.analyze.work import work_of
from burnish.core.errors import ModelError
from burnish.store.graph import GraphRecord

LINE_BYTES = 64
"""What a cache reads from memory at once, on every CPU that there is an engine for."""
METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum")
"""What ncu is asked for."""
_FACTORS = {
    "byte": 1.0, "kbyte": 1e3, "mbyte": 1e6, "gbyte": 1e9, "nsecond": 1e-9, "ns": 1e-9,
    "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3, "second": 1.0, "s": 1.0,
}  # fmt: skip
_MISSES = {"LLC-load-misses": "read", "LLC-store-misses": "written"}
PERF_EVENTS = tuple(_MISSES)


@dataclass(frozen=True, slots=True)
class KernelTraffic:
    """All of one kernel in one inference."""

    name: str
    count: float
    read_bytes: float
    written_bytes: float
    seconds_s: float


@dataclass(frozen=True, slots=True)
class MemoryTraffic:
    """What one inference moves."""

    source: Literal["ncu", "perf", "predicted"]
    read_bytes: float | None
    """None: it was not counted."""
    written_bytes: float | None
    predicted_bytes: float | None
    """What must be moved at least, by the shapes; None: no node's is known."""
    unknown_nodes: int = 0
    """How many nodes' part of that is not known."""
    kernels: tuple[KernelTraffic, ...] = ()
    reason: str = ""
    """Why it was not counted."""


def predicted(graph: GraphRecord | None) -> tuple[float | None, int]:
    """Return the bytes that a graph moves at least, and for how many nodes that is not known."""
    if graph is None:
        return None, 0
    works = [work_of(node, graph) for node in graph.nodes]
    known = [work.bytes_moved for work in works if work is not None]
    return (sum(known) if known else None), len(works) - len(known)


def of_ncu(text: str, *, runs: int) -> tuple[KernelTraffic, ...]:
    """Return the kernels of an inference from what `ncu --csv --page raw` wrote."""
    start = text.find('"ID"')
    rows = list(csv.DictReader(io.StringIO(text[start:]))) if start >= 0 else []
    if not rows or any(name not in rows[0] for name in ("Kernel Name", *METRICS)):
        raise ModelError(
            "what ncu wrote holds no kernels with " + ", ".join(METRICS),
            hint="see whether it may read counters here: ncu --query-metrics",
        )
    units, *kernels = rows
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(METRICS))
    counts: dict[str, int] = defaultdict(int)
    for row in kernels:
        name = row["Kernel Name"]
        counts[name] += 1
        for place, metric in enumerate(METRICS):
            sums[name][place] += _value(row[metric]) * _FACTORS.get(units[metric].lower(), 1.0)
    found = [
        KernelTraffic(name, counts[name] / runs, *(part / runs for part in parts))
        for name, parts in sums.items()
    ]
    return tuple(sorted(found, key=lambda one: -(one.read_bytes + one.written_bytes)))


def of_perf(texts: Sequence[str], *, runs: int) -> Mapping[str, float] | str:
    """Return bytes read and written by an inference, or why they were not counted.

    From what `perf stat -x,` wrote without inferences and with `runs` of them.
    """
    counted = [_perf_counts(text) for text in texts]
    for event in PERF_EVENTS[:1]:
        for counts in counted:
            if event not in counts:
                return f"{event} cannot be counted on this machine"
    without, having = counted
    return {
        kind: max(0.0, having.get(event, 0.0) - without.get(event, 0.0)) * LINE_BYTES / runs
        for event, kind in _MISSES.items()
        if event in having and event in without
    }


def _perf_counts(text: str) -> dict[str, float]:
    found = {}
    for line in text.splitlines():
        cells = line.split(",")
        if len(cells) > 2 and cells[0].replace(".", "", 1).isdigit():
            found[cells[2].partition(":")[0]] = float(cells[0])
    return found


def _value(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0
