"""The shape of every value as sizes, followed forward through the graph once.

ONNX's own inference gives a new name to every size that it cannot compute, so equal sizes end
up with different names. Here sizes are computed as sums of products, and a name is invented
only where nothing is known: the shape that is built by Shape, Gather and Concat and handed to
Reshape is read like any other number.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

import onnx_ir as ir

from burnish.rewrite import edit
from burnish.rewrite.facts import Facts, constant_tensor, sizes
from burnish.rewrite.symbolic import elements, operators
from burnish.rewrite.symbolic.size import Size, named, unknown

logger = logging.getLogger(__name__)

Shape = tuple[Size, ...]

_WHOLE = frozenset({ir.DataType.INT64, ir.DataType.INT32})
_INVENTED = "unk__"
"""How ONNX's inference begins the names it makes up; they say nothing."""


class Shapes:
    """Shapes, and the elements of small integer values."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._shapes: dict[ir.Value, Shape | None] = {}
        self._elements: dict[ir.Value, elements.Elements | None] = {}
        for graph in edit.graphs(facts.model):
            for node in graph:
                self._follow(node)

    def of(self, value: ir.Value | None) -> Shape | None:
        """Return the size of each axis; None: not even the rank is known."""
        if value is None:
            return None
        if value not in self._shapes:
            self._shapes[value] = _declared(value, None)
        return self._shapes[value]

    def elements(self, value: ir.Value | None) -> elements.Elements | None:
        """Return the elements of an integer value of rank 0 or 1; None for those not known."""
        if value is None:
            return None
        if value not in self._elements:
            small = value.dtype in _WHOLE and constant_tensor(value) is not None
            self._elements[value] = self.facts.integers(value) if small else None
        return self._elements[value]

    def state(self, value: ir.Value, shape: Sequence[Size]) -> None:
        """Take note of the shape of a new value."""
        self._shapes[value] = tuple(shape)

    def _follow(self, node: ir.Node) -> None:
        try:
            found = self._computed(node)
        except edit.CONTRADICTIONS as error:
            logger.debug("nothing follows from %s (%s): %s", node.name, node.op_type, error)
            found = None
        for index, output in enumerate(node.outputs):
            computed = found[index] if found is not None and index < len(found) else None
            self._shapes[output] = _declared(output, computed)
        read = elements.READ.get(node.op_type)
        if read is None or node.domain not in edit.STANDARD_DOMAINS or len(node.outputs) != 1:
            return
        if node.outputs[0].dtype in _WHOLE:
            with suppress(*edit.CONTRADICTIONS):
                known = read(node, self)
                if known is not None:
                    self._elements[node.outputs[0]] = known

    def _computed(self, node: ir.Node) -> Sequence[operators.Partial | None] | None:
        if node.domain not in (*edit.STANDARD_DOMAINS, "com.microsoft"):
            return None
        follow = operators.FOLLOWED.get(node.op_type)
        return None if follow is None else follow(node, self)


def shapes_of(facts: Facts) -> Shapes:
    """Return the shapes of a model, worked out at the first call."""
    known = facts.memory.get(Shapes)
    if not isinstance(known, Shapes):
        known = facts.memory[Shapes] = Shapes(facts)
    return known


def _declared(value: ir.Value, computed: operators.Partial | None) -> Shape | None:
    """Return the best that is known: a number, what was computed, a name, or a new name."""
    stated = sizes(value)
    if stated is None and computed is None:
        return None
    if stated is None or (computed is not None and len(stated) != len(computed)):
        stated = (None,) * len(computed or ())
    partial = computed if computed is not None else (None,) * len(stated)
    best = [
        one if isinstance(one, int) else other for one, other in zip(stated, partial, strict=True)
    ]
    return tuple(
        [
            _called(value, axis, stated[axis]) if size is None else size
            for axis, size in enumerate(best)
        ]
    )


def _called(value: ir.Value, axis: int, stated: int | str | None) -> Size:
    """Return a size that is known by its name at best."""
    if isinstance(stated, str) and not stated.startswith(_INVENTED):
        return named(stated)
    return unknown((value, axis))
