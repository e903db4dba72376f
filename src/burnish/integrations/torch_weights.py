"""Whether the weights of a module are still those that a graph was compiled with.

PyTorch counts how often a tensor is written, but not what is written through `.data` or through an
array of the same memory. So some elements of each are looked at in every call as well, spread over
all of it: a change of a whole tensor, or of a good part of its rows or columns, is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnish.core.arrays import Array
from burnish.integrations.torch_opened import array_of

Tensor = Any
"""`torch.Tensor`: torch is imported only where it is used."""

SAMPLED = 48
"""Elements of a tensor: about a microsecond in each call."""
_TURN = 0.618033988749895
"""The golden section: what is taken of neighbouring parts lies in other rows and columns."""


class WatchedWeights:
    """Tensors of a module, in the order in which they are handed over in each call."""

    def __init__(self) -> None:
        self._pointers: tuple[int, ...] = ()
        self._counted: tuple[int, ...] = ()
        """Which of them count how often they are written."""
        self._samples: tuple[tuple[Array, Array], ...] = ()
        """The elements of each on the host, in its own memory, and which of them are looked at."""

    def state(self, weights: Sequence[Tensor]) -> object:
        """Return what changes when a weight does."""
        pointers = tuple(each.data_ptr() for each in weights)
        if pointers != self._pointers:
            self._pointers = pointers
            # tensors made under inference_mode do not count, and are not written outside of it
            self._counted = tuple(n for n, each in enumerate(weights) if not each.is_inference())
            self._samples = tuple(_sample(each) for each in weights if _readable(each))
        versions = tuple(weights[n]._version for n in self._counted)
        return pointers, versions, b"".join(flat[at].tobytes() for flat, at in self._samples)


def _readable(tensor: Tensor) -> bool:
    """Say whether a tensor's memory can be read here, as one row of elements."""
    import torch

    dense = tensor.layout == torch.strided and torch.ops.aten.is_non_overlapping_and_dense(tensor)
    return bool(tensor.device.type == "cpu" and tensor.numel() and dense)


def _sample(tensor: Tensor) -> tuple[Array, Array]:
    flat = array_of(tensor.detach().as_strided((tensor.numel(),), (1,)))
    parts = min(SAMPLED, flat.size)
    numbers = np.arange(parts)
    places = (numbers + numbers * _TURN % 1) * flat.size / parts
    return flat, places.astype(np.int64)
