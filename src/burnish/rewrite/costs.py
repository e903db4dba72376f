"""What fused operators cost against the operators they stand for: measurements, as data."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

import onnx_ir as ir

from burnish.rewrite.kernels import TYPES
from burnish.rewrite.options import Target

_TABLES = resources.files("burnish.rewrite") / "cost_tables"

NOISE = 1.1
"""A fused operator counts as slower from this ratio on; below, runs of the same model differ."""


@dataclass(frozen=True, slots=True)
class KernelCost:
    """One measurement: a fused operator against its parts."""

    domain: str
    operator: str
    dtype: str
    shape: tuple[int, ...]
    parts_us: float
    fused_us: float

    @property
    def ratio(self) -> float:
        """Return the time of the fused operator over that of its parts."""
        return self.fused_us / self.parts_us


@dataclass(frozen=True, slots=True)
class CostTable:
    """All measurements on one target."""

    target: str
    runtime: str
    device: str
    date: str
    costs: tuple[KernelCost, ...]


def ratio(op_type: str, domain: str, dtype: ir.DataType | None, target: Target) -> float | None:
    """Return how many times its parts' time a fused operator takes; None: never measured."""
    ratios = [
        cost.ratio
        for cost in table(target).costs
        if (cost.domain, cost.operator, TYPES[cost.dtype]) == (domain, op_type, dtype)
    ]
    return math.prod(ratios) ** (1 / len(ratios)) if ratios else None


def is_faster(op_type: str, domain: str, dtype: ir.DataType | None, target: Target) -> bool:
    """Return whether a fused operator was measured to be faster than its parts, beyond noise."""
    known = ratio(op_type, domain, dtype, target)
    return known is not None and known * NOISE < 1


@cache
def table(target: Target) -> CostTable:
    """Return what was measured on a target."""
    return parse((_TABLES / f"{target}.toml").read_text(encoding="utf-8"))


def parse(text: str) -> CostTable:
    """Return the table that a TOML text describes."""
    content = tomllib.loads(text)
    rows = (dict(row, shape=tuple(row["shape"])) for row in content.pop("costs", ()))
    return CostTable(costs=tuple(KernelCost(**row) for row in rows), **content)
