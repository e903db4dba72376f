"""What kernels are told to read must be there: indices, lengths of rows, divisors."""

from __future__ import annotations

from burnish.core.arrays import Array
from burnish.core.existing import Wanted
from burnish.runtime.plan import TensorLook


def check(look: TensorLook, array: Array, *, is_computed: bool) -> None:
    """Raise if a tensor holds what there is no answer for: kernels would give one all the same."""
    seen = array if look.column is None else array[..., look.column]
    name = look.name if is_computed else look.tensor
    _require(Wanted(name, look.kind, look.size, is_computed, look.forward), seen)


def check_indices(name: str, array: Array, size: int) -> None:
    """Raise if an input holds an index that is none; a kernel takes another element."""
    if array.dtype.kind in "iu":
        _require(Wanted(name, "place", size), array)


def _require(wanted: Wanted, array: Array) -> None:
    if not array.size:
        return
    seen = array != 0 if wanted.kind == "divisor" else array
    wrong = wanted.refusal(_extremes(seen))
    if wrong is not None:
        raise wrong


def _extremes(array: Array) -> tuple[int, int]:
    """Return the smallest and the greatest of whole numbers; of a single one, itself twice."""
    if array.size == 1:
        # a step of a decoder has one token at one place: NumPy would take longer than a kernel
        return (only := int(array.item()), only)
    return int(array.min()), int(array.max())
