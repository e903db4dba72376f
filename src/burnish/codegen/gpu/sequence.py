"""A whole model as a sequence of launches: what is started, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.codegen.gpu.adapting import adapted
from burnish.codegen.gpu.kernel import GpuTarget, Orders, emit
from burnish.codegen.gpu.launch import Launch
from burnish.codegen.schedule import Choice
from burnish.core.errors import ModelError
from burnish.rewrite.pipeline import optimize
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.lower import cover, lower
from burnish.tile.simplify import Fusion, simplify

Choose = Callable[[TileGraph], Sequence[Choice]]


@dataclass(frozen=True, slots=True)
class Sequenced:
    """The launches of a model, in order, over the tensors of its simplified graph."""

    graph: TileGraph
    choices: tuple[Choice, ...]
    launches: tuple[tuple[Launch, ...], ...]
    """Those of each choice."""
    orders: Orders


def simplified(model: ir.Model, fusion: Fusion = "element-wise") -> TileGraph:
    """Return the nests of a model all of whose nodes have a meaning as loops."""
    bound = static(static_and_rewritten(model), {})
    left = cover(bound.graph, counts=True).left
    if left:
        name, reason = next(iter(left.items()))
        raise ModelError(
            f"{len(left)} nodes have no loops, the first is {name}: {reason}",
            hint="see which: burnish coverage MODEL",
        )
    plain = simplify(lower(tuple(bound.graph), counts=True).graph, fusion=fusion)
    return adapted(plain, fusion)


def static_and_rewritten(model: ir.Model) -> ir.Model:
    """Return a model with fixed sizes, rewritten; the argument is left untouched."""
    return optimize(static(model.clone(), {})).model


def sequenced(graph: TileGraph, choose: Choose, target: GpuTarget) -> Sequenced:
    """Return the launches of a simplified graph; `ModelError` where a group has no kernel."""
    choices = tuple(choose(graph))
    launches = []
    for choice in choices:
        if choice.schedule is None:
            raise ModelError(
                f"{choice.group.anchor.output!r} has no kernel: {choice.reason}",
                hint="leave its nodes to ONNX Runtime",
            )
        launches.append(emit(choice.group, choice.schedule, graph, target))
    return Sequenced(graph, choices, tuple(launches), target.orders)
