"""The sizes of this processor's caches, as the system tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.hw.spec import HardwareSpec
from burnish.hw.unit import UNITS

_SHAPE = ("ways_of_associativity", "number_of_sets", "coherency_line_size")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True, slots=True)
class Cache:
    """One level of a processor's caches."""

    level: int
    capacity_bytes: int
    shared_by: int
    """How many logical cores share one of it."""
    ways: int | None = None
    """Lines that one of its sets holds; None: not told."""
    sets: int | None = None
    line_bytes: int | None = None


def caches(root: Path = Path("/")) -> tuple[Cache, ...]:
    """Return the caches for data of the first core, the smallest first; empty: not told."""
    folder = root / "sys/devices/system/cpu/cpu0/cache"
    found = [one for index in sorted(folder.glob("index*")) if (one := _cache(index)) is not None]
    return tuple(sorted(found, key=lambda cache: cache.level))


def as_told(spec: HardwareSpec, found: Sequence[Cache]) -> HardwareSpec:
    """Return a CPU's description with the sizes and sets that the system tells of its caches."""
    sizes = {f"l{cache.level}": cache.capacity_bytes for cache in found}
    memory = tuple(
        replace(level, capacity_bytes=sizes.get(level.name, level.capacity_bytes))
        for level in spec.memory
    )
    unit = spec.unit or UNITS[spec.kind]
    first = next((cache for cache in found if cache.level == 1), None)
    if first is not None:
        unit = replace(unit, first_cache_bytes=first.capacity_bytes)
        if first.ways and first.sets and first.line_bytes:
            sets_bytes = first.sets * first.line_bytes
            unit = replace(unit, cache_ways=first.ways, cache_sets_bytes=sets_bytes)
    return replace(spec, memory=memory, unit=unit)


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
    told = (_number(folder / name) for name in _SHAPE)
    return Cache(level, size, _count(cores), *told)


def _number(path: Path) -> int | None:
    """Return a number that the system need not tell, and tells as 0 where a hypervisor hides it."""
    try:
        return int(path.read_text()) or None
    except (OSError, ValueError):
        return None


def _count(cores: str) -> int:
    """Return how many cores a list like `0-3,8` names."""
    ranges = [part.partition("-") for part in cores.split(",") if part]
    return max(1, sum(int(last or first) - int(first) + 1 for first, _, last in ranges))
