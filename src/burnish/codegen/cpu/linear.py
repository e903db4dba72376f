"""The offset of a read element: affine in the axes of a nest, plus what is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.tile.index import Atom, Axis, Index, axes_of, substitute


@dataclass(frozen=True, slots=True)
class Linear:
    """`constant + Σ stride · axis + Σ factor · atom`, in elements from the tensor's first."""

    strides: Mapping[Axis, int]
    constant: int = 0
    rest: tuple[tuple[Atom, int], ...] = field(default=())

    def stride(self, axis: Axis | None) -> int:
        """Return how far one step of the axis moves, apart from the uneven part."""
        return self.strides.get(axis, 0) if axis is not None else 0

    def steady(self, axis: Axis) -> bool:
        """Say whether every step of the axis moves equally far."""
        return axis not in uneven_axes(self)

    def depends(self, axis: Axis | None) -> bool:
        """Say whether the offset changes with the axis at all."""
        return axis is not None and (self.stride(axis) != 0 or not self.steady(axis))


def linear(index: tuple[Index, ...], strides: tuple[int, ...]) -> Linear:
    """Return the offset of an index in a tensor with these strides."""
    # quotient and remainder of one index may lie so that the address needs neither
    place = Index()
    for part, stride in zip(index, strides, strict=True):
        place = place + part * stride
    return _linear(place)


def substituted(offset: Linear, values: Mapping[Axis, Index]) -> Linear:
    """Return the offset with indices in place of axes."""
    place = Index((), offset.constant)
    for atom, factor in (*offset.strides.items(), *offset.rest):
        place = place + substitute(Index(((atom, 1),)), values) * factor
    return _linear(place)


def _linear(place: Index) -> Linear:
    return Linear(
        {atom: factor for atom, factor in place.terms if isinstance(atom, Axis)},
        place.constant,
        tuple((atom, factor) for atom, factor in place.terms if not isinstance(atom, Axis)),
    )


def uneven_axes(access: Linear) -> frozenset[Axis]:
    """Return the axes behind a division, a remainder or a fetched index."""
    return frozenset(axis for atom, _ in access.rest for axis in axes_of(Index(((atom, 1),))))


def merged(access: Linear, outer: Axis, inner: Axis, joint: Axis) -> Linear | None:
    """Return the access with two axes walked as one; None where they are not one run."""
    if access.stride(outer) != access.stride(inner) * inner.extent:
        return None
    if {outer, inner} & uneven_axes(access):
        return None
    strides = {a: s for a, s in access.strides.items() if a not in (outer, inner)}
    if access.stride(inner):
        strides[joint] = access.stride(inner)
    return Linear(strides, access.constant, access.rest)
