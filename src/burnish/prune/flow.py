"""Follow the axes of all tensors through a graph: which go together, and which must stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.core.registry import Registry
from burnish.infer import walk
from burnish.infer.constants import Constants, constant_tensor
from burnish.prune.dims import Axis, Dim, axis_of, join, leaves, parted, pin, size_of
from burnish.store.graph import GraphRecord

Axes = tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """A number in a node that is the size of an axis, and changes with it."""

    node: ir.Node
    place: str | int
    """An attribute by name, or an input by index."""
    element: int | None
    """Which number of several; None: it is a single one."""
    axis: Axis
    times: int = 1
    """How many of these sizes it is: where a slice begins, for instance."""


@dataclass(frozen=True, slots=True)
class Summed:
    """A product with constant weights, which sums an axis away."""

    node: ir.Node
    data: ir.Value
    data_axis: int
    weight: ir.Value
    weight_axis: int
    """Where the weight has what is summed over."""
    weight_input: int

    @property
    def convolves(self) -> bool:
        """Return whether neighbours of an element are summed as well."""
        return self.node.op_type == "Conv"


Rule = Callable[["Flow", ir.Node], None]
"""Joins and pins the axes of what a node reads, and gives axes to what it makes."""
RULES: Registry[Rule] = Registry("way of axes through operator", package="burnish.prune.rules")
"""By operator, those of other domains as `com.microsoft.Attention`; one that is not here pins."""


class Flow:
    """The axes of all values of a graph at known sizes."""

    def __init__(self, model: ir.Model, graph: GraphRecord) -> None:
        self.model = model
        self.constants = Constants(model)
        self.stated: list[Stated] = []
        self.sums: list[Summed] = []
        self._graph = graph
        self._axes: dict[ir.Value, Axes | None] = {}
        for value in model.graph.inputs:
            self.pin_all(value, "is an input of the model")
        for node in model.graph:
            self._follow(node)
        for value in model.graph.outputs:
            self.pin_all(value, "is an output of the model")

    @property
    def values(self) -> Mapping[ir.Value, Axes | None]:
        """Return the axes of every value that was met; None: not even the rank is known."""
        return self._axes

    def of(self, value: ir.Value) -> Axes | None:
        """Return the axes of a value; None: its shape is not known."""
        if value not in self._axes:
            self._axes[value] = self.fresh(value)
        return self._axes[value]

    def shape(self, value: ir.Value) -> tuple[int, ...] | None:
        """Return the sizes that a value has on the inputs that are looked at."""
        tensor = constant_tensor(value)
        if tensor is not None:
            return tuple(int(size) for size in tensor.shape.numpy())
        spec = self._graph.static(value.name or "")
        return None if spec is None else tuple(int(dim) for dim in spec.shape)

    def fresh(self, value: ir.Value, why: str = "") -> Axes | None:
        """Return axes of which nothing is known but their sizes."""
        shape = self.shape(value)
        return None if shape is None else tuple(axis_of(size, why) for size in shape)

    def give(self, value: ir.Value, axes: Sequence[Axis], why: str) -> None:
        """Set the axes of a result; where they cannot be its, pin them for this reason."""
        shape = self.shape(value)
        if shape == tuple(size_of(leaves(axis)) for axis in axes):
            self._axes[value] = tuple(axes)
            return
        for axis in axes:
            pin(axis, why)
        self._axes[value] = self.fresh(value, why)

    def join(self, left: Axis, right: Axis, node: ir.Node) -> None:
        """Say that two axes are the same; one of size 1 is stretched, and stays out of it."""
        if size_of(leaves(left)) != 1 and size_of(leaves(right)) != 1:
            join(left, right, f"does not fit what {_title(node)} combines it with")

    def part(self, axis: Axis, sizes: Sequence[int], node: ir.Node) -> list[list[Dim]]:
        """Return an axis as several; where it has no such parts, it is pinned, and so are they."""
        found = parted(axis, sizes)
        if found is not None:
            return found
        why = f"is taken apart by {_title(node)} in a way that does not fit"
        pin(axis, why)
        return [axis_of(size, why) for size in sizes]

    def pin(self, axis: Axis, node: ir.Node, why: str) -> None:
        """Say that an axis must stay, because of a node."""
        pin(axis, f"{_title(node)} {why}")

    def pin_all(self, value: ir.Value | None, why: str) -> None:
        """Say that all axes of a value must stay."""
        for axis in (self.of(value) or ()) if value is not None else ():
            pin(axis, why)

    def state(
        self, node: ir.Node, place: str | int, element: int | None, axis: Axis, times: int = 1
    ) -> None:
        """Take note of a number that changes with an axis."""
        self.stated.append(Stated(node, place, element, axis, times))

    def weigh(self, node: ir.Node, data: tuple[int, int], weight: tuple[int, int]) -> None:
        """Join the axes (input, axis) over which a product sums; cut only with weights."""
        (x, x_axis), (w, w_axis) = (_operand(node, *data), _operand(node, *weight))
        data_axes, weight_axes = self.of(x), self.of(w)
        assert data_axes is not None
        assert weight_axes is not None
        self.join(data_axes[x_axis], weight_axes[w_axis], node)
        source, axis = _behind(w, w_axis % len(weight_axes))
        if constant_tensor(source) is None:
            self.pin(weight_axes[w_axis], node, "sums over it, with no constant weights")
            return
        if node.op_type != "Conv" and len(weight_axes) != 2:
            self.pin(weight_axes[w_axis], node, "multiplies by stacks of weights")
            return
        self.sums.append(Summed(node, x, x_axis % len(data_axes), source, axis, weight[0]))

    def unknown(self, node: ir.Node, why: str = "is not followed") -> None:
        """Pin all that a node reads, in its bodies as well, and all that it makes."""
        reason = f"{_title(node)} {why}"
        inner = (n for body in walk.bodies(node) for n in body.all_nodes())
        read = [*node.inputs, *(value for one in inner for value in one.inputs)]
        for value in read:
            self.pin_all(value, reason)
        for output in node.outputs:
            self._axes[output] = self.fresh(output, reason)

    def _follow(self, node: ir.Node) -> None:
        if constant_tensor(node.outputs[0]) is not None:
            return
        plain = node.domain in walk.STANDARD_DOMAINS
        name = node.op_type if plain else f"{node.domain}.{node.op_type}"
        values = [value for value in (*node.inputs, *node.outputs) if value is not None]
        if name not in RULES or any(self.shape(value) is None for value in values):
            self.unknown(node)
            return
        try:
            RULES[name](self, node)
        except walk.CONTRADICTIONS:
            self.unknown(node, "contradicts itself")
        for output in node.outputs:
            if output not in self._axes:
                self._axes[output] = self.fresh(output, f"{_title(node)} is not followed")


def _operand(node: ir.Node, index: int, axis: int) -> tuple[ir.Value, int]:
    value = node.inputs[index]
    assert value is not None
    return value, axis


def _behind(value: ir.Value, axis: int) -> tuple[ir.Value, int]:
    """Return the constant of which a weight is a transposed copy, and its axis there."""
    node = value.producer()
    while node is not None and walk.is_standard(node, "Transpose", "Identity", "Cast"):
        if node.op_type == "Transpose":
            rank = len(node.inputs[0].shape or ()) if node.inputs[0] is not None else 0
            perm = walk.ints(node, "perm") or tuple(reversed(range(rank)))
            axis = perm[axis]
        assert node.inputs[0] is not None
        value = node.inputs[0]
        node = value.producer()
    return value, axis


def _title(node: ir.Node) -> str:
    return f"{node.op_type} {node.name!r}" if node.name else node.op_type
