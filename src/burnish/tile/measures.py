"""What fusing gives, in the measures that tile-graph papers report: kernels, results, traffic."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import get_args

from burnish.tile.connect import NoGroupError
from burnish.tile.cost import Cost
from burnish.tile.footprint import element_bytes
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import Machine
from burnish.tile.partition import Fusion, partition
from burnish.tile.predict import Predictions
from burnish.tile.simplify import simplify


@dataclass(frozen=True, slots=True)
class Measures:
    """A plan in numbers; predictions are the cost model's."""

    fusion: Fusion
    kernels: int
    intermediate_bytes: int
    """Of all tensors that kernels write, final outputs included; not inputs and weights."""
    traffic_bytes: float
    """Predicted, between the memory of single compute units and what they share."""
    seconds: float
    """Predicted, one kernel after the other."""


def compare(graphs: Iterable[TileGraph], machine: Machine) -> tuple[Measures, ...]:
    """Return the measures of a model's lowered graphs, for each degree of fusion."""
    lowered = tuple(graphs)
    return tuple(fused(lowered, machine, fusion) for fusion in get_args(Fusion))


def fused(graphs: Iterable[TileGraph], machine: Machine, fusion: Fusion) -> Measures:
    """Return the measures of a model's lowered graphs for one degree of fusion, as predicted."""
    found = [_fused(graph, machine, fusion) for graph in graphs]
    return Measures(
        fusion=fusion,
        kernels=sum(each.kernels for each in found),
        intermediate_bytes=sum(each.intermediate_bytes for each in found),
        traffic_bytes=sum(each.traffic_bytes for each in found),
        seconds=sum(each.seconds for each in found),
    )


def measure(
    groups: Collection[Group], predictions: Predictions, fusion: Fusion = "full"
) -> Measures:
    """Return the measures of a partition of the predictions' graph."""
    costs = [cost for group in groups if (cost := _cost(group, predictions)) is not None]
    types = predictions.graph.tensors
    written = dict.fromkeys(name for group in groups for name in group.outputs)
    return Measures(
        fusion=fusion,
        kernels=len(groups),
        intermediate_bytes=sum(element_bytes(types[n].dtype, types[n].size) for n in written),
        traffic_bytes=sum(traffic_bytes(cost, predictions.machine) for cost in costs),
        seconds=sum(cost.seconds for cost in costs),
    )


def traffic_bytes(cost: Cost, machine: Machine) -> float:
    """Return what a kernel moves between the units' own memories and the one they share."""
    shared = next(level for level in machine.levels if not level.per_unit)
    return cost.memory_s[shared.name] * shared.bandwidth_bytes_per_s


def _fused(graph: TileGraph, machine: Machine, fusion: Fusion) -> Measures:
    simple = simplify(graph, fusion="none" if fusion == "none" else "element-wise")
    predictions = Predictions(simple, machine)
    groups = partition(simple, machine, fusion, predictor=predictions).groups
    return measure(groups, predictions, fusion)


def _cost(group: Group, predictions: Predictions) -> Cost | None:
    try:
        return predictions.best(group).cost
    except NoGroupError:
        # an output without elements: a kernel that moves nothing
        return None
