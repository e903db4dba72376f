"""Work that makes millions of objects, without looking for cycles among them meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 200_000
"""From so many objects on, looking through them is what takes the time."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no cycles inside: for what makes many objects, and none in a cycle.

    Each look would go through all that is there; what much work leaves behind is not looked
    through later either. For a trace of 1 GB that is a third of the time, for a drawing of
    50,000 nodes a quarter.
    """
    enabled, before = gc.isenabled(), gc.get_count()[0]
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] - before > _MANY:
            gc.freeze()
        if enabled:
            gc.enable()
