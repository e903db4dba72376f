"""What kernels are told to read must be there: indices, lengths of rows, divisors."""

from __future__ import annotations

from burnish.core.arrays import Array
from burnish.core.errors import UsageError
from burnish.runtime.plan import TensorLook


def check(look: TensorLook, array: Array, *, is_computed: bool) -> None:
    """Raise if a tensor holds what there is no answer for: kernels would give one all the same."""
    seen = array if look.column is None else array[..., look.column]
    name = look.name if is_computed else look.tensor
    match look.kind:
        case "place":
            lowest = 0 if look.forward else None
            check_indices(name, seen, look.size, lowest=lowest, is_computed=is_computed)
        case "length":
            check_lengths(name, seen, look.size, is_computed=is_computed)
        case "divisor":
            check_divisors(name, seen, is_computed=is_computed)


def check_indices(
    name: str, array: Array, size: int, *, lowest: int | None = None, is_computed: bool = False
) -> None:
    """Raise if a tensor holds an index that is none; a kernel takes another element.

    `lowest`: the least that is one; None: as many as there are count from the end.
    """
    if array.dtype.kind not in "iu" or not array.size:
        return
    least = -size if lowest is None else lowest
    low, high = int(array.min()), int(array.max())
    if low < least or high >= size:
        wanted = f"whole numbers from {least} to {size - 1}"
        raise UsageError(
            f"{_called(name, is_computed=is_computed)} holds"
            f" {low if low < least else high}, and what it points into has {size:,} entries",
            hint=_hint(wanted, is_computed=is_computed),
        )


def check_lengths(name: str, array: Array, most: int, *, is_computed: bool = False) -> None:
    """Raise if a row is longer than the sequence, or shorter than nothing."""
    if not array.size:
        return
    low, high = int(array.min()), int(array.max())
    if low < 0 or high > most:
        raise UsageError(
            f"{_called(name, is_computed=is_computed)} holds"
            f" {low if low < 0 else high}, and the sequence has {most:,} steps",
            hint=_hint(f"whole numbers from 0 to {most}", is_computed=is_computed),
        )


def check_divisors(name: str, array: Array, *, is_computed: bool = False) -> None:
    """Raise if whole numbers are divided by 0; a kernel gives 0."""
    if not array.all():
        raise UsageError(
            f"{_called(name, is_computed=is_computed)} holds 0, and divides whole numbers",
            hint=_hint("whole numbers other than 0", is_computed=is_computed),
        )


def _called(name: str, *, is_computed: bool) -> str:
    return f"{'computed' if is_computed else 'input'} {name!r}"


def _hint(wanted: str, *, is_computed: bool) -> str:
    return f"feed what makes {wanted} of it" if is_computed else f"feed {wanted}"
