"""What a user may ask of rewriting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Target = Literal["cpu", "cuda"]
Operators = Literal["auto", "standard", "contrib"]
Cost = Literal["measured", "rules", "off"]


@dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """Which rules and steps run, and how far they may go."""

    disable: tuple[str, ...] = ()
    """Names of fusion rules or clean-up steps that must not run."""
    only: tuple[str, ...] = ()
    """If not empty: the only fusion rules that may run; clean-up steps are not affected."""
    keep_functions: bool = False
    """Leave calls of model-local functions, and their bodies, as they are."""
    raise_opset: bool = True
    """Let a rule declare a newer opset, where no operator of the model changes by that."""
    target: Target = "cpu"
    """Where the model will run: only operators with a kernel there are written."""
    ops: Operators = "auto"
    """Which operators rules may write: those of ONNX, those of ONNX Runtime, or the faster."""
    cost: Cost = "rules"
    """Leave fusions alone that are slower: measured here, known from a table, or never."""
    fold_input_bytes: int = 1 << 20
    """Constants above this size are not read, so weights stay where they are on disk."""
    fold_growth_bytes: int = 1 << 16
    """A folded result above this size must not be larger than what it is computed from."""
