"""LSTM, GRU and RNN by ONNX's own reference, which leaves lengths and some attributes out.

Rows of different lengths are run one by one, each as long as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array

ACTIVATIONS: Mapping[str, tuple[str, ...]] = {
    "LSTM": ("sigmoid", "tanh", "tanh"),
    "GRU": ("sigmoid", "tanh"),
    "RNN": ("tanh",),
}
"""What each computes with where nothing else is said, which is all that the reference knows."""

_SOURCE, _LENGTHS, _STATES, _PEEPHOLES = 0, 4, (5, 6), 7
_IGNORED = ("clip", "activation_alpha", "activation_beta", "input_forget")

Given = Sequence[Array | None]
"""The inputs by their places; None: left out."""


def ignored(node: ir.Node, given: Given) -> str:
    """Return what the reference would leave out of account; empty: nothing."""
    for name in _IGNORED:
        if name in node.attributes:
            return f"{name} is not known here"
    if node.attributes.get_int("layout", 0):
        return "batches first are not known here"
    if "activations" in node.attributes:
        said = [name.lower() for name in node.attributes["activations"].as_strings()]
        usual = ACTIVATIONS[node.op_type]
        if any(name != usual[place % len(usual)] for place, name in enumerate(said)):
            return f"{', '.join(said)} are not known here"
    if len(given) > _PEEPHOLES and given[_PEEPHOLES] is not None:
        return "peepholes are not known here"
    lengths = _lengths(given)
    return "rows without a step have no meaning" if lengths is not None and 0 in lengths else ""


def in_rows(run: Callable[[Given], Sequence[Array]], given: Given) -> Sequence[Array]:
    """Return what `run` gives, which knows no lengths, for rows that have them."""
    lengths = _lengths(given)
    source = given[_SOURCE]
    if lengths is None or source is None or (lengths == len(source)).all():
        return run(given)
    found = [run(_row(given, row, int(length))) for row, length in enumerate(lengths)]
    first, *others = zip(*found, strict=True)
    padded = [_padded(array, len(source)) for array in first]
    return [np.concatenate(padded, axis=2), *(np.concatenate(each, axis=1) for each in others)]


def _lengths(given: Given) -> Array | None:
    return given[_LENGTHS] if len(given) > _LENGTHS else None


def _row(given: Given, row: int, length: int) -> Given:
    """Return the inputs of one row, as long as it is."""
    found = list(given)
    source, lengths = found[_SOURCE], found[_LENGTHS]
    assert source is not None
    assert lengths is not None
    found[_SOURCE], found[_LENGTHS] = source[:length, row : row + 1], lengths[row : row + 1]
    for place in _STATES:
        if place < len(found) and (state := found[place]) is not None:
            found[place] = state[:, row : row + 1]
    return found


def _padded(array: Array, steps: int) -> Array:
    rest = np.zeros((steps - len(array), *array.shape[1:]), array.dtype)
    return np.concatenate([array, rest])
