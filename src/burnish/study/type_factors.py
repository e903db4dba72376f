"""How much faster products are in another type, measured at the very shapes of a model."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

from burnish.analyze.event_graph import Event
from burnish.analyze.scenario import Scenario
from burnish.analyze.selector import Selector, select
from burnish.analyze.transform import Setting
from burnish.bench.machine import usable_cores
from burnish.bench.probe import product_factor
from burnish.study.timeline import Recorded
from burnish.trace.events import DEVICE

MEASURED = ("i8",)
_PRODUCTS = ("MatMul", "Gemm", "FusedMatMul")


def with_type_factors(
    found: Recorded, scenarios: Iterable[Scenario], *, threads: int | None
) -> Recorded:
    """Return the inference with what a change of type gives for each product that is asked about.

    The peak rates of a device say little about a product of few rows: packing, quantising and
    the way to memory take longer than the arithmetic.
    """
    setting = found.setting
    if any(event.kind in DEVICE for event in setting.graph.events):
        return found
    shapes = {
        (event.name, str(action.by)): shape
        for scenario in scenarios
        for action in scenario.actions
        if action.do == "precision" and action.by in MEASURED
        for event in _events(action.select, setting)
        if (shape := product_shape(event, setting)) is not None
    }
    cores = threads or usable_cores()
    factors = {
        (dtype, shape): product_factor(dtype, shape, threads=cores)
        for dtype, shape in {(dtype, shape) for (_, dtype), shape in shapes.items()}
    }
    known = {(name, dtype): factors[dtype, shape] for (name, dtype), shape in shapes.items()}
    changed = Setting(setting.scene, setting.device, setting.batches, known)
    return dataclasses.replace(found, setting=changed)


def _events(selectors: Sequence[Selector], setting: Setting) -> Iterable[Event]:
    for selector in selectors:
        for place in select(selector, setting.scene):
            yield setting.graph.events[place]


def product_shape(event: Event, setting: Setting) -> tuple[int, int, int] | None:
    """Return rows, depth and columns of an f32 product with constant weights; None: it is none."""
    record = setting.scene.record
    nodes = [setting.nodes[name] for name in event.nodes if name in setting.nodes]
    products = [node for node in nodes if node.op_type in _PRODUCTS]
    if record is None or len(products) != 1:
        return None
    (node,) = products
    left, right, out = (
        record.static(name) for name in (node.inputs[0], node.inputs[1], node.outputs[0])
    )
    known = left is not None and right is not None and out is not None
    if not known or node.inputs[1] not in record.constants:
        return None
    assert left is not None
    assert out is not None
    sizes = [int(dim) for dim in out.shape]
    rows, columns = math.prod(sizes[:-1]), sizes[-1]
    depth = math.prod(int(dim) for dim in left.shape) // max(1, rows)
    return (rows, depth, columns) if left.dtype == "f32" else None
