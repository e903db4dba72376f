"""How much a model computes when some of its axes are shorter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import onnx_ir as ir

from burnish.infer import walk
from burnish.operators.record import Operands, Operator, find
from burnish.prune.cut import stated_size
from burnish.prune.dims import Dim, leaves
from burnish.prune.flow import Flow, Stated


class PrunedWork:
    """Operations of a graph, as a function of how many units of some dims are left."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._stated: dict[ir.Node, list[Stated]] = defaultdict(list)
        for one in flow.stated:
            if isinstance(one.place, str):
                self._stated[one.node].append(one)
        self._whole = {node: self._of(node, {}) for node in flow.model.graph}
        self._touching: dict[Dim, dict[ir.Node, None]] = defaultdict(dict)
        for node in flow.model.graph:
            for value in (*node.inputs, *node.outputs):
                for axis in (flow.values.get(value) or ()) if value is not None else ():
                    for dim in leaves(axis):
                        self._touching[dim][node] = None

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the operators whose work nobody knows."""
        return tuple(dict.fromkeys(n.op_type for n, work in self._whole.items() if work is None))

    def of_nodes(self, nodes: Iterable[ir.Node]) -> float:
        """Return the operations of some nodes; those that nobody knows count as none."""
        return sum(self._whole[node] or 0.0 for node in nodes)

    def flops(self, left: Mapping[Dim, int]) -> float:
        """Return the operations of an inference with these dims shorter."""
        touched = dict.fromkeys(node for dim in left for node in self._touching[dim])
        return sum(
            (self._of(node, left) if node in touched else whole) or 0.0
            for node, whole in self._whole.items()
        )

    def _of(self, node: ir.Node, left: Mapping[Dim, int]) -> float | None:
        record = find(node.domain, node.op_type)
        if record is None or record.work is None:
            return None
        return self._counted(record, node, left)

    def _counted(self, record: Operator, node: ir.Node, left: Mapping[Dim, int]) -> float | None:
        assert record.work is not None
        inputs = [None if value is None else self._shape(value, left) for value in node.inputs]
        outputs = [self._shape(value, left) for value in node.outputs]
        given = tuple(shape for shape in outputs if shape is not None)
        missing = any(s is None and v is not None for s, v in zip(inputs, node.inputs, strict=True))
        if missing or len(given) < len(outputs):
            return None
        attributes: dict[str, Any] = dict(walk.attributes_of(node))
        for one in self._stated[node]:
            if one.element is None:
                attributes[str(one.place)] = stated_size(one, left)
        try:
            return record.work(Operands(attributes, tuple(inputs), outputs=given))
        except walk.CONTRADICTIONS:
            return None

    def _shape(self, value: ir.Value, left: Mapping[Dim, int]) -> tuple[int, ...] | None:
        axes = self._flow.of(value)
        if axes is None:
            return None
        return tuple(_product(leaves(axis), left) for axis in axes)


def _product(dims: list[Dim], left: Mapping[Dim, int]) -> int:
    product = 1
    for dim in dims:
        product *= left.get(dim, dim.size)
    return product
