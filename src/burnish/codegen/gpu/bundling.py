"""Candidates for the groups of models, bundled to be timed where a card is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from burnish.codegen.gpu.choose import candidates
from burnish.codegen.gpu.kernel import GpuTarget, Orders, emit
from burnish.codegen.gpu.work import call_of
from burnish.codegen.schedule import Choice
from burnish.codegen.tune.check import (
    Case,
    ExpectedOutput,
    case_of,
    group_inputs,
    share_finite,
)
from burnish.core.array_types import name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.hashing import value_key
from burnish.core.tensors import FLOATS, TensorSpec
from burnish.cuda.assemble import BoundWork
from burnish.cuda.bundle import BundledCandidate, BundledGroup, Input, Stored
from burnish.cuda.expected import Expected
from burnish.cuda.recipe import Recipe, made
from burnish.tile import group as groups
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TileGraph
from burnish.tile.schedule import Schedule
from burnish.tile.signature import signature

_STORED_ELEMENTS = 1 << 12
"""Constants with fewer elements are taken as they are: they may be bounds, or near zero."""
_POSITIVE = (0.5, 2.0)


@dataclass(frozen=True, slots=True)
class Bundled:
    """What is to be timed, and the arrays that it refers to."""

    groups: tuple[BundledGroup, ...]
    values: Arrays


def bundled(
    graph: TileGraph, choices: Iterable[Choice], target: GpuTarget, *, most: int
) -> Bundled:
    """Return up to `most` candidates for each group of a model; equal groups once."""
    found: dict[str, BundledGroup] = {}
    values: dict[str, Array] = {}
    for choice in choices:
        key = group_key(choice.group, graph, target.orders)
        if choice.schedule is not None and key not in found:
            found[key] = _bundled(key, choice.group, graph, target, values, most)
    return Bundled(tuple(found.values()), values)


def group_key(group: groups.Group, graph: TileGraph, orders: Orders) -> str:
    """Return what equal groups whose tensors lie alike in memory share."""
    places = [list(orders.get(name, ())) for name in (*group.inputs, *group.outputs)]
    return value_key([signature(group, graph), places])[:32]


def label_of(settings: Mapping[str, int]) -> str:
    """Return the settings of a schedule as the label of a candidate."""
    return json.dumps(dict(settings), sort_keys=True)


def _bundled(
    key: str,
    group: groups.Group,
    graph: TileGraph,
    target: GpuTarget,
    values: dict[str, Array],
    most: int,
) -> BundledGroup:
    inputs, case = _case(key, group, graph, target.orders, values)
    expected = {}
    for number, (name, output) in enumerate(case.outputs.items()):
        prefix = f"{key}.{number}"
        expected[name] = _expected(output, target.orders.get(name), prefix, values)
    return BundledGroup(key, inputs, expected, tuple(_candidates(group, graph, target, most)))


def _case(
    key: str, group: groups.Group, graph: TileGraph, orders: Orders, values: dict[str, Array]
) -> tuple[dict[str, Input], Case]:
    """Return inputs as the card gets them, and what comes of them."""
    shown = group_inputs(group, graph)
    tries = []
    for low, high in ((-1.0, 1.0), _POSITIVE):
        inputs: dict[str, Input] = {}
        arrays: dict[str, Array] = {}
        for number, (name, array) in enumerate(shown.items()):
            order = orders.get(name, tuple(range(array.ndim)))
            shape = tuple(array.shape[axis] for axis in order)
            if name_of(array) in FLOATS and not _matters(name, array, graph):
                recipe = Recipe(name_of(array), shape, number + 1, low, high)
                inputs[name], arrays[name] = recipe, made(recipe).transpose(np.argsort(order))
            else:
                dense = np.ascontiguousarray(array.transpose(order))
                values[f"{key}.in{number}"] = dense.reshape(-1).view(np.uint8)
                inputs[name] = Stored(f"{key}.in{number}", name_of(array), shape)
                arrays[name] = array
        tries.append((inputs, case_of(group, graph, arrays)))
        if share_finite(tries[-1][1]) > 0.9:
            break
    return max(tries, key=lambda each: share_finite(each[1]))


def _matters(name: str, array: Array, graph: TileGraph) -> bool:
    return name in graph.constants and array.size < _STORED_ELEMENTS


def _expected(
    output: ExpectedOutput, order: tuple[int, ...] | None, prefix: str, values: dict[str, Array]
) -> Expected:
    """Return what an output must hold, in the order in which it lies in memory."""
    boxes, names = [], []
    for number, part in enumerate(output.parts):
        axes = order or tuple(range(len(part.box)))
        boxes.append(tuple(part.box[axis] for axis in axes))
        names.append(f"{prefix}.{number}")
        wide = part.values.transpose(axes)
        values[names[-1]] = wide.astype(np.float32) if name_of(wide) in ("f16", "bf16") else wide
    allowed = output.allowed
    relative = allowed.tolerance.relative
    return Expected(tuple(boxes), tuple(names), relative, allowed.scale, allowed.ties)


def _candidates(
    group: groups.Group, graph: TileGraph, target: GpuTarget, most: int
) -> Iterable[BundledCandidate]:
    for settings, _ in zip(candidates(group, target), range(most), strict=False):
        schedule = Schedule(group.anchor.shape, settings=settings)
        try:
            launches = emit(group, schedule, graph, target)
        except NoGroupError:
            continue
        calls = tuple(call_of(launch, group.nodes) for launch in launches)
        used = dict.fromkeys(n for call in calls for n in call.arguments)
        specs = {name: _spec(name, graph, target.orders) for name in used}
        yield BundledCandidate(
            label_of(settings), BoundWork(calls, specs, group.inputs, group.outputs)
        )


def _spec(name: str, graph: TileGraph, orders: Orders) -> TensorSpec:
    kind = graph.tensors[name]
    order = orders.get(name, tuple(range(len(kind.shape))))
    return TensorSpec(name, kind.dtype, tuple(kind.shape[axis] for axis in order))
