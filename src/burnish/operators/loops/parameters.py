"""Sizes, axes and lists that a node's form depends on: attributes, or inputs that are constants."""

from __future__ import annotations

import numpy as np

from burnish.tile.semantics import Builder, Node, NotCoveredError


def integers(builder: Builder, node: Node, position: int, name: str) -> tuple[int, ...] | None:
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
