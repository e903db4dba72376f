"""Sizes, axes and lists that a node's form depends on: attributes, or inputs that are constants."""

from __future__ import annotations

import numpy as np

from burnish.operators.record import Elements, Operands
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError


def integers(builder: NestBuilder, node: Node, position: int, name: str) -> tuple[int, ...] | None:
    """Return a list that is the attribute `name`, or else a constant input; None: left out."""
    if name in node.attributes:
        return tuple(int(each) for each in np.asarray(node.attributes[name]).reshape(-1))
    source = node.input(position)
    if source is None:
        return None
    values = builder.constant(source, f"its input {name!r}")
    return tuple(int(each) for each in np.asarray(values).reshape(-1))


def required(node: Node, position: int) -> str:
    """Return the name of an input that the operator cannot do without."""
    name = node.input(position)
    if name is None:
        raise NotCoveredError(f"input {position} is left out")
    return name


def operands_of(builder: NestBuilder, node: Node) -> Operands:
    """Return what shape rules see of a node that is lowered."""

    def elements_of(index: int) -> Elements | None:
        array = builder.constants.get(node.inputs[index])
        whole = array is not None and array.dtype.kind in "iub"
        return tuple(map(int, array.reshape(-1))) if array is not None and whole else None

    types = [builder.type(name) if name else None for name in node.inputs]
    return Operands(
        attributes=node.attributes,
        inputs=tuple(None if kind is None else kind.shape for kind in types),
        types=tuple(None if kind is None else kind.dtype for kind in types),
        wanted=len(node.outputs),
        elements_of=elements_of,
        array_of=lambda index: builder.constants.get(node.inputs[index]),
    )
