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
_NUMBERS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.DOUBLE)
_MOST_NODES = 16
"""How many nodes up from the end of a slice its length is looked for."""
_LAST_INDEX: Mapping[str, int] = {"Range": -1, "NonZero": -1, "CumSum": 0}
"""Operators that count along a sequence: the last index for a length of n is n plus this."""


def longest_sequence(model: ir.Model) -> int | None:
    """Return how many positions the model has a row for; None: nothing limits them."""
    limits = [limit for node in model.graph.all_nodes() for limit in _limits(node)]
    return max(min(limits), 1) if limits else None


def _limits(node: ir.Node) -> Iterator[int]:
    """Yield the longest sequences that a look-up by position allows."""
    if node.op_type == "Slice" and not node.domain:
        yield from _cut_table(node)
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


def _cut_table(node: ir.Node) -> Iterator[int]:
    """Yield the rows of a table of numbers of which the first ones are taken, by a length."""
    table = node.inputs[0]
    if table is None or not table.is_initializer() or table.dtype not in _NUMBERS:
        return
    axes = constant(node.inputs[3]) if len(node.inputs) > 3 else None
    rows = size_along(table, 0)
    by_row = axes is None or 0 in axes.reshape(-1).tolist()
    is_table = table.shape is not None and len(table.shape) == 2 and by_row
    if is_table and isinstance(rows, int) and len(node.inputs) > 2 and _measures(node.inputs[2]):
        yield rows


def _measures(value: ir.Value | None) -> bool:
    """Return whether a value is computed from the shape of another."""
    waiting = [value]
    seen: set[ir.Node] = set()
    while waiting and len(seen) < _MOST_NODES:
        item = waiting.pop()
        node = None if item is None else item.producer()
        if node is None or node in seen:
            continue
        if node.op_type == "Shape":
            return True
        seen.add(node)
        waiting.extend(node.inputs)
    return False


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
