"""What a model of the zoo is, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from burnish.core.registry import Registry

Module = Any
"""A `torch.nn.Module`; torch is imported only when a model is built."""
Tensors = dict[str, Any]
"""`torch.Tensor`s by input name, in the order in which the module takes them."""
Graph = Any
"""An `ir.Model`; onnx_ir is imported only when a graph is written."""
Attention = Literal["sdpa", "eager"]
Precision = Literal["fp32", "fp16", "bf16"]
Choice = Literal["layers", "attention", "sequence", "past"]
Family = Literal["text", "decoder", "vision", "audio", "restoration", "rendering", "diffusion"]


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """What to build; None leaves the choice to the model."""

    layers: int | None = None
    attention: Attention = "sdpa"
    """`sdpa` where the library has it for this model; `eager` spells attention out."""
    batch: int | None = None
    sequence: int | None = None
    """Tokens for text, frames for audio, points for rendering."""
    precision: Precision = "fp32"
    past: bool = False
    """Take and return the keys and values of earlier tokens; only for decoders."""
    small: bool = False
    """A copy of the same structure that a unit test can afford."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """A module with flat tensors in and out, ready to be called, traced or exported."""

    module: Module
    """Takes the inputs by name or by position, returns a tuple of tensors; in eval mode."""
    inputs: Tensors
    second_inputs: Tensors
    """The same inputs at other sizes on every dynamic axis, with masks padded elsewhere."""
    output_names: tuple[str, ...]
    dynamic_axes: Mapping[str, Mapping[int, str]]
    """For every input that has any: which axes are dynamic, and what each size is called."""

    @property
    def input_names(self) -> tuple[str, ...]:
        """Return the inputs' names, in the module's order."""
        return tuple(self.inputs)


@dataclass(frozen=True, slots=True)
class Spelling:
    """A graph that is written here, as another framework's exporter would write it."""

    style: str
    write: Callable[[BuiltModel], Graph]


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model that burnish can build from a configuration, without any download."""

    name: str
    family: Family
    summary: str
    """What it is, and what it is good for when optimising."""
    parameters: int
    """How many numbers the full-size model has."""
    inputs: str
    """The inputs as a person would write them: `input_ids: i64[batch, sequence]`."""
    idea: str
    """Who published the architecture, and the licence of the code it was published with."""
    build: Callable[[NetworkOptions], BuiltModel]
    understands: frozenset[Choice] = frozenset()
    """Which choices it can follow beyond batch, precision, small and seed, which all models do."""

    spelling: Spelling | None = None
    """None: PyTorch's exporters write the graph."""

    @property
    def has_past(self) -> bool:
        """Return whether it can take and return the keys and values of earlier tokens."""
        return "past" in self.understands


ENCODER: frozenset[Choice] = frozenset({"layers", "attention", "sequence"})
"""What every text encoder understands."""
DECODER: frozenset[Choice] = ENCODER | {"past"}

MODELS: Registry[ModelEntry] = Registry("model", package="burnish.zoo.models")


def register(*entries: ModelEntry) -> None:
    """File each entry under its own name."""
    for entry in entries:
        MODELS.register(entry.name)(entry)
