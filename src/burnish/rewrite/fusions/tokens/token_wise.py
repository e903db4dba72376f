"""The part of a graph that treats all tokens alike, but for attention among them."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.constants import constant_tensor
from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.extract import part
from burnish.rewrite.facts import Facts, rank
from burnish.rewrite.fusions.attention.fused import read

_EACH = ("Add", "Sub", "Mul", "Div", "Sum", "Relu", "Tanh", "Sigmoid", "Erf", "Gelu", "Cast",
         "Identity", "Neg", "Sqrt")  # fmt: skip
"""Operators of ONNX that compute each element on its own."""
_EACH_CONTRIB = ("BiasGelu", "FastGelu", "Gelu", "QuickGelu")
_NORMS = ("LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization")
_SKIP_NORMS = ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")


@dataclass(frozen=True, slots=True)
class TokenRegion:
    """Nodes that commute with any order of the tokens, from `entries` to `exits`."""

    nodes: tuple[ir.Node, ...]
    """Each after those it reads."""
    attentions: tuple[ir.Node, ...]
    """Those among them that are to be told which keys there are."""
    bias: ir.Value
    """What those add to their scores."""
    entries: tuple[ir.Value, ...]
    exits: tuple[ir.Value, ...]


class TokenRegions:
    """Finds regions around the attentions that share one bias of their scores."""

    def __init__(self, bias: ir.Value, tokens: Shape, facts: Facts) -> None:
        self._bias = bias
        self._tokens = tokens
        """(batch, length)"""
        self._shapes = shapes_of(facts)

    def around(self, attention: ir.Node) -> TokenRegion:
        """Return the largest region that an attention is in."""
        nodes: set[ir.Node] = {attention}
        values = {*self._read_by(attention), *attention.outputs[:1]}
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            for node in self._neighbours(value, values):
                if node in nodes:
                    continue
                nodes.add(node)
                fresh = {*self._read_by(node), *self._given_by(node)} - values
                values |= fresh
                waiting.extend([*fresh, *node.outputs])
        return self._bounded(nodes)

    def _neighbours(self, value: ir.Value, values: set[ir.Value]) -> list[ir.Node]:
        """Return the nodes that can join: who makes a value, and who reads nothing else."""
        maker = value.producer()
        found = [maker] if maker is not None and self._read_by(maker) else []
        for use in value.uses():
            read_by = self._read_by(use.node)
            if read_by and all(other in values for other in read_by):
                found.append(use.node)
        return found

    def _bounded(self, nodes: set[ir.Node]) -> TokenRegion:
        made = {value for node in nodes for value in node.outputs}
        outside = {value for node in nodes for value in self._read_by(node)} - made
        exits = tuple(
            value
            for node in nodes
            for value in node.outputs
            if value.is_graph_output() or any(use.node not in nodes for use in value.uses())
        )
        ordered = part(exits, {*outside, self._bias}).nodes
        kept = tuple(node for node in ordered if node in nodes)
        attentions = tuple(node for node in kept if self._is_attention(node))
        entries = dict.fromkeys(v for node in kept for v in self._read_by(node) if v in outside)
        return TokenRegion(kept, attentions, self._bias, tuple(entries), exits)

    def _given_by(self, node: ir.Node) -> tuple[ir.Value, ...]:
        return tuple(value for value in node.outputs if value.name)

    def _is_attention(self, node: ir.Node) -> bool:
        found = read(node)
        return (
            found is not None
            and node.domain == CONTRIB
            and found.is_plain
            and found.scores_bias is self._bias
        )

    def _read_by(self, node: ir.Node) -> tuple[ir.Value, ...]:
        """Return the tokens that a node reads; (): it does not treat all alike."""
        if self._is_attention(node):
            count = 3
        elif node.domain == CONTRIB and node.op_type in _SKIP_NORMS:
            count = 2
        elif is_standard(node, "MatMul", *_NORMS):
            count = 1
        elif is_standard(node, *_EACH) or (
            node.domain == CONTRIB and node.op_type in _EACH_CONTRIB
        ):
            count = len(node.inputs)
        else:
            return ()
        return self._tokens_of(node, count)

    def _tokens_of(self, node: ir.Node, count: int) -> tuple[ir.Value, ...]:
        """Return those of the first inputs that are tokens, if all others are constants."""
        tokens = [v for v in node.inputs[:count] if v is not None and self._is_tokens(v)]
        for index, value in enumerate(node.inputs):
            if value is None or value is self._bias or value in tokens:
                continue
            if constant_tensor(value) is None or not _spares_tokens(node, index):
                return ()
        whole = self._is_tokens(node.outputs[0]) and _is_last_axis(node)
        return tuple(tokens) if whole and tokens else ()

    def _is_tokens(self, value: ir.Value) -> bool:
        shape = self._shapes.of(value)
        return shape is not None and len(shape) == 3 and shape[:2] == self._tokens


def _spares_tokens(node: ir.Node, index: int) -> bool:
    """Return whether a constant is the same for all tokens."""
    value = node.inputs[index]
    shape = () if value is None or value.shape is None else value.shape.numpy()
    if node.op_type == "MatMul":
        return index == 1 and len(shape) == 2
    return all(size == 1 for size in shape[:-1])


def _is_last_axis(node: ir.Node) -> bool:
    if node.op_type not in _NORMS:
        return True
    source = node.inputs[0]
    axes = None if source is None else rank(source)
    return axes is not None and node.attributes.get_int("axis", -1) in (-1, axes - 1)
