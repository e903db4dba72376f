"""A tile-graph as kernels of a GPU want it: what is changed once, before anything is grouped."""

from __future__ import annotations

from burnish.codegen.gpu.alike import side_by_side
from burnish.codegen.gpu.chains import reordered
from burnish.codegen.gpu.handover import handed_over
from burnish.codegen.gpu.merge import merged
from burnish.codegen.gpu.narrowing import narrowed
from burnish.codegen.gpu.runs import in_runs
from burnish.codegen.gpu.scales import unscaled
from burnish.tile.graph import TileGraph
from burnish.tile.simplify import Fusion, simplify


def adapted(graph: TileGraph, fusion: Fusion = "element-wise") -> TileGraph:
    """Return a simplified graph with fewer and larger products and sums, whose rows are runs."""
    for step in (merged, handed_over, unscaled, side_by_side, reordered, narrowed):
        graph = step(graph)
    return in_runs(simplify(graph, fusion=fusion))
