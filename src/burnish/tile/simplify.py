"""Make a tile-graph simpler: the steps, in the order in which they are taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from burnish.tile.graph import TileGraph
from burnish.tile.steps.elementwise import inline_elementwise
from burnish.tile.steps.finish import inline_finish
from burnish.tile.steps.fold import fold
from burnish.tile.steps.halves import multiply_halves
from burnish.tile.steps.moves import inline_moves
from burnish.tile.steps.parts import sum_in_parts
from burnish.tile.steps.places import known_places
from burnish.tile.steps.refine import refine
from burnish.tile.steps.unused import drop_unused, share

Fusion = Literal["none", "element-wise"]
Step = Callable[[TileGraph], TileGraph]

_PLAIN: tuple[Step, ...] = (
    drop_unused,
    share,
    multiply_halves,
    fold,
    known_places,
    refine,
    inline_moves,
)
_STEPS: Mapping[Fusion, tuple[Step, ...]] = {
    "none": _PLAIN,
    "element-wise": (*_PLAIN, inline_finish, inline_elementwise),
}

MOST_ROUNDS = 20
"""Steps make way for each other; real models settle after two or three rounds."""


def simplify(graph: TileGraph, *, fusion: Fusion = "element-wise") -> TileGraph:
    """Return a graph with the same inputs, outputs and results, and fewer, plainer nests.

    With `fusion="none"` each nest that computes stays one: only movements, repetitions and
    constants go. Simplifying twice changes nothing more.
    """
    for _ in range(MOST_ROUNDS):
        before = graph.ops
        for step in _STEPS[fusion]:
            graph = step(graph)
        if graph.ops == before:
            break
    return sum_in_parts(graph)
