"""A model's graph as plain data: who computes what from what, with the shapes that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.core.tensors import TensorSpec

Attribute = int | float | str | tuple[int, ...] | tuple[float, ...]
"""What a graph record keeps of an attribute; tensors and bodies are left out."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One operator at its place in the graph."""

    name: str
    """Its own, or `<OpType>_<index>` where the model gives none; unique in the graph."""
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    """Tensors by name; an empty one is an optional input that is left out."""
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    scope: tuple[str, ...] = ()
    """The modules around it, outermost first."""
    replaced: tuple[str, ...] = ()
    """The nodes of the model before it was optimised that it stands for, by name."""

    @property
    def layer(self) -> str:
        """Return its scope as people write it: `encoder/layer.0`."""
        return "/".join(self.scope)


@dataclass(frozen=True, slots=True)
class GraphRecord:
    """The main graph of a model, its nodes in an order in which they can run."""

    name: str
    nodes: tuple[GraphNode, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    tensors: Mapping[str, TensorSpec]
    """All tensors whose type and rank are known; sizes that are not known are names."""
    constants: frozenset[str]
    """Tensors that are the same in every inference: weights and results of Constant nodes."""

    def static(self, tensor: str) -> TensorSpec | None:
        """Return a tensor whose sizes are all known; None: it has an unknown one."""
        spec = self.tensors.get(tensor)
        return spec if spec is not None and not spec.symbols else None
