"""A tile-graph as kernels of a GPU want it: what is changed once, before anything is grouped."""

from __future__ import annotations

from burnish.codegen.gpu.alike import side_by_side
from burnish.codegen.gpu.chains import reordered
from burnish.codegen.gpu.folding import folded
from burnish.codegen.gpu.framed import framed
from burnish.codegen.gpu.grouped import by_groups
from burnish.codegen.gpu.handover import handed_over
from burnish.codegen.gpu.layout import sums_in_order
from burnish.codegen.gpu.merge import merged
from burnish.codegen.gpu.mirrored import counted_places
from burnish.codegen.gpu.moments import moments_in_parts
from burnish.codegen.gpu.narrowing import narrowed
from burnish.codegen.gpu.runs import in_runs
from burnish.codegen.gpu.scales import unscaled
from burnish.tile.graph import TileGraph
from burnish.tile.simplify import Fusion, simplify

STEPS = (
    counted_places,
    framed,
    folded,
    by_groups,
    merged,
    handed_over,
    unscaled,
    side_by_side,
    moments_in_parts,
    reordered,
    narrowed,
)
"""In this order: products of groups may be joined, and what is scaled may be a joined one."""


def adapted(graph: TileGraph, fusion: Fusion = "element-wise") -> TileGraph:
    """Return a simplified graph with fewer and larger products and sums, whose rows are runs."""
    for step in STEPS:
        graph = step(graph)
    return sums_in_order(in_runs(simplify(graph, fusion=fusion)))
