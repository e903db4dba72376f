"""Choose the part of a graph on which a replacement is tried against what it replaces."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TypeGuard

import onnx_ir as ir

from burnish.feeds.dimension import atoms
from burnish.infer.constants import constant_tensor, sizes
from burnish.rewrite.extract import Part, part, reads
from burnish.rewrite.facts import FLOATS
from burnish.rewrite.match import Proposal

_MOST_NODES = 400
"""How many nodes a tight part may grow by."""
_LARGE_SIZE, _LEAST_SIZE = 32, 12
"""From which size on an axis of a picture is made smaller, and how much is left of it at least."""


def tight(proposal: Proposal, names: frozenset[str] | None = None) -> Part:
    """Return the smallest part that can be fed freely: both ways to compute, side by side.

    What the replacement reads and the original does not (an input further up) is led to the
    original through the nodes in between. Numbers that say how large something is are computed,
    not made up; with `names`, so is everything whose sizes have other names.
    """
    old = set(proposal.match.nodes)
    nodes = old | set(proposal.nodes)
    before, after = _outside(old, nodes), _outside(proposal.nodes, nodes)
    nodes |= _between(set(after) - set(before), before)
    nodes |= _between(set(before) - set(after), [v for v in after if v not in before])
    _grow(nodes, names)
    return part(_results(proposal), _stops(nodes))


def original(proposal: Proposal, model: ir.Model) -> Part:
    """Return what a replacement stands for, as a part that can be fed freely."""
    nodes = set(proposal.match.nodes)
    _grow(nodes, size_names(model))
    return part(proposal.match.outputs, _stops(nodes))


def around(nodes: set[ir.Node], model: ir.Model) -> Part:
    """Return some nodes, and those above that say how large things are, as a part."""
    inside = set(nodes)
    _grow(inside, size_names(model))
    outputs = [
        value
        for node in nodes
        for value in node.outputs
        if value.name
        and (value.is_graph_output() or any(use.node not in inside for use in value.uses()))
    ]
    return part(outputs, _stops(inside))


def _stops(nodes: set[ir.Node]) -> set[ir.Value]:
    return {value for value in _outside(nodes, nodes) if constant_tensor(value) is None}


def wide(proposal: Proposal) -> Part:
    """Return all that leads from the inputs of the graph to both results."""
    return part(_results(proposal), ())


def lighter(proposal: Proposal, most_bytes: int) -> Part:
    """Return the same, but with made-up values for what is computed from larger weights.

    What was proven from positions and masks still leads to both results; an embedding of 128,000
    words, and the layers below, do not.
    """
    own = {*proposal.match.nodes, *proposal.nodes}
    heavy = {
        value
        for node in wide(proposal).nodes
        if node not in own and _heaviest(node) > most_bytes
        for value in node.outputs
        if _can_be_made_up(value, None) and value.dtype in FLOATS
    }
    return part(_results(proposal), heavy)


def _heaviest(node: ir.Node) -> int:
    tensors = (constant_tensor(value) for value in reads(node))
    return max((tensor.nbytes for tensor in tensors if tensor is not None), default=0)


def _results(proposal: Proposal) -> tuple[ir.Value, ...]:
    return (*proposal.match.outputs, *proposal.values)


def _outside(nodes: Iterable[ir.Node], inside: set[ir.Node]) -> list[ir.Value]:
    """Return what nodes read that no node inside makes, each value once."""
    return list(
        dict.fromkeys(
            value for node in nodes for value in reads(node) if value.producer() not in inside
        )
    )


def _between(sources: set[ir.Value], targets: Iterable[ir.Value]) -> set[ir.Node]:
    """Return the nodes on the ways from some values to others, as far as they are near."""
    if not sources:
        return set()
    above = _above(targets)
    found: set[ir.Node] = set()
    waiting = list(sources)
    while waiting:
        for node, _ in waiting.pop().uses():
            if node in above and node not in found:
                found.add(node)
                waiting.extend(node.outputs)
    return found


def _above(values: Iterable[ir.Value]) -> set[ir.Node]:
    """Return the nodes that values are computed by, the nearest, up to a limit."""
    found: set[ir.Node] = set()
    waiting = deque(values)
    while waiting and len(found) < _MOST_NODES:
        node = waiting.popleft().producer()
        if node is not None and node not in found:
            found.add(node)
            waiting.extend(reads(node))
    return found


def shrinking(cut: Part) -> int:
    """Return by what the large fixed sizes of a part's pictures can be divided; 1: by nothing.

    A power of two, so that what is halved or doubled in the part still fits.
    """
    pictures = [sizes(value) or () for value in cut.inputs if _is_picture(value)]
    large = [size for shape in pictures for size in shape[2:] if _is_large(size)]
    found = 1
    while large and all(s % (2 * found) == 0 and s // (2 * found) >= _LEAST_SIZE for s in large):
        found *= 2
    return found


def shrink(cut_out: ir.Model, cut: Part, divisor: int) -> None:
    """Divide the large fixed sizes of the pictures that a part takes, in its own model."""
    if divisor == 1:
        return
    for value in filter(_is_picture, cut_out.graph.inputs[: len(cut.inputs)]):
        first, second, *rest = sizes(value) or ()
        smaller = [size // divisor if _is_large(size) else size for size in rest]
        value.shape = ir.Shape([first, second, *smaller])
    for node in cut_out.graph:
        for value in node.outputs:
            value.shape = None


def _is_picture(value: ir.Value) -> bool:
    return value.dtype in FLOATS and len(sizes(value) or ()) > 3 and constant_tensor(value) is None


def _is_large(size: int | str | None) -> TypeGuard[int]:
    return isinstance(size, int) and size > _LARGE_SIZE


def size_names(model: ir.Model) -> frozenset[str]:
    """Return the names of sizes that the inputs of a model have; all others are computed."""
    found = (size for value in model.graph.inputs for size in sizes(value) or ())
    return frozenset(atom for size in found if isinstance(size, str) for atom in atoms(size))


def _grow(nodes: set[ir.Node], names: frozenset[str] | None) -> None:
    """Add the nodes above values that cannot be made up."""
    limit = len(nodes) + _MOST_NODES
    waiting = list(_makers(_outside(nodes, nodes), names))
    while waiting and len(nodes) < limit:
        node = waiting.pop()
        if node not in nodes:
            nodes.add(node)
            waiting.extend(_makers(reads(node), names))


def _makers(values: Iterable[ir.Value], names: frozenset[str] | None) -> Iterator[ir.Node]:
    for value in values:
        node = value.producer()
        if node is not None and not _can_be_made_up(value, names):
            yield node


def _can_be_made_up(value: ir.Value, names: frozenset[str] | None) -> bool:
    """Return whether any values of the right type and shape will do for an input."""
    known = sizes(value)
    if known is None or None in known or value.dtype is None:
        return False
    found = {atom for size in known if isinstance(size, str) for atom in atoms(size)}
    if names is not None and not found <= names:
        return False
    return len(known) > 1 or (value.dtype in FLOATS and len(known) == 1)
