"""Which inputs were written for a model: the record behind `burnish inputs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core.tensors import TensorSpec

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class WrittenSample:
    """One set of inputs on disk."""

    path: Path
    inputs: tuple[TensorSpec, ...]
    bindings: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InputsReport:
    """The inputs that were written for a model."""

    model: str
    samples: tuple[WrittenSample, ...]
