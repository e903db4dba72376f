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
from burnish.infer.shapes import Shapes
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
    more_outputs: tuple[ir.Value, ...] = ()
    """Further values that the replacement gives, in the order in which `replace` returns them."""
    place: ir.Node | None = None
    """The node in front of which the replacement is put; None: the one that gives `output`.
    What the replacement reads must be there already, and who reads it must come after."""
    scattered: bool = False
    """Who reads the outputs may come before the replacement, which reads nothing of theirs: nodes
    are put in order again."""

    @property
    def outputs(self) -> tuple[ir.Value, ...]:
        """Return all values that the replacement gives, the main one first."""
        return (self.output, *self.more_outputs)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a rule leaves a place alone that looks like its own."""

    reason: str
    """Names the node, what was found and what was expected."""
    remedy: str
    """What would let it through."""


class Builder:
    """Makes the nodes of a replacement, in front of the node that the match names."""

    def __init__(self, facts: Facts, match: Match, anchor: ir.Node) -> None:
        producer = match.output.producer()
        if producer is None or producer.graph is None:
            raise ValueError(f"{match.output.name} is not computed by a node")
        self.facts = facts
        self._model = facts.model
        self._before = match.place or producer
        self._graph = producer.graph
        self._stem = anchor.name or anchor.op_type
        self.nodes: list[ir.Node] = []
        self.constants: list[ir.Value] = []
        self.copies: dict[ir.Node, ir.Node] = {}
        """New nodes that do the work of old ones on other values, with those."""
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
        attributes: Mapping[str, Scalar | ir.Attr] | None = None,
    ) -> ir.Value:
        """Return the output of a new node; it has the type and shape of `like`."""
        return self.outputs(op_type, inputs, likes=[like], domain=domain, attributes=attributes)[0]

    def outputs(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        *,
        likes: Sequence[ir.Value | None],
        domain: str = "",
        attributes: Mapping[str, Scalar | ir.Attr] | None = None,
    ) -> tuple[ir.Value, ...]:
        """Return the outputs of a new node, each with the type and shape of its like.

        An output without a like is left out: it has no name, as ONNX wants it.
        """
        earlier = sum(node.op_type == op_type for node in self.nodes)
        name = f"{self._stem}/{op_type}" + (f"_{earlier + 1}" if earlier else "")
        made = ir.node(
            op_type, inputs, attributes=dict(attributes or {}), domain=domain, name=name,
            num_outputs=len(likes),
        )  # fmt: skip
        for index, (output, like) in enumerate(zip(made.outputs, likes, strict=True)):
            output.name = "" if like is None else f"{name}_output{index or ''}"
            output.type = None if like is None else like.type
            output.shape = None if like is None else like.shape
            if like is not None:
                _state_shape(output, like, self.facts)
        if domain:
            self._model.opset_imports.setdefault(domain, 1)
        self._graph.insert_before(self._before, made)
        self.nodes.append(made)
        return tuple(made.outputs)

    def copy(
        self,
        node: ir.Node,
        inputs: Sequence[ir.Value | None],
        attributes: Mapping[str, Scalar] | None = None,
    ) -> tuple[ir.Value, ...]:
        """Return the outputs of a node that does the same on other inputs, of the same shapes.

        It takes over the name and the history of the old node, once that has gone.
        """
        made = self.outputs(
            node.op_type,
            inputs,
            likes=[value if value.name else None for value in node.outputs],
            domain=node.domain,
            attributes={**node.attributes, **(attributes or {})},
        )
        self.copies[self.nodes[-1]] = node
        return made

    def constant(self, role: str, array: Array) -> ir.Value:
        """Return a new small constant."""
        return self._add(role, np.asarray(array, order="C"))

    def computed(self, role: str, tensor: ir.LazyTensor) -> ir.Value:
        """Return a new constant of any size, which is computed when it is read or written."""
        return self._add(role, tensor)

    def _add(self, role: str, content: Array | ir.LazyTensor) -> ir.Value:
        name = stem = f"{self._stem}/{role}"
        number = 1
        while name in self._graph.initializers:
            number += 1
            name = f"{stem}_{number}"
        value = edit.add_initializer(self._graph, name, content)
        self.constants.append(value)
        return value

    def require_opset(self, version: int) -> None:
        """Declare at least this version of ONNX's operators; the rule has seen no obstacle."""
        have = self.opset
        if have < version:
            opsets.raise_to(self._model, version)
            self.notes.append(f"the opset was raised from {have} to {version}")


def _state_shape(value: ir.Value, like: ir.Value, facts: Facts) -> None:
    """Let what is known about the sizes of one value hold for another, if anybody has asked."""
    shapes = facts.memory.get(Shapes)
    known = shapes.of(like) if isinstance(shapes, Shapes) else None
    if isinstance(shapes, Shapes) and known is not None:
        shapes.state(value, known)


Finder = Callable[[ir.Node, Facts], "Match | Refusal | None"]
Replacer = Callable[[Match, Builder], ir.Value | tuple[ir.Value, ...]]
"""Returns the value in place of `output`, then those in place of `more_outputs`."""


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
    calls: bool = False
    """The anchors are names of functions that the model holds: the rule is asked at each call of
    one, before the body takes its place. `find` reads the body with `called`."""


def called(node: ir.Node, facts: Facts) -> ir.Function | None:
    """Return the function that a node calls; None: it is an operator."""
    return facts.model.functions.get(node.op_identifier())
