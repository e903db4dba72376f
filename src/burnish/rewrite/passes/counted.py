"""A pass that says how much it changed."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir
from onnx_ir.passes import InPlacePass, PassResult

__all__ = ["Counted", "InPlacePass", "counted", "step_name"]


@dataclass
class Counted(PassResult):
    """The outcome of a pass, with the number of changes it made."""

    count: int = 0


def counted(model: ir.Model, count: int) -> Counted:
    """Return the outcome of a pass that made `count` changes."""
    return Counted(model, modified=count > 0, count=count)


def step_name(kind: type[InPlacePass]) -> str:
    """Return how users call a pass: `DropDeadCode` → `drop-dead-code`."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("-")
