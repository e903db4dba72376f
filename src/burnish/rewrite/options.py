"""What a user may ask of rewriting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Target = Literal["cpu", "cuda"]
Operators = Literal["auto", "standard", "contrib"]
Cost = Literal["measured", "rules", "off"]
Method = Literal["minmax", "percentile", "entropy", "mse"]
"""How the span that 8 bits are spent on is chosen: all of it, or where errors are least."""
Edges = Literal["keep", "convert"]
"""What happens to f32 inputs and outputs of the whole model."""


Precision = Literal["fp16", "bf16", "int8", "int4"]
"""The kinds of numbers that a model in f32 can be brought to."""


@dataclass(frozen=True, slots=True)
class PrecisionRequest:
    """How a model is brought to fewer bits."""

    precision: Precision = "fp16"
    edges: Edges = "convert"
    keep: tuple[str, ...] = ()
    """Operators, nodes and patterns of nodes' names that stay in f32."""
    calibrate: str | None = None
    """Where inputs are to find scales with beforehand; None: scales are found as it runs."""
    shapes: tuple[Mapping[str, int], ...] = ()
    """The sizes of inputs that are made to find scales with; empty: those that are usual."""
    calibration: Method = "minmax"
    """How the span of a value is chosen from what it was seen to be."""
    smooth: float | None = None
    """Which part of the spread of activations is moved into weights first; None: none."""
    max_error: float | None = None
    """How far outputs may move, in their root mean square, where numbers are changed so that they
    must; None: what is usual for the precision."""

    @property
    def is_half(self) -> bool:
        """Return whether everything becomes a narrower float; else, weights become integers."""
        return self.precision in ("fp16", "bf16")


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a user wants to be different about a model, besides being faster."""

    axes: Mapping[str, str] = field(default_factory=dict)
    """New names of axes of inputs and outputs; equal names promise equal sizes."""
    i32_inputs: bool = False
    numbers: PrecisionRequest | None = None
    """The kind of numbers; None: as they are."""

    @property
    def half(self) -> PrecisionRequest | None:
        """Return how everything becomes a narrower float; None: it does not."""
        return self.numbers if self.numbers is not None and self.numbers.is_half else None

    @property
    def bounded(self) -> PrecisionRequest | None:
        """Return how numbers are changed whose error has a bound of its own; None: none are.

        Integers always have one, narrower floats where it is asked for: else they must compute the
        same within the tolerance of their type.
        """
        has_bound = self.half is not None and self.half.max_error is not None
        return self.half if has_bound else self.integers

    @property
    def integers(self) -> PrecisionRequest | None:
        """Return how weights become integers; None: they do not."""
        return None if self.numbers is None or self.numbers.is_half else self.numbers

    @property
    def changes_types(self) -> bool:
        """Return whether inputs or outputs may have other element types afterwards."""
        return self.i32_inputs or (self.half is not None and self.half.edges == "convert")


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
    conversion: Conversion = Conversion()
    """Other types and names, which the model gets around and after the rewriting."""
    fold_input_bytes: int = 1 << 20
    """Constants above this size are not read, so weights stay where they are on disk."""
    fold_growth_bytes: int = 1 << 16
    """A folded result above this size must not be larger than what it is computed from."""
