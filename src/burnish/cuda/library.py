"""Products that a library can form in place of a kernel of ours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

DTYPES = ("f16", "bf16")
"""What is multiplied."""


class GivenMatrix(Protocol):
    """A tensor that a kernel is given."""

    @property
    def dtype(self) -> str:
        """Return its element type."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return its sizes."""

    @property
    def written(self) -> bool:
        """Say whether the kernel writes it."""


@dataclass(frozen=True, slots=True)
class LibraryProduct:
    """What a kernel computes, where that is a product of two matrices that lie row by row.

    result[i, j] = sum_k left[i, k] · right[k, j] + offsets[j] + added[i, j]
    """

    dtype: str
    """Of all matrices; sums are formed in f32."""
    rows: int
    columns: int
    terms: int
    left: int
    """Which of the kernel's pointers the matrix is, and so on."""
    right: int
    result: int
    offsets: int | None = None
    added: int | None = None
    turned: bool = False
    """Whether the right side lies column by column: its terms are side by side."""

    @property
    def sizes(self) -> dict[int, int]:
        """Return how many elements are touched behind each pointer: one may serve as several."""
        found: dict[int, int] = {}
        for place, size in (
            (self.left, self.rows * self.terms),
            (self.right, self.terms * self.columns),
            (self.result, self.rows * self.columns),
            (self.offsets, self.columns),
            (self.added, self.rows * self.columns),
        ):
            if place is not None:
                found[place] = max(size, found.get(place, 0))
        return found


def product_findings(product: LibraryProduct, given: Sequence[GivenMatrix]) -> Iterator[str]:
    """Yield where a product touches something else than what its kernel is given."""
    if product.dtype not in DTYPES or min(product.rows, product.columns, product.terms) < 1:
        yield "its library forms no such product"
        return
    for place, size in product.sizes.items():
        if not 0 <= place < len(given) or given[place].dtype != product.dtype:
            yield f"its library takes a matrix of {product.dtype} where there is none: {place}"
        elif math.prod(given[place].shape) < size:
            yield f"its library touches {size} elements of {math.prod(given[place].shape)}"
    yield from _writing_findings(product, given)


def _writing_findings(product: LibraryProduct, given: Sequence[GivenMatrix]) -> Iterator[str]:
    """Yield where something else is written than what the kernel writes, or less of it."""
    written = {place for place, each in enumerate(given) if each.written}
    for place in sorted(written ^ {product.result}):
        yield f"its library and it do not write the same: {place}"
    if product.result in (product.left, product.right, product.offsets, product.added):
        yield f"its library reads what it writes: {product.result}"
    size = product.rows * product.columns
    for place in written & {product.result}:
        if math.prod(given[place].shape) != size:
            yield f"its library writes {size} elements of {math.prod(given[place].shape)}"
