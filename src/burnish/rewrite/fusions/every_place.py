"""Put two values side by side, element by element, where both are written into a third in place.

rewrite:
    ScatterND(ScatterND(base, (0, 2, …), Transpose(a)), (1, 3, …), Transpose(b))
    -->
    Transpose(Reshape(Concat(Unsqueeze(a), Unsqueeze(b))))

Exports of `out[..., 0::2] = a` and `out[..., 1::2] = b` look like this. Every place is written, so
what stood there before does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.rule import Builder, Match, Refusal, Rule


@dataclass(frozen=True, slots=True)
class _Written:
    """Every other row of a value, from row 0 or row 1, is a slice along another one's last axis."""

    start: int
    source: ir.Value
    perm: tuple[int, ...]
    """The axes of the source, its last one first."""
    nodes: tuple[ir.Node, ...]


@dataclass(frozen=True, slots=True)
class _Places(Match):
    perm: tuple[int, ...] = ()
    width: int = 0


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    below = None if node.inputs[0] is None else node.inputs[0].producer()
    shape = shapes_of(facts).of(node.outputs[0])
    width = shape[0] if shape else None
    if below is None or not isinstance(width, int) or width % 2:
        return None
    written = [_written(step, width, facts) for step in (below, node)]
    found = sorted((step for step in written if step is not None), key=lambda step: step.start)
    if [step.start for step in found] != [0, 1]:
        return None
    even, odd = found
    shapes = [shapes_of(facts).of(step.source) for step in found]
    if even.perm != odd.perm or any(one is None or one != two for one, two in pairwise(shapes)):
        return None
    turns = [step.nodes[0] for step in found]
    return _Places(
        (*turns, below, node), node.outputs[0], {"even": even.source, "odd": odd.source},
        perm=even.perm, width=width,
    )  # fmt: skip


def _written(node: ir.Node, width: int, facts: Facts) -> _Written | None:
    """Return what a node writes into every other row, and into no other."""
    if not is_standard(node, "ScatterND") or len(node.inputs) != 3:
        return None
    if node.attributes.get_string("reduction", "none") != "none":
        return None
    at, turn = facts.array(node.inputs[1]), _producer(node.inputs[2])
    source = None if turn is None or not is_standard(turn, "Transpose") else turn.inputs[0]
    if at is None or at.shape != (width // 2, 1) or turn is None or source is None:
        return None
    axes = turn.attributes.get("perm")
    perm = () if axes is None else tuple(axes.as_ints())
    starts = (start for start in (0, 1) if np.array_equal(at[:, 0], np.arange(start, width, 2)))
    start = next(starts, None)
    if start is None or not perm or perm[0] != len(perm) - 1:
        return None
    return _Written(start, source, perm, (turn, node))


def _producer(value: ir.Value | None) -> ir.Node | None:
    return None if value is None else value.producer()


def _replace(match: Match, builder: Builder) -> ir.Value:
    if not isinstance(match, _Places):
        raise TypeError("this match is not one of places")
    make = SizedBuilder(builder, match.output.dtype or ir.DataType.FLOAT)
    values = [value for value in match.values.values() if value is not None]
    shape = make.shapes.of(values[0]) or ()
    last = len(shape)
    wide = [make.over_axes("Unsqueeze", value, [last], (*shape, 1)) for value in values]
    pairs = make.node("Concat", wide, (*shape, 2), attributes={"axis": last})
    whole = (*shape[:-1], match.width)
    row = make.node("Reshape", [pairs, make.numbers([0] * (last - 1) + [match.width])], whole)
    turned = tuple(whole[axis] for axis in match.perm)
    return make.node("Transpose", [row], turned, attributes={"perm": match.perm})


RULES = (
    Rule(
        "every-place",
        "ScatterND(ScatterND(x, (0, 2, …), a^T), (1, 3, …), b^T) --> Transpose(pairs of a and b)",
        anchors=frozenset({"ScatterND"}),
        find=_find,
        replace=_replace,
    ),
)
