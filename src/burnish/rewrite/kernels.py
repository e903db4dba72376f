"""What a target can run: operators by element type, as data.

A rule asks before it writes an operator that not every runtime has: a fused operator without a
kernel makes a model that cannot be loaded.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

import onnx_ir as ir

from burnish.rewrite.options import Target

Support = Literal["kernel", "cast", "body"]
"""Runs as it is; runs as f32 between inserted casts; is replaced by the operator's definition."""

TYPES: Mapping[str, ir.DataType] = {
    "f64": ir.DataType.DOUBLE,
    "f32": ir.DataType.FLOAT,
    "f16": ir.DataType.FLOAT16,
    "bf16": ir.DataType.BFLOAT16,
}

_TABLES = resources.files("burnish.rewrite") / "kernel_tables"
_KEYS: tuple[tuple[str, Support], ...] = (("types", "kernel"), ("cast", "cast"), ("body", "body"))


@dataclass(frozen=True, slots=True)
class SupportTable:
    """What one execution provider of ONNX Runtime runs."""

    target: str
    provider: str
    checked_with: tuple[str, ...]
    """Versions of the runtime that the table was compared with."""
    source: str
    support: Mapping[tuple[str, str, ir.DataType], Support]
    """By domain, operator and element type; what is not there does not load."""


def available(op_type: str, domain: str, dtype: ir.DataType | None, target: Target) -> bool:
    """Return whether a target runs an operator as one step, with or without casts around it."""
    return support(op_type, domain, dtype, target) in ("kernel", "cast")


def support(op_type: str, domain: str, dtype: ir.DataType | None, target: Target) -> Support | None:
    """Return how a target runs an operator; None: not at all, or it is not known."""
    if dtype is None:
        return None
    return table(target).support.get((domain, op_type, dtype))


@cache
def table(target: Target) -> SupportTable:
    """Return what is known about a target."""
    return parse((_TABLES / f"{target}.toml").read_text(encoding="utf-8"))


def parse(text: str) -> SupportTable:
    """Return the table that a TOML text describes."""
    content = tomllib.loads(text)
    found: dict[tuple[str, str, ir.DataType], Support] = {}
    for row in content["kernels"]:
        for key, how in _KEYS:
            for op_type in row["operators"]:
                for name in row.get(key, ()):
                    found[row["domain"], op_type, TYPES[name]] = how
    return SupportTable(
        target=content["target"],
        provider=content["provider"],
        checked_with=tuple(content["checked_with"]),
        source=content["source"],
        support=found,
    )
