"""The sizes of this processor's caches, as the system tells them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True, slots=True)
class Cache:
    """One level of a processor's caches."""

    level: int
    capacity_bytes: int
    shared_by: int
    """How many logical cores share one of it."""


def caches(root: Path = Path("/")) -> tuple[Cache, ...]:
    """Return the caches for data of the first core, the smallest first; empty: not told."""
    folder = root / "sys/devices/system/cpu/cpu0/cache"
    found = [one for index in sorted(folder.glob("index*")) if (one := _cache(index)) is not None]
    return tuple(sorted(found, key=lambda cache: cache.level))


def _cache(folder: Path) -> Cache | None:
    try:
        kind = (folder / "type").read_text().strip()
        level = int((folder / "level").read_text())
        text = (folder / "size").read_text().strip()
        cores = (folder / "shared_cpu_list").read_text().strip()
    except (OSError, ValueError):
        return None
    if kind == "Instruction" or not text:
        return None
    size = int(text.rstrip("KMG")) * _UNITS.get(text[-1], 1)
    return Cache(level, size, _count(cores))


def _count(cores: str) -> int:
    """Return how many cores a list like `0-3,8` names."""
    ranges = [part.partition("-") for part in cores.split(",") if part]
    return max(1, sum(int(last or first) - int(first) + 1 for first, _, last in ranges))
