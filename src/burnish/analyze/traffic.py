"""How much an inference reads from memory and writes to it: counted by the device, or predicted."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from burnish.analyze.work import work_of
from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.store.graph import GraphRecord

LINE_BYTES = 64
"""What a cache reads from memory at once, on every CPU that there is an engine for."""
METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum")
"""What ncu is asked for, and must tell."""
CACHE_METRICS = ("l1tex__m_xbar2l1tex_read_bytes.sum", "l1tex__m_l1tex2xbar_write_bytes.sum")
"""What it is asked for besides: bytes between multiprocessors and the cache that they share."""
_FACTORS = {
    "byte": 1.0, "kbyte": 1e3, "mbyte": 1e6, "gbyte": 1e9, "tbyte": 1e12,
    "nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3,
    "second": 1.0, "s": 1.0,
}  # fmt: skip
FORBIDDEN = "ERR_NVGPUCTRPERM"
"""How ncu says that only an administrator may read a card's counters."""
NO_METRIC = "find metric"
"""How ncu says that a card has no counter of some name."""
NO_KERNELS = "No kernels were profiled"
"""How ncu says that it had nothing to count."""
_UNTOLD = frozenset({"", "n/a", "nan", "-nan", "inf", "-inf"})
"""What stands in place of a count where there was none."""
_ALLOW = (
    "run it as root (sudo -E), or allow everybody: echo 'options nvidia"
    " NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-counters.conf,"
    " and restart"
)


@dataclass(frozen=True, slots=True)
class KernelTraffic:
    """All of one kernel in one inference."""

    name: str
    count: float
    read_bytes: float
    written_bytes: float
    seconds_s: float
    cache_read_bytes: float | None = None
    """From the cache that multiprocessors share; None: it was not counted."""
    cache_written_bytes: float | None = None


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
    planned_bytes: float | None = None
    """What its plan was predicted to move, where it is compiled: on a card, between multiprocessors
    and the cache that they share."""
    cache_read_bytes: float | None = None
    """What multiprocessors read of that cache; None: it was not counted."""
    cache_written_bytes: float | None = None


def predicted(graph: GraphRecord | None) -> tuple[float | None, int]:
    """Return the bytes that a graph moves at least, and for how many nodes that is not known."""
    if graph is None:
        return None, 0
    works = [work_of(node, graph) for node in graph.nodes]
    known = [work.bytes_moved for work in works if work is not None]
    return (sum(known) if known else None), len(works) - len(known)


def of_ncu(text: str, *, runs: int) -> tuple[KernelTraffic, ...]:
    """Return the kernels of an inference from what `ncu --csv --page raw` wrote."""
    if FORBIDDEN in text:
        raise MissingCapabilityError(
            "counters not permitted: only an administrator may read those of this card", hint=_ALLOW
        )
    if NO_KERNELS in text:
        raise ModelError(
            "ncu saw no kernel: the inference launched none on a card",
            hint="on an engine that does: burnish profile MODEL --ncu --engine torch-eager",
        )
    start = text.find('"ID"')
    rows = list(csv.DictReader(io.StringIO(text[start:]))) if start >= 0 else []
    if not rows or any(name not in rows[0] for name in ("Kernel Name", *METRICS)):
        raise ModelError(
            "what ncu wrote holds no kernels with " + ", ".join(METRICS),
            hint="see whether it may read counters here: ncu --query-metrics",
        )
    asked = (*METRICS, *CACHE_METRICS) if _tells_of_cache(rows) else METRICS
    units, *kernels = rows
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(asked))
    counts: dict[str, int] = defaultdict(int)
    for row in kernels:
        name = row["Kernel Name"]
        counts[name] += 1
        for place, metric in enumerate(asked):
            sums[name][place] += _value(row[metric], units[metric])
    found = [
        KernelTraffic(name, counts[name] / runs, *(part / runs for part in parts))
        for name, parts in sums.items()
    ]
    return tuple(sorted(found, key=lambda one: -(one.read_bytes + one.written_bytes)))


def _tells_of_cache(rows: Sequence[Mapping[str, str]]) -> bool:
    """Say whether every kernel was counted at the shared cache, too; not every card has both."""
    texts = [row.get(metric, "") for row in rows[1:] for metric in CACHE_METRICS]
    return all(text.strip().lower() not in _UNTOLD for text in texts)


def total(parts: Iterable[float | None]) -> float | None:
    """Return a sum of counts; None: one of them is not known."""
    known = list(parts)
    return None if None in known else sum(part or 0.0 for part in known)


def of_misses(misses: Mapping[str, float], *, runs: int) -> dict[str, float]:
    """Return the bytes that an inference reads and writes, from the misses of the last cache."""
    return {kind: number * LINE_BYTES / runs for kind, number in misses.items()}


def _value(text: str, unit: str) -> float:
    """Return a number in seconds or bytes; a counter that told nothing is not one that told 0."""
    if text.strip().lower() in _UNTOLD:
        raise MissingCapabilityError(
            f"counters not permitted: ncu ran, and was told {text!r} by the card, as where a"
            " virtual machine hides them",
            hint=_ALLOW,
        )
    try:
        return float(text.replace(",", "")) * _FACTORS[unit.lower()]
    except (ValueError, KeyError) as error:
        raise ModelError(
            f"what ncu wrote holds {text!r} in {unit!r}, which is no number of bytes or seconds",
            hint="see whether it may read counters here: ncu --query-metrics",
        ) from error
