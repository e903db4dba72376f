"""What a fusion rule is.

The rules here are our own, not patterns of onnxscript's rewriter: a pattern there describes one
spelling of a graph, is tried against every node, and says no in four ways, three of them silent.
A rule here is asked only at its anchors, reads what the graph means through `algebra`, and
answers in one of three ways: this is not my business, here is a match, or here is why not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.rewrite import edit, opsets
from burnish.rewrite.facts import Facts

Scalar = int | float | str


@dataclass(frozen=True, slots=True)
class Match:
    """A place where a rule fires."""

    nodes: tuple[ir.Node, ...]
    """All nodes that the replacement stands for, each after those it reads. Nodes that others
    still read are kept when the rest goes."""
    output: ir.Value
    """The value that the replacement gives."""
    values: Mapping[str, ir.Value | None]
    """What the replacement reads, by the rule's own names."""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    """What the replacement must know besides."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a rule leaves a place alone that looks like its own."""

    reason: str
    """Names the node, what was found and what was expected."""
    remedy: str
    """What would let it through."""


class Builder:
    """Makes the nodes of a replacement, in front of the node whose output it gives."""

    def __init__(self, facts: Facts, match: Match, anchor: ir.Node) -> None:
        producer = match.output.producer()
        if producer is None or producer.graph is None:
            raise ValueError(f"{match.output.name} is not computed by a node")
        self.facts = facts
        self._model = facts.model
        self._before = producer
        self._graph = producer.graph
        self._stem = anchor.name or anchor.op_type
        self.nodes: list[ir.Node] = []
        self.notes: list[str] = []

    @property
    def opset(self) -> int:
        """Return the version of ONNX's own operators that the model declares."""
        return opsets.declared(self._model)

    def node(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        *,
        like: ir.Value,
        domain: str = "",
        attributes: Mapping[str, Scalar] | None = None,
    ) -> ir.Value:
        """Return the output of a new node; it has the type and shape of `like`."""
        name = f"{self._stem}/{op_type}"
        made = ir.node(op_type, inputs, attributes=dict(attributes or {}), domain=domain, name=name)
        made.outputs[0].name = f"{name}_output"
        made.outputs[0].type = like.type
        made.outputs[0].shape = like.shape
        if domain:
            self._model.opset_imports.setdefault(domain, 1)
        self._graph.insert_before(self._before, made)
        self.nodes.append(made)
        return made.outputs[0]

    def constant(self, role: str, array: Array) -> ir.Value:
        """Return a new small constant."""
        name = stem = f"{self._stem}/{role}"
        number = 1
        while name in self._graph.initializers:
            number += 1
            name = f"{stem}_{number}"
        return edit.add_initializer(self._graph, name, np.ascontiguousarray(array))

    def require_opset(self, version: int) -> None:
        """Declare at least this version of ONNX's operators; the rule has seen no obstacle."""
        have = self.opset
        if have < version:
            opsets.raise_to(self._model, version)
            self.notes.append(f"the opset was raised from {have} to {version}")


Finder = Callable[[ir.Node, Facts], "Match | Refusal | None"]
Replacer = Callable[[Match, Builder], ir.Value]


@dataclass(frozen=True, slots=True)
class Rule:
    """A fusion: where to look, what to find there, what to put in its place."""

    name: str
    summary: str
    """before --> after, on one line."""
    anchors: frozenset[str]
    """Operators at which a site is looked for; the rarest one of a pattern is the best."""
    find: Finder
    """None: not even a candidate."""
    replace: Replacer
