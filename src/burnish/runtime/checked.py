"""What kernels are told to read must be there: indices, and lengths of rows."""

from __future__ import annotations

from burnish.core.arrays import Array
from burnish.core.errors import UsageError
from burnish.core.existing import missing_place


def check_indices(name: str, array: Array, size: int, *, is_computed: bool = False) -> None:
    """Raise if a tensor holds an index that is none; a kernel takes another element."""
    if array.dtype.kind not in "iu" or not array.size:
        return
    held = int(array.min()), int(array.max())
    if (wrong := missing_place(name, held, size, is_computed=is_computed)) is not None:
        raise wrong


def check_lengths(name: str, array: Array, most: int) -> None:
    """Raise if a row is longer than the sequence, or shorter than nothing."""
    if not array.size:
        return
    low, high = int(array.min()), int(array.max())
    if low < 0 or high > most:
        raise UsageError(
            f"input {name!r} holds {low if low < 0 else high}, and the sequence has {most:,} steps",
            hint=f"feed whole numbers from 0 to {most}",
        )
