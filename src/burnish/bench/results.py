"""Results that are kept beside figures, so that who measures later can tell whether they changed.

Whoever guards a model often has only what was stored of the one before: its file was written over.
Large tensors are kept in part, at places spread evenly.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from burnish.core.array_types import array_type, name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import ModelError

MOST_KEPT = 16_384
"""Elements of a tensor."""
_MAKE_AGAIN = "make it again: burnish bench -o FILE"


@dataclass(frozen=True, slots=True)
class KeptArray:
    """A tensor, or as much of it as is kept."""

    dtype: str
    shape: tuple[int, ...]
    elements: str
    """The elements at places that are spread evenly, in base64."""


@dataclass(frozen=True, slots=True)
class KeptResults:
    """What a model gave, as it is written, with nothing optimised."""

    subjects: tuple[str, ...]
    """The rows that were held to it."""
    inputs_key: str
    outputs: Mapping[str, KeptArray]


def kept(outputs: Arrays) -> dict[str, KeptArray]:
    """Return what is kept of results; text is not."""
    return {
        name: _kept(np.ascontiguousarray(array))
        for name, array in outputs.items()
        if array.dtype.kind not in "OUS"
    }


def put_into(outputs: Arrays, found: Mapping[str, KeptArray]) -> dict[str, Array]:
    """Return outputs with what was kept in the place of theirs; what has no place is left whole.

    A tensor of another shape or type stands for itself, filled with what was kept of it, so that
    whoever compares sees the shape it had.
    """
    return {name: _restored(outputs.get(name), one) for name, one in found.items()}


def _kept(array: Array) -> KeptArray:
    chosen = array.reshape(-1)[_places(array.size)]
    text = base64.b64encode(chosen.tobytes()).decode("ascii")
    return KeptArray(name_of(array), array.shape, text)


def _restored(now: Array | None, found: KeptArray) -> Array:
    dtype = array_type(found.dtype)
    alike = now is not None and now.shape == found.shape and now.dtype == dtype
    whole = np.array(now) if alike else np.zeros(_sound(found), dtype)
    whole.reshape(-1)[_places(whole.size)] = elements(found)
    return whole


def elements(found: KeptArray) -> Array:
    """Return what was kept of a tensor, as a row."""
    wanted = min(math.prod(_sound(found)), MOST_KEPT)
    try:
        read: Array = np.frombuffer(
            base64.b64decode(found.elements, validate=True), array_type(found.dtype)
        )
        return read.reshape(wanted)
    except (binascii.Error, ValueError) as error:
        raise ModelError(
            f"results that were kept cannot be read: {error}", hint=_MAKE_AGAIN
        ) from error


def _sound(found: KeptArray) -> tuple[int, ...]:
    if any(size < 0 for size in found.shape) or math.prod(found.shape) > 2**31:
        raise ModelError(f"results that were kept claim the shape {found.shape}", hint=_MAKE_AGAIN)
    return found.shape


def _places(size: int) -> Array:
    """Return the places of a flat tensor that are kept: all of a small one."""
    if size <= MOST_KEPT:
        return np.arange(size)
    return np.linspace(0, size - 1, MOST_KEPT).astype(np.int64)
