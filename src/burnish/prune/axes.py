"""What can be cut out of a model: sets of weight axes that go together, found from its graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from burnish.infer.constants import constant_tensor
from burnish.prune.dims import Dim, leaves, size_of
from burnish.prune.flow import Flow, Summed

Kind = Literal["neurons", "heads", "channels"]


@dataclass(frozen=True, slots=True, eq=False)
class CoupledAxis:
    """A size that can be made smaller: where it is, and the products that sum it away."""

    name: str
    """Of the first product that sums it away."""
    kind: Kind
    dim: Dim
    weights: tuple[tuple[ir.Value, int], ...]
    """Every constant and which of its axes; one may be cut along two."""
    sums: tuple[Summed, ...]

    @property
    def size(self) -> int:
        """Return how many units there are."""
        return self.dim.size


@dataclass(frozen=True, slots=True)
class PrunableAxes:
    """All that can be cut, and why the rest of what products sum over cannot."""

    axes: tuple[CoupledAxis, ...]
    refused: Mapping[str, str]
    """By the name of a product, why what it sums over must stay."""


def coupled_axes(flow: Flow) -> PrunableAxes:
    """Return what can be cut, in the order of the graph.

    Of an axis that holds heads, whole heads are cut: a dim within another that can be cut is
    left alone.
    """
    weights = _weights(flow)
    sums: dict[Dim, list[Summed]] = defaultdict(list)
    refused: dict[str, str] = {}
    inner: set[Dim] = set()
    for one in flow.sums:
        axis = _summed(flow, one)
        free = [dim for dim in axis if not dim.pinned]
        for dim in axis:
            sums[dim].append(one)
        inner.update(free[1:])
        if not free and axis:
            refused[_name(one)] = next(dim.pinned for dim in axis if dim.pinned)
    axes = tuple(
        CoupledAxis(_name(found[0]), _kind(flow, found[0], dim), dim, weights[dim], tuple(found))
        for dim, found in sums.items()
        if not dim.pinned and dim not in inner and _is_made(weights[dim], found)
    )
    return PrunableAxes(axes, refused)


def kept_places(axis: Iterable[Dim], kept: Mapping[Dim, tuple[int, ...]]) -> list[int]:
    """Return which places of an axis stay, if of some dims only these units do."""
    places = [0]
    for dim in leaves(axis):
        units = kept.get(dim, range(dim.size))
        places = [place * dim.size + unit for place in places for unit in units]
    return places


def _summed(flow: Flow, one: Summed) -> list[Dim]:
    axes = flow.of(one.weight)
    return [] if axes is None else leaves(axes[one.weight_axis])


def _weights(flow: Flow) -> Mapping[Dim, tuple[tuple[ir.Value, int], ...]]:
    """Return where each dim occurs in constants."""
    found: dict[Dim, list[tuple[ir.Value, int]]] = defaultdict(list)
    for value, axes in flow.values.items():
        if axes is not None and constant_tensor(value) is not None:
            for index, axis in enumerate(axes):
                for dim in leaves(axis):
                    found[dim].append((value, index))
    return defaultdict(tuple, {dim: tuple(places) for dim, places in found.items()})


def _is_made(weights: Iterable[tuple[ir.Value, int]], sums: Iterable[Summed]) -> bool:
    """Return whether some weight makes the units that others sum away."""
    away = {(one.weight, one.weight_axis) for one in sums}
    return any(place not in away for place in weights)


def _kind(flow: Flow, one: Summed, dim: Dim) -> Kind:
    if one.convolves:
        return "channels"
    return "heads" if size_of(_summed(flow, one)) > dim.size else "neurons"


def _name(one: Summed) -> str:
    return one.node.name or one.node.outputs[0].name or one.node.op_type
