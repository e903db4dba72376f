"""What fewer bits and fewer weights would do to a model's time, predicted before either is made."""

from __future__ import annotations

import shlex

from burnish.analyze import whatif as analysis
from burnish.analyze.advise import ModelChange
from burnish.analyze.event_graph import Event
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.selector import Selector
from burnish.core import units
from burnish.core.errors import BurnishError
from burnish.prune.axes import PrunableAxes
from burnish.prune.choose import smallest
from burnish.study.diagnosing import same_sizes
from burnish.study.prune_cut import prunable
from burnish.study.timeline import Recorded, TimelineRequest
from burnish.study.type_factors import product_shape, with_type_factors
from burnish.trace.events import DEVICE

_HALF = 0.5
_MOST_SHAPES = 4
"""Of products that are timed in int8, which takes a second for each."""


def model_changes(request: TimelineRequest, found: Recorded) -> tuple[ModelChange, ...]:
    """Return what int8 and cutting half of the operations are predicted to give on a CPU.

    Nothing is made for that: products are timed by themselves, and what can be cut is read off
    the graph.
    """
    on_card = any(event.kind in DEVICE for event in found.setting.graph.events)
    if on_card or request.model is None or found.feeds is None:
        return ()
    return (*_in_int8(request, found), *_cut(request, found))


def _in_int8(request: TimelineRequest, found: Recorded) -> tuple[ModelChange, ...]:
    events = _longest_products(found)
    if not events:
        return ()
    chosen = tuple(Selector("name", event.name) for event in events)
    scenario = Scenario("int8", (Action("precision", chosen, "i8"),))
    probed = with_type_factors(found, (scenario,), threads=request.options.threads)
    outcome = analysis.outcome(scenario, probed.setting)
    assert request.model is not None
    return (
        ModelChange(
            "multiply in int8 (-p int8)",
            outcome,
            f"{units.count(len(events), 'product')} of f32, {units.seconds(outcome.events_s)}, "
            "timed by themselves in both types here; how far results move is told when it is done",
            _line("optimize", request, "-p int8", "-o int8.onnx", same_sizes(request.shape, None)),
        ),
    )


def _longest_products(found: Recorded) -> list[Event]:
    """Return the products with f32 weights, those of the shapes that take longest."""
    shapes: dict[tuple[int, int, int], list[Event]] = {}
    for place in found.setting.graph.work:
        event = found.setting.graph.events[place]
        shape = product_shape(event, found.setting)
        if shape is not None:
            shapes.setdefault(shape, []).append(event)
    longest = sorted(shapes.values(), key=lambda own: -sum(event.duration_s for event in own))
    return [event for own in longest[:_MOST_SHAPES] for event in own]


def _cut(request: TimelineRequest, found: Recorded) -> tuple[ModelChange, ...]:
    assert request.model is not None
    assert found.feeds is not None
    try:
        one = prunable(request.model, found.feeds)
    except BurnishError:
        return ()  # nothing in it can be made smaller
    least = one.work.flops(smallest(one.found.axes)) / (one.work.flops({}) or 1.0)
    keep = max(_HALF, round(least + 0.05, 2))
    if keep >= 1.0:
        return ()
    names = _weighted(found)
    if not names:
        return ()
    chosen = tuple(Selector("name", name) for name in names)
    scenario = Scenario("pruned", (Action("scale", chosen, 1 / keep),))
    outcome = analysis.outcome(scenario, found.setting)
    threads = request.options.threads
    return (
        ModelChange(
            f"cut {_kinds(one.found)}, {units.share(keep)} of the operations left",
            outcome,
            f"what multiplies by weights takes {units.seconds(outcome.events_s)}, and is taken to "
            "shrink with its operations; another function: see burnish sensitivity first",
            _line("prune", request, f"--keep {keep:g}", "-o pruned.onnx",
                  same_sizes(request.shape, threads)),
        ),
    )  # fmt: skip


def _weighted(found: Recorded) -> list[str]:
    """Return the events in which something is multiplied by constants."""
    setting = found.setting
    record = setting.scene.record
    if record is None:
        return []
    products = {
        node.name
        for node in record.nodes
        if set(node.inputs) & record.constants
        and any(word in node.op_type for word in ("MatMul", "Gemm", "Conv", "Attention"))
    }
    events = (setting.graph.events[place] for place in setting.graph.work)
    return [event.name for event in events if set(event.nodes) & products]


def _kinds(found: PrunableAxes) -> str:
    kinds = dict.fromkeys(axis.kind for axis in found.axes)
    return " and ".join(kinds)


def _line(command: str, request: TimelineRequest, *words: str) -> str:
    assert request.model is not None
    return " ".join(
        ["burnish", command, shlex.quote(str(request.model.onnx)), *filter(None, words)]
    )
