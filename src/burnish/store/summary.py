"""What a model is, and what a store holds: the records behind `burnish model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core.tensors import TensorSpec
from burnish.store.history import History

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class UnknownOperator:
    """A node whose operator neither ONNX nor ONNX Runtime nor the model itself defines."""

    node: str
    op_type: str
    domain: str


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """What a model is."""

    label: str
    path: Path
    file_bytes: int
    """The ONNX file and its data files together."""
    data_files: tuple[str, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    ir_version: int
    opsets: Mapping[str, int]
    """Version by domain; ONNX's own domain is `ai.onnx`."""
    producer: str
    parameters: int
    parameter_bytes: int
    operators: Mapping[str, int]
    """Nodes by operator, most frequent first; those inside functions and subgraphs included."""
    unknown: tuple[UnknownOperator, ...]
    data_sets: tuple[Path, ...]
    history: History | None


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """One model of a store; `problem` says why it cannot be read, else it is None."""

    name: str
    variant: str
    path: Path
    file_bytes: int
    inputs: tuple[TensorSpec, ...]
    data_sets: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class StoreListing:
    """What a store holds."""

    store: Path
    models: tuple[StoreEntry, ...]
