"""The one inferrer: the type and shape of every value, followed forward through the graph once.

ONNX's own inference gives a new name to every size that it cannot compute, so equal sizes end
up with different names. Here sizes are computed as sums of products by the operators' records,
and a name is invented only where nothing is known: the shape that is built by Shape, Gather and
Concat and handed to Reshape is read like any other number. What no record tells may be asked of
somebody else (`infer.onnx_inference`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer import tables, walk
from burnish.infer.constants import Constants, constant_tensor, sizes
from burnish.operators.record import Elements, Operands, Operator, Partial, Shape, find
from burnish.operators.size import Size, named, unknown
from burnish.store.element_types import DATA_TYPES, SHORT_NAMES
from burnish.tile.semantics import NotCoveredError

logger = logging.getLogger(__name__)

_COUNTED = ("i64", "i32", "bool")
"""The types of values whose elements are followed: sizes, places, and questions about them."""
_MOST_ELEMENTS = 1024
INVENTED = "unk__"
"""How names begin that inference makes up, ONNX's and ours; they say nothing."""


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody tells of an output."""

    dtype: str | None
    shape: Partial | None


Ask = Callable[[ir.Node, "Shapes"], Sequence[Told]]
"""Tells of a node's outputs what its record does not."""

Given = Mapping[ir.Value, tuple[int | str | None, ...]]
"""The sizes that some values have instead of those that the model states."""
_AS_STATED: Given = {}


def ask_nobody(_: ir.Node, __: Shapes) -> Sequence[Told]:
    """Tell nothing."""
    return ()


class Shapes:
    """Types, shapes, and the elements of small whole values, of all nodes followed so far."""

    def __init__(
        self, constants: Constants, ask: Ask = ask_nobody, given: Given = _AS_STATED
    ) -> None:
        self.constants = constants
        self._ask, self._given = ask, given
        self._shapes: dict[ir.Value, Shape | None] = {}
        self._types: dict[ir.Value, str | None] = {}
        self._elements: dict[ir.Value, Elements | None] = {}
        self._tables: dict[ir.Value, Elements] = {}
        """The elements of whole values of more axes, row by row."""
        self._names: dict[Size, str] = {}

    def of(self, value: ir.Value | None) -> Shape | None:
        """Return the size of each axis; None: not even the rank is known."""
        if value is None:
            return None
        if value not in self._shapes:
            self._shapes[value] = self._best(value, _held(value).shape)
        return self._shapes[value]

    def dtype(self, value: ir.Value | None) -> str | None:
        """Return the short name of a value's element type; None: it is not known."""
        if value is None:
            return None
        if value.dtype is not None:
            return SHORT_NAMES.get(value.dtype)
        return self._types[value] if value in self._types else _held(value).dtype

    def elements(self, value: ir.Value | None) -> Elements | None:
        """Return the elements of a whole value of rank 0 or 1; None for those not known."""
        if value is None:
            return None
        if value not in self._elements:
            self._elements[value] = self._constant_elements(value)
        return self._elements[value]

    def state(self, value: ir.Value, shape: Sequence[Size]) -> None:
        """Take note of the shape of a new value."""
        self._shapes[value] = tuple(shape)

    def follow(self, node: ir.Node) -> None:
        """Work out what a node and those in its bodies give; what it reads is known by now."""
        for body in walk.bodies(node):
            for inner in body:
                self.follow(inner)
        operands, record = self._operands(node), find(node.domain, node.op_type)
        told = self._told(node, operands, record)
        for index, output in enumerate(node.outputs):
            found = told[index] if index < len(told) else _NOTHING
            self._types[output] = found.dtype
            self._shapes[output] = self._best(output, found.shape)
        if record is not None and (record.value or record.values) is not None:
            self._follow_elements(node, operands, record)
        if node.op_type in tables.MOVES and node.domain in walk.STANDARD_DOMAINS:
            self._follow_table(node, operands)

    def name(self, size: Size, value: ir.Value, axis: int) -> int | str:
        """Return a size as a model states it: a number, its name, or a name made up for it."""
        found = stated_size(size)
        if found is None:
            found = self._names.setdefault(size, f"{INVENTED}{value.name}_{axis}")
        return found

    def _best(self, value: ir.Value, computed: Partial | None) -> Shape | None:
        """Return the best that is known: what was computed, a number, a name, or a new name."""
        found = self._given[value] if value in self._given else sizes(value)
        if found is None and computed is None:
            return None
        if found is None or (computed is not None and len(found) != len(computed)):
            found = (None,) * len(computed or ())
        partial = computed if computed is not None else (None,) * len(found)
        return tuple(
            [
                _chosen(value, axis, have, size)
                for axis, (have, size) in enumerate(zip(found, partial, strict=True))
            ]
        )

    def _constant_elements(self, value: ir.Value) -> Elements | None:
        if self.dtype(value) not in _COUNTED:
            return None
        tensor = constant_tensor(value)
        if tensor is not None and tensor.size > _MOST_ELEMENTS:
            return None
        array = self.constants.array(value)
        if array is None or array.ndim > 1 or array.size > _MOST_ELEMENTS:
            return None
        return tuple(int(element) for element in array.reshape(-1))

    def _operands(self, node: ir.Node) -> Operands:
        inputs = node.inputs

        def elements_of(index: int) -> Elements | None:
            return self.elements(inputs[index])

        def array_of(index: int) -> Array | None:
            return self.constants.array(inputs[index])

        return Operands(
            attributes=walk.attributes_of(node),
            inputs=tuple([self.of(value) for value in inputs]),
            types=tuple([self.dtype(value) for value in inputs]),
            wanted=len(node.outputs),
            present=tuple([value is not None for value in inputs]),
            elements_of=elements_of,
            array_of=array_of,
        )

    def _told(self, node: ir.Node, operands: Operands, record: Operator | None) -> Sequence[Told]:
        """Return what the record tells, with what others tell where that leaves something open."""
        held = [_held(output) for output in node.outputs]
        if held and held[0].shape is not None:
            return held
        told: Sequence[Told] = ()
        if record is not None:
            try:
                found = () if record.shape is None else record.shape(operands)
                types = record.types(operands) if found else ()
            except (*walk.CONTRADICTIONS, NotCoveredError) as error:
                # whoever else is asked may end the process where attributes fit no shape
                logger.debug("nothing follows from %s (%s): %s", node.name, node.op_type, error)
                return ()
            told = [
                Told(_at(types, index), _at(found, index)) for index in range(len(node.outputs))
            ]
        if any(_is_open(output, _at(told, i)) for i, output in enumerate(node.outputs)):
            told = _merged(told, self._ask(node, self), len(node.outputs))
        return told

    def _follow_elements(self, node: ir.Node, operands: Operands, record: Operator) -> None:
        if node.domain not in walk.STANDARD_DOMAINS or self.dtype(node.outputs[0]) not in _COUNTED:
            return
        given: Sequence[Elements | None] = ()
        try:
            if record.values is not None:
                given = record.values(operands)
            elif record.value is not None and len(node.outputs) == 1:
                given = (record.value(operands),)
        except (*walk.CONTRADICTIONS, NotCoveredError):
            return
        for output, found in zip(node.outputs, given, strict=False):
            shape = self._shapes[output]
            if found is not None and shape is not None and shape in ((), (len(found),)):
                self._elements[output] = found

    def _follow_table(self, node: ir.Node, operands: Operands) -> None:
        source, output = node.inputs[0], node.outputs[0]
        if source is None or self._elements.get(output) is not None:
            return
        items = self._tables.get(source) or self.elements(source)
        try:
            found = tables.moved(node.op_type, operands, items, self._shapes[output])
        except walk.CONTRADICTIONS:
            return
        if found is not None:
            (self._tables if len(self._shapes[output] or ()) > 1 else self._elements)[output] = (
                found
            )


_NOTHING = Told(None, None)


def infer(constants: Constants, ask: Ask = ask_nobody, given: Given = _AS_STATED) -> Shapes:
    """Return the shapes of a whole model, where some values have those that are given."""
    shapes = Shapes(constants, ask, given)
    for node in constants.model.graph:
        shapes.follow(node)
    return shapes


def shapes_of(constants: Constants) -> Shapes:
    """Return the shapes of a model, worked out at the first call."""
    known = constants.memory.get(Shapes)
    if not isinstance(known, Shapes):
        known = constants.memory[Shapes] = infer(constants)
    return known


def write(shapes: Shapes, value: ir.Value) -> bool:
    """Write what is known of a value into the model; return whether that says more than before."""
    better = False
    dtype = shapes.dtype(value)
    if value.dtype is None and dtype is not None and value.type is None:
        value.type = ir.TensorType(DATA_TYPES[dtype])
        better = True
    found, have = shapes.of(value), sizes(value)
    if found is None or (have is not None and len(have) != len(found)):
        return better
    merged = [
        mine if mine is not None and _says_more(mine, size) else shapes.name(size, value, axis)
        for axis, (mine, size) in enumerate(zip(have or [None] * len(found), found, strict=True))
    ]
    if have is not None and tuple(merged) == have:
        return better
    value.shape = ir.Shape(merged)
    return True


def _says_more(mine: int | str, size: Size) -> bool:
    """Return whether a size as it was stated says more than the one that was computed.

    A name that was stated says more than a name that inference made up, be it another's.
    """
    if isinstance(mine, int):
        return True
    if mine.startswith(INVENTED):
        return stated_size(size) is None
    return not isinstance(size, int)


def stated(shape: Shape) -> ir.Shape:
    """Return a shape as a model states it: numbers, names, and nothing for all else."""
    return ir.Shape([stated_size(size) for size in shape])


def stated_size(size: Size) -> int | str | None:
    """Return a number or a single name; None for what is computed from several."""
    if isinstance(size, int):
        return size
    for product, count in size.terms:
        names = [key for key, power in product if isinstance(key, str) and power == 1]
        alone = len(size.terms) == 1 and count == 1 and len(product) == 1
        if alone and names and named(names[0]) == size:
            return names[0]
    return None


def _held(value: ir.Value) -> Told:
    """Return what the tensor of a constant tells."""
    tensor = constant_tensor(value)
    if tensor is None:
        return _NOTHING
    return Told(SHORT_NAMES.get(tensor.dtype), tuple(tensor.shape.numpy()))


def _at(items: Sequence[Any], index: int) -> Any:  # noqa: ANN401  (an item of what is given)
    return items[index] if index < len(items) else None


def _is_open(output: ir.Value, told: Told | None) -> bool:
    """Return whether more could be told of an output that is there."""
    if output.name == "":
        return False
    shapeless = told is None or told.shape is None or None in told.shape
    return shapeless or (told is not None and told.dtype is None and output.dtype is None)


def _merged(told: Sequence[Told], others: Sequence[Told], count: int) -> Sequence[Told]:
    result: list[Told] = []
    for index in range(count):
        mine, theirs = _at(told, index) or _NOTHING, _at(others, index) or _NOTHING
        shape = mine.shape
        if shape is None:
            shape = theirs.shape
        elif theirs.shape is not None and len(theirs.shape) == len(shape):
            pairs = zip(shape, theirs.shape, strict=True)
            shape = tuple(one if one is not None else other for one, other in pairs)
        result.append(Told(mine.dtype or theirs.dtype, shape))
    return result


def _chosen(value: ir.Value, axis: int, have: int | str | None, computed: Size | None) -> Size:
    if isinstance(computed, int):
        return computed
    if isinstance(have, int) and have >= 0:
        return have
    if computed is not None:
        return computed
    if isinstance(have, str) and not have.startswith(INVENTED):
        return named(have)
    return unknown((value, axis))
