"""What a model takes and gives."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.core.tensors import TensorSpec

ANY_RANK = "..."
"""The only entry in the shape of a tensor whose number of dimensions the model does not tell."""


@dataclass(frozen=True, slots=True)
class Interface:
    """The inputs that must be fed and the outputs, in the model's order."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
