"""Whether made inputs have room in memory: a model may claim any size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from burnish.core import units
from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.core.memory import usable_bytes
from burnish.store.tensor_data import MOST_DIMENSIONS

_ELEMENT_BYTES = 8
"""Of the widest type that values are made in, before they become what the model takes."""


def require_room(
    shapes: Mapping[str, tuple[int, ...]], usable: Callable[[], int] = usable_bytes
) -> None:
    """Raise unless arrays of these shapes, by the names of inputs, can be made here."""
    for name, shape in shapes.items():
        if len(shape) > MOST_DIMENSIONS:
            raise ModelError(
                f"input {name!r} has {len(shape)} dimensions, and arrays have"
                f" {MOST_DIMENSIONS} at most",
                hint="export the model with inputs of fewer dimensions",
            )
    needed = {name: _ELEMENT_BYTES * math.prod(shape) for name, shape in shapes.items()}
    if sum(needed.values()) > usable():
        name = max(needed, key=lambda name: needed[name])
        raise MissingCapabilityError(
            f"input {name!r} of shape {list(shapes[name])} takes {units.size(needed[name])} to"
            f" make, and there are {units.size(usable())} of memory",
            hint="bind smaller sizes with --shape, or export the model with smaller ones",
        )
