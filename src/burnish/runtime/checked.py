"""What kernels are told to read must be there: indices, and lengths of rows."""

from __future__ import annotations

from burnish.core.arrays import Array
from burnish.core.errors import UsageError


def check_indices(name: str, array: Array, size: int, *, is_computed: bool = False) -> None:
    """Raise if a tensor holds an index that is none; a kernel takes another element."""
    if array.dtype.kind not in "iu" or not array.size:
        return
    low, high = _extremes(array)
    if low < -size or high >= size:
        wanted = f"whole numbers from {-size} to {size - 1}"
        raise UsageError(
            f"{'computed' if is_computed else 'input'} {name!r} holds"
            f" {low if low < -size else high}, and what it points into has {size:,} entries",
            hint=f"feed what makes {wanted} of it" if is_computed else f"feed {wanted}",
        )


def check_lengths(name: str, array: Array, most: int) -> None:
    """Raise if a row is longer than the sequence, or shorter than nothing."""
    if not array.size:
        return
    low, high = _extremes(array)
    if low < 0 or high > most:
        raise UsageError(
            f"input {name!r} holds {low if low < 0 else high}, and the sequence has {most:,} steps",
            hint=f"feed whole numbers from 0 to {most}",
        )


def _extremes(array: Array) -> tuple[int, int]:
    """Return the smallest and the greatest of whole numbers; of a single one, itself twice."""
    if array.size == 1:
        # a step of a decoder has one token at one place: NumPy would take longer than a kernel
        return (only := int(array.item()), only)
    return int(array.min()), int(array.max())
