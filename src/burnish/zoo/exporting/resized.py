"""The same inputs at other sizes, for modules whose inputs only their author knows how to make."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.zoo.entry import Tensors

Axes = Mapping[str, Mapping[int, str]]


def sizes(inputs: Tensors, axes: Axes) -> dict[str, int]:
    """Return the size that each named axis has in `inputs`."""
    return {
        symbol: int(inputs[name].shape[axis])
        for name, named in axes.items()
        for axis, symbol in named.items()
    }


def resized(inputs: Tensors, axes: Axes, new: Mapping[str, int]) -> Tensors:
    """Return `inputs` with axes of the sizes `new`, filled by repeating from the second element.

    Values keep their range (token ids stay ids), and no longer tensor begins with the shorter.
    """
    import torch

    result = dict(inputs)
    for name, named in axes.items():
        for axis, symbol in named.items():
            old = inputs[name].shape[axis]
            index = (torch.arange(new[symbol]) + 1) % max(1, old)
            result[name] = result[name].index_select(axis, index)
    return result


def larger(old: Mapping[str, int]) -> dict[str, int]:
    """Return sizes that differ from the old ones, and from each other where the old ones do."""
    return {symbol: size + 1 + 2 * rank for rank, (symbol, size) in enumerate(old.items())}
