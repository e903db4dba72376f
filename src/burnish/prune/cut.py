"""Take units out of a model: its weights get smaller, and the numbers that say how large they are.

`reweighted` is the plain twin of `cut`: the same function at the old sizes, with zeros in place
of what is cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.free_names import FreeNames
from burnish.infer.constants import Constants, constant_tensor
from burnish.infer.walk import is_standard
from burnish.prune.axes import kept_places
from burnish.prune.dims import Dim, leaves
from burnish.prune.flow import Flow, Stated

Kept = Mapping[Dim, tuple[int, ...]]
"""Of the dims that are cut, the units that stay."""
Weights = Mapping[str, Array]
"""New elements of constants, at their old sizes, by name."""


def reweighted(model: ir.Model, weights: Weights) -> ir.Model:
    """Return a copy with other elements in some of its constants."""
    work = model.clone()
    for value in _constants(work):
        if (value.name or "") in weights:
            _set(value, weights[value.name or ""])
    return work


def cut(flow: Flow, kept: Kept, weights: Weights) -> ir.Model:
    """Return a smaller copy of the model that was followed, with `weights` cut to what is kept."""
    work = flow.model.clone()
    new = {value.name: value for value in _values(work)}
    for value, axes in flow.values.items():
        places = {i: a for i, a in enumerate(axes or ()) if not kept.keys().isdisjoint(leaves(a))}
        if not places:
            continue
        target, tensor = new[value.name], constant_tensor(value)
        if tensor is None:
            _resize(target, {index: len(kept_places(a, kept)) for index, a in places.items()})
            continue
        array = weights.get(value.name or "", tensor.numpy())
        for index, axis in places.items():
            array = np.take(array, kept_places(axis, kept), axis=index)
        _set(target, array)
    nodes = dict(zip(flow.model.graph, work.graph, strict=True))
    _restate(work, [one for one in flow.stated if _is_cut(one, kept)], nodes, kept)
    for name in [name for name in weights if not _was_cut(flow, name, kept)]:
        _set(new[name], weights[name])
    return work


def sizes(kept: Kept) -> dict[Dim, int]:
    """Return how many units stay of each dim that is cut."""
    return {dim: len(units) for dim, units in kept.items()}


def stated_size(one: Stated, left: Mapping[Dim, int]) -> int:
    """Return what a number must be when of some dims fewer units are left."""
    product = one.times
    for dim in leaves(one.axis):
        product *= left.get(dim, dim.size)
    return product


def _was_cut(flow: Flow, name: str, kept: Kept) -> bool:
    return any(
        value.name == name and any(not kept.keys().isdisjoint(leaves(axis)) for axis in axes or ())
        for value, axes in flow.values.items()
    )


def _is_cut(one: Stated, kept: Kept) -> bool:
    return not kept.keys().isdisjoint(leaves(one.axis))


def _constants(model: ir.Model) -> list[ir.Value]:
    made = [value for node in model.graph for value in node.outputs]
    every = [*model.graph.initializers.values(), *made]
    return [value for value in every if constant_tensor(value) is not None]


def _values(model: ir.Model) -> list[ir.Value]:
    made = [value for node in model.graph for value in node.outputs]
    return [*model.graph.inputs, *model.graph.initializers.values(), *made]


def _set(value: ir.Value, array: Array) -> None:
    old = constant_tensor(value)
    assert old is not None
    tensor = ir.Tensor(np.ascontiguousarray(array, old.numpy().dtype), name=value.name)
    node = value.producer()
    if node is not None:
        node.attributes.clear()
        node.attributes["value"] = ir.AttrTensor("value", tensor)
    else:
        value.const_value = tensor
    value.shape = ir.Shape(array.shape)


def _resize(value: ir.Value, lengths: Mapping[int, int]) -> None:
    """State the new size where the model states a number."""
    if value.shape is not None:
        value.shape = ir.Shape(
            [
                lengths.get(index, size) if isinstance(size, int) else size
                for index, size in enumerate(value.shape)
            ]
        )


def _restate(
    work: ir.Model, stated: Sequence[Stated], nodes: Mapping[ir.Node, ir.Node], kept: Kept
) -> None:
    names = FreeNames(value.name or "" for value in _values(work))
    for one in stated:
        node, number = nodes[one.node], stated_size(one, sizes(kept))
        if isinstance(one.place, str):
            _restate_attribute(node, one.place, one.element, number)
        else:
            _restate_input(work, node, one, number, names)


def _restate_attribute(node: ir.Node, name: str, element: int | None, number: int) -> None:
    if element is None:
        node.attributes[name] = ir.AttrInt64(name, number)
        return
    numbers = list(node.attributes[name].as_ints())
    numbers[element] = number
    node.attributes[name] = ir.AttrInt64s(name, numbers)


def _restate_input(
    work: ir.Model, node: ir.Node, one: Stated, number: int, names: FreeNames
) -> None:
    """Write a number into a constant input, or into the piece of a Concat that gives it.

    What is computed from the shape of a tensor follows by itself.
    """
    assert isinstance(one.place, int)
    value, element = node.inputs[one.place], one.element or 0
    assert value is not None
    constants = Constants(work)
    array = constants.array(value)
    if array is not None:
        if array.reshape(-1)[element] > 0 or node.op_type == "Slice":
            node.replace_input_with(one.place, _changed(work, array, element, number, names))
        return
    concat = value.producer()
    if concat is None or not is_standard(concat, "Concat"):
        return
    found = _piece(constants, concat, element)
    if found is None:
        return
    index, within, piece = found
    if piece.reshape(-1)[within] > 0:
        inputs = list(concat.inputs)
        inputs[index] = _changed(work, piece, within, number, names)
        copied = ir.node("Concat", inputs, attributes=dict(concat.attributes))
        copied.outputs[0].name = names.unused(f"{value.name}_pruned")
        work.graph.insert_before(node, copied)
        node.replace_input_with(one.place, copied.outputs[0])


def _piece(constants: Constants, concat: ir.Node, element: int) -> tuple[int, int, Array] | None:
    """Return which input of a Concat gives an element, where in it, and its numbers."""
    for index, source in enumerate(concat.inputs):
        array = constants.array(source)
        # what is not constant is, in a shape, a single size
        length = 1 if array is None else array.size
        if element < length:
            return None if array is None else (index, element, array)
        element -= length
    return None


def _changed(work: ir.Model, array: Array, element: int, number: int, names: FreeNames) -> ir.Value:
    new = array.copy()
    new.reshape(-1)[element] = number
    name = names.unused("pruned_size")
    tensor = ir.Tensor(new, name=name)
    value = ir.Value(
        name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(new.shape), const_value=tensor
    )
    work.graph.register_initializer(value)
    return value
