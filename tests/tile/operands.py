"""Operands of one node, drawn: shapes that broadcast, all values that an element type has."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn_arrays

from burnish.core.arrays import Array

UNTIMED = settings(deadline=None)
"""The first example imports and loads what all others use."""

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5)


def values(dtype: str, shape: tuple[int, ...], *, special: bool = True) -> st.SearchStrategy[Array]:
    """Draw an array; floats are moderate numbers, or one of `SPECIAL`."""
    kind = np.dtype(dtype)
    if kind.kind != "f":
        return drawn_arrays.arrays(kind, shape)
    moderate = st.integers(-800, 800).map(lambda n: n / 100)
    either = st.one_of(moderate, st.sampled_from(SPECIAL)) if special else moderate
    return drawn_arrays.arrays(np.float64, shape, elements=either).map(lambda a: a.astype(kind))


@st.composite
def together(
    draw: st.DrawFn, dtypes: tuple[str, ...], count: int, *, special: bool = True
) -> dict[str, Array]:
    """Draw operands of one type that broadcast together; sizes may be zero and one."""
    dtype = draw(st.sampled_from(dtypes))
    shapes = draw(
        drawn_arrays.mutually_broadcastable_shapes(num_shapes=count, max_dims=3, min_side=0)
    ).input_shapes
    return {
        f"x{position}": draw(values(dtype, shape, special=special))
        for position, shape in enumerate(shapes)
    }


@st.composite
def tensor(
    draw: st.DrawFn, dtypes: tuple[str, ...], *, least_dims: int = 0, least_size: int = 0
) -> Array:
    """Draw one tensor."""
    shape = draw(
        drawn_arrays.array_shapes(min_dims=least_dims, max_dims=4, min_side=least_size, max_side=4)
    )
    return draw(values(draw(st.sampled_from(dtypes)), shape, special=False))
