"""A device as data: what it can compute and move per second, from its catalog file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal, get_args

from burnish.core import documents
from burnish.core.errors import ModelError, UsageError
from burnish.core.nearest import suggestion
from burnish.core.tensors import BITS
from burnish.hw.unit import UNITS, UnitSpec

Kind = Literal["gpu", "cpu"]

_CATALOG = resources.files("burnish.hw") / "catalog"
_LARGEST = 1e30
"""No device has as much of anything; the infinite and the undefined are not below it either."""
_RATES = frozenset({*BITS, "tf32"})
"""Peak rates are told by element type; TF32 is a way to multiply f32, with a rate of its own."""


@dataclass(frozen=True, slots=True)
class MemoryLevel:
    """One kind of memory, for the whole device."""

    name: str
    capacity_bytes: int
    """Of each compute unit's own memory where it has one, else of the one they share."""
    bandwidth_bytes_per_s: float
    """Of all compute units together."""
    per_unit: bool


@dataclass(frozen=True, slots=True)
class HardwareSpec:
    """What a device can do at best, and where that is written."""

    name: str
    kind: Kind
    compute_units: int
    """Streaming multiprocessors of a GPU, cores of a CPU."""
    peak_flops_per_s: Mapping[str, float]
    """By element type, dense, all compute units together."""
    memory: tuple[MemoryLevel, ...]
    """Fastest first; the last one is DRAM."""
    launch_overhead_s: float
    """What starting one kernel costs when nothing hides it."""
    recognised_by: tuple[str, ...]
    """Words that all stand in the device's name (GPU), or flags that it has (CPU)."""
    source: str
    """The data sheet or the measurement that the numbers are from."""
    unit: UnitSpec | None = None
    """How one compute unit runs code; None: as others of its kind do."""

    @property
    def is_measured(self) -> bool:
        """Return whether the numbers were measured; data sheets tell what nobody reaches."""
        return self.source.startswith("Measured")


def names() -> tuple[str, ...]:
    """Return the devices in the catalog, sorted."""
    files = (entry.name for entry in _CATALOG.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def load(name: str) -> HardwareSpec:
    """Return a device from the catalog."""
    if name not in names():
        raise UsageError(f"unknown device {name!r}", hint=suggestion(name, names()))
    return parse((_CATALOG / f"{name}.toml").read_bytes(), where=f"{name}.toml")


def parse(text: str | bytes, where: str) -> HardwareSpec:
    """Return the device that a TOML text describes; `where` names the text in errors."""
    table = documents.parse_toml(text, where, hint=_catalog_hint())
    unit = _unit(table.pop("unit", {}), table.get("kind"), where)
    _check_keys(table, HardwareSpec, where)
    levels = table.pop("memory")
    if not isinstance(levels, list) or not levels:
        raise _wrong(where, "'memory' lists no level")
    for index, level in enumerate(levels):
        _check_keys(level, MemoryLevel, f"{where}: memory level {index}")
    memory = tuple(MemoryLevel(**level) for level in levels)
    words = table.pop("recognised_by")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise _wrong(where, "'recognised_by' is not a list of words")
    recognised_by = tuple(words)
    spec = HardwareSpec(**table, memory=memory, recognised_by=recognised_by, unit=unit)
    _check_values(spec, where)
    return spec


def for_cores(spec: HardwareSpec, cores: int) -> HardwareSpec:
    """Return a CPU with another number of cores; what all cores share stays as it is."""
    factor = cores / spec.compute_units
    return dataclasses.replace(
        spec,
        compute_units=cores,
        peak_flops_per_s={k: v * factor for k, v in spec.peak_flops_per_s.items()},
        memory=tuple(
            dataclasses.replace(level, bandwidth_bytes_per_s=level.bandwidth_bytes_per_s * factor)
            if level.per_unit
            else level
            for level in spec.memory
        ),
    )


def _unit(table: object, kind: object, where: str) -> UnitSpec | None:
    """Return what a description tells of its units, the rest as others of the kind have it."""
    known = [field.name for field in dataclasses.fields(UnitSpec)]
    if not isinstance(table, dict):
        raise _wrong(where, "'unit' is not a table")
    for key, value in table.items():
        if key not in known:
            raise _wrong(where, f"'unit.{key}' is not known", hint=suggestion(key, known))
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not 0 < value < _LARGEST
        ):
            raise _wrong(where, f"unit.{key} is {value!r}, not a positive number")
    return dataclasses.replace(UNITS[str(kind)], **table) if table and kind in UNITS else None


def _check_keys(table: object, record: type, where: str) -> None:
    if not isinstance(table, dict):
        raise _wrong(where, "is not a table")
    known = [field.name for field in dataclasses.fields(record) if field.name != "unit"]
    for key in known:
        if key not in table:
            raise _wrong(where, f"{key!r} is missing")
        if key in ("name", "source") and not isinstance(table[key], str):
            raise _wrong(where, f"{key!r} is {table[key]!r}, not text")
    for key in table:
        if key not in known:
            raise _wrong(where, f"{key!r} is not known", hint=suggestion(key, known))


def _check_values(spec: HardwareSpec, where: str) -> None:
    if spec.kind not in get_args(Kind):
        raise _wrong(where, f"'kind' is {spec.kind!r}", hint="write gpu or cpu")
    if not isinstance(spec.peak_flops_per_s, dict):
        raise _wrong(where, "'peak_flops_per_s' is not a table")
    for dtype in spec.peak_flops_per_s:
        if dtype not in _RATES:
            raise _wrong(where, f"{dtype!r} is no element type", hint=suggestion(dtype, _RATES))
    numbers = {
        "compute_units": spec.compute_units,
        "launch_overhead_s": spec.launch_overhead_s,
        **{f"peak_flops_per_s.{key}": rate for key, rate in spec.peak_flops_per_s.items()},
        **{f"capacity_bytes of {level.name}": level.capacity_bytes for level in spec.memory},
        **{f"bandwidth of {level.name}": level.bandwidth_bytes_per_s for level in spec.memory},
    }
    for name, number in numbers.items():
        if not isinstance(number, (int, float)) or not 0 < number < _LARGEST:
            raise _wrong(where, f"{name} is {number!r}, not a positive number")


def _wrong(where: str, finding: str, hint: str = "") -> ModelError:
    return ModelError(f"{where}: {finding}", hint=hint or _catalog_hint())


def _catalog_hint() -> str:
    return f"compare it with a device of the catalog: {', '.join(names())}"
