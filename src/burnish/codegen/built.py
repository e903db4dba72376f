"""What compiling gives, before it is written down: a plan, and what it refers to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from burnish.core.arrays import Arrays
from burnish.runtime.plan import Plan
from burnish.tile.graph import TileGraph


@dataclass(frozen=True, slots=True)
class Built:
    """A plan for one choice of sizes; where its constants lie is settled when it is written."""

    plan: Plan
    kernels: Mapping[str, str] = field(default_factory=dict)
    """The source of each kernel, by name."""
    constants: Arrays = field(default_factory=dict)
    parts: Mapping[str, ir.Model] = field(default_factory=dict)
    """the ONNX Runtime parts, by the file names in the plan's steps."""
    graphs: tuple[TileGraph, ...] = ()
    """What the kernels compute, as it was lowered: one graph for each stretch of them."""
