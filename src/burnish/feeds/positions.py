"""How long a sequence a model can take: the rows of its tables of learned positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx_ir as ir

from burnish.feeds.tables import constant, size_along

_FOLLOWED_OPERANDS: Mapping[str, tuple[int, ...]] = {
    "Cast": (0,), "Identity": (0,), "Unsqueeze": (0,), "Squeeze": (0,), "Reshape": (0,),
    "Expand": (0,), "Tile": (0,), "Transpose": (0,), "Slice": (0,), "Concat": (0,), "Sub": (0,),
    "Add": (0, 1), "Mul": (0, 1), "Where": (1, 2),
}  # fmt: skip
"""Operators through which positions reach a look-up; a difference of positions is none."""
_LAST_INDEX: Mapping[str, int] = {"Range": -1, "NonZero": -1, "CumSum": 0}
"""Operators that count along a sequence: the last index for a length of n is n plus this."""


def longest_sequence(model: ir.Model) -> int | None:
    """Return how many positions the model has a row for; None: nothing limits them."""
    limits = [limit for node in model.graph.all_nodes() for limit in _limits(node)]
    return max(min(limits), 1) if limits else None


def _limits(node: ir.Node) -> Iterator[int]:
    """Yield the longest sequences that a look-up by position allows."""
    if node.op_type != "Gather" or node.domain or _axis(node) != 0:
        return
    rows = size_along(node.inputs[0], 0)
    if not isinstance(rows, int):
        return
    for source, shift, is_cut in _sources(node.inputs[1]):
        producer = source.producer()
        if producer is not None and producer.op_type in _LAST_INDEX:
            yield rows - 1 - shift - _LAST_INDEX[producer.op_type]
        elif is_cut:
            known = constant(source)
            if known is not None and known.ndim > 0:
                yield min(known.shape[-1], rows - shift)


def _sources(indices: ir.Value | None) -> Iterator[tuple[ir.Value, int, bool]]:
    """Yield what indices are made of, the constant added on the way, and whether it was sliced."""
    waiting = [(indices, 0, False)]
    seen = set()
    while waiting:
        state = waiting.pop()
        value, shift, is_cut = state
        if value is None or state in seen:
            continue
        seen.add(state)
        yield value, shift, is_cut
        node = value.producer()
        if node is None:
            continue
        for operand in _FOLLOWED_OPERANDS.get(node.op_type, ()):
            change = _change(node, operand)
            if change is not None:
                is_slice = is_cut or node.op_type == "Slice"
                waiting.append((node.inputs[operand], shift + change, is_slice))


def _change(node: ir.Node, operand: int) -> int | None:
    """Return the constant that a node adds; None: its result is no position any more."""
    if node.op_type not in ("Add", "Sub"):
        return 0
    other = constant(node.inputs[1 - operand])
    if other is None or other.size == 0:
        return None if node.op_type == "Sub" else 0
    return int(other.max()) if node.op_type == "Add" else -int(other.min())


def _axis(node: ir.Node) -> int:
    attribute = node.attributes.get("axis")
    return 0 if attribute is None else attribute.as_int()
