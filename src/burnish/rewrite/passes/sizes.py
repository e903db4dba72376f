"""Read sizes from the graph's inputs, not from what is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.constants import sizes
from burnish.infer.shapes import Shapes, infer
from burnish.operators.record import Elements
from burnish.operators.size import Sum
from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted

_LONGEST = 4
"""How many operators are followed from an element of a shape to the shape."""


@dataclass(frozen=True)
class ReadSizes(InPlacePass):
    """Ask an input for its size instead of a value that has the same.

    rewrite:
        d = Gather(Shape(scores), 0)      with scores: float[batch, 12, length, length]
        -->
        d = Gather(Shape(input_ids), 0)   with input_ids: int64[batch, length]

    Other ways to take sizes out of a shape (Slice, Split, a Shape that starts or ends within)
    become such a Gather, too. So no value is kept for its shape alone, and equal sizes become one.
    """

    facts: Facts

    def call(self, model: ir.Model) -> Counted:
        """Look at every size that is read in the main graph."""
        graph = model.graph
        read = [node for node in graph if _measured(node) is not None]
        if self.facts.memory.get(ReadSizes) == len(read):
            return counted(model, 0)
        inputs = _named_axes(graph)
        if all(self._in_place(node, inputs) for node in read):
            self.facts.memory[ReadSizes] = len(read)
            return counted(model, 0)
        shapes = infer(self.facts)
        known = _AddedReads(shapes, graph)
        count = 0
        for output in [value for node in read for value in node.outputs if value.uses()]:
            node = output.producer()
            found = _place(shapes.elements(output), inputs)
            if node is None or (found is not None and found[0] is _measured(node)):
                continue
            if found is not None:
                self._redirect(node, output, found, known)
            elif not self._add_up(node, output, inputs, known):
                continue
            count += 1
        self.facts.memory[ReadSizes] = len(read)
        return counted(model, count)

    def _in_place(self, node: ir.Node, inputs: Mapping[str, tuple[ir.Value, int]]) -> bool:
        """Return whether a node surely reads from the right input already, or a plain number."""
        value = _measured(node)
        have = None if value is None or not value.is_graph_input() else sizes(value)
        if not _reads_at_once(node):
            return have is not None
        at = self.facts.integers(node.inputs[1])
        if not have or not at or not -len(have) <= at[0] < len(have):
            return False
        first = have[at[0]]
        return isinstance(first, int) or (first is not None and inputs[first][0] is value)

    def _redirect(
        self,
        node: ir.Node,
        output: ir.Value,
        found: tuple[ir.Value, tuple[int, ...]],
        made: _AddedReads,
    ) -> None:
        graph, (value, axes) = self.facts.model.graph, found
        inputs = (made.shape_of(value), made.constant(axes, output))
        if _reads_at_once(node):
            for position, given in enumerate(inputs):
                node.replace_input_with(position, given)
            return
        gather = ir.node("Gather", inputs, attributes={"axis": 0}, name=f"{output.name}/Gather")
        gather.outputs[0].name = f"{output.name}/sizes"
        graph.insert_before(node, gather)
        edit.redirect(output, gather.outputs[0])

    def _add_up(
        self,
        node: ir.Node,
        output: ir.Value,
        inputs: Mapping[str, tuple[ir.Value, int]],
        made: _AddedReads,
    ) -> bool:
        """Put past + new, as keys and scores are long, in place of a size that is read there."""
        names, rest = _addends(made.known.elements(output))
        known = made.known.of(output) in ((), (1,)) and set(names) <= inputs.keys()
        if len(names) + bool(rest) < 2 or not names or not known:
            return False
        places = [inputs[name] for name in names]
        parts = [
            ir.node("Gather", [made.shape_of(value), made.constant((axis,), output)],
                    attributes={"axis": 0})
            for value, axis in places
        ]  # fmt: skip
        addends = [part.outputs[0] for part in parts]
        addends += [made.constant((rest,), output)] if rest else []
        while len(addends) > 1:
            parts.append(ir.node("Add", addends[:2]))
            addends[:2] = [parts[-1].outputs[0]]
        for index, part in enumerate(parts):
            part.name = f"{output.name}/{part.op_type}_{index}"
            part.outputs[0].name = f"{output.name}/sizes_{index}"
            part.outputs[0].type, part.outputs[0].shape = output.type, output.shape
        self.facts.model.graph.insert_before(node, parts)
        return edit.redirect(output, addends[0])


@dataclass(frozen=True)
class _AddedReads:
    """What was added to the graph, to be read again."""

    known: Shapes
    graph: ir.Graph
    shapes: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """By the input that they are the shapes of."""
    constants: dict[tuple[tuple[int, ...], tuple[int, ...]], ir.Value] = field(default_factory=dict)
    """By numbers and by the shape in which they are read."""

    def shape_of(self, value: ir.Value) -> ir.Value:
        """Return the shape of an input."""
        if value not in self.shapes:
            self.shapes[value] = _shape_of(value, self.graph)
        return self.shapes[value]

    def constant(self, numbers: tuple[int, ...], like: ir.Value) -> ir.Value:
        """Return numbers: one, or a row of them, as what they are read for has it."""
        array = np.array(numbers, np.int64).reshape(() if self.known.of(like) == () else (-1,))
        if (numbers, array.shape) not in self.constants:
            name = f"{like.name}/{'_'.join(map(str, numbers))}"
            added = edit.add_initializer(self.graph, name, array)
            self.constants[numbers, array.shape] = added
        return self.constants[numbers, array.shape]


def _measured(node: ir.Node) -> ir.Value | None:
    """Return the value some of whose sizes a node reads, if that is all it does."""
    if walk.is_standard(node, "Shape"):
        return None if walk.is_whole(node) else node.inputs[0]
    source: ir.Node | None = node
    for _ in range(_LONGEST):
        if source is None or not _picks(source):
            return None
        source = None if source.inputs[0] is None else source.inputs[0].producer()
        if source is not None and walk.is_standard(source, "Shape"):
            return source.inputs[0]
    return None


def _picks(node: ir.Node) -> bool:
    """Return whether a node gives some elements of its first input, which ones is constant."""
    if walk.is_standard(node, "Gather"):
        picks = node.attributes.get_int("axis", 0) == 0
    else:
        picks = walk.is_standard(node, "Slice", "Squeeze", "Split")
    return picks and all(
        index is None or (index.is_initializer() and index.shape is not None)
        for index in node.inputs[1:]
    )


def _reads_at_once(node: ir.Node) -> bool:
    """Return whether a node is Gather(Shape(x), axes)."""
    shape = node.inputs[0].producer() if node.inputs[0] is not None else None
    return walk.is_standard(node, "Gather") and shape is not None and shape.op_type == "Shape"


def _named_axes(graph: ir.Graph) -> dict[str, tuple[ir.Value, int]]:
    """Return where each name of an axis is to be found among the inputs, the first of each."""
    found: dict[str, tuple[ir.Value, int]] = {}
    for value in graph.inputs:
        for axis, size in enumerate(sizes(value) or ()):
            if isinstance(size, str):
                found.setdefault(size, (value, axis))
    return found


def _place(
    elements: Elements | None, inputs: Mapping[str, tuple[ir.Value, int]]
) -> tuple[ir.Value, tuple[int, ...]] | None:
    """Return an input and those of its axes that have the sizes which are read, in their order."""
    names = [_name(element) for element in elements or ()]
    first = inputs.get(names[0] or "") if names else None
    if first is None:
        return None
    have = sizes(first[0]) or ()
    if any(name is None or name not in have for name in names):
        return None
    return first[0], tuple(have.index(name) for name in names)


def _addends(elements: Elements | None) -> tuple[list[str], int]:
    """Return the names whose sum a size is, and the number that is added to them."""
    size = elements[0] if elements is not None and len(elements) == 1 else None
    names: list[str] = []
    rest = 0
    for product, count in size.terms if isinstance(size, Sum) else ():
        name = _name(Sum(frozenset({(product, count)}))) if product else None
        if product and name is None:
            return [], 0
        names += [name] if name is not None else []
        rest += 0 if product else count
    return sorted(names), rest


def _name(size: object) -> str | None:
    if not isinstance(size, Sum) or len(size.terms) != 1:
        return None
    ((product, count),) = size.terms
    keys = [key for key, power in product if power == 1]
    alone = count == 1 and len(product) == 1 and len(keys) == 1
    return keys[0] if alone and isinstance(keys[0], str) else None


def _shape_of(value: ir.Value, graph: ir.Graph) -> ir.Value:
    """Return the shape of an input, computed before all else."""
    for use in value.uses():
        if walk.is_standard(use.node, "Shape") and walk.is_whole(use.node):
            node = use.node
            graph.remove(node)
            graph.insert_before(graph[0], node)
            return node.outputs[0]
    node = ir.node("Shape", [value], name=f"{value.name}/Shape")
    node.outputs[0].name = f"{value.name}/shape"
    node.outputs[0].type = ir.TensorType(ir.DataType.INT64)
    node.outputs[0].shape = ir.Shape([len(sizes(value) or ())])
    graph.insert_before(graph[0], node)
    return node.outputs[0]
