"""Candidates of a model's groups: what a bundle expects is what their kernels give."""

from __future__ import annotations

import json
from typing import cast

import numpy as np
import pytest

from burnish.codegen.gpu.bundling import bundled
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.work import call_of
from burnish.codegen.schedule import Choice
from burnish.core.array_types import array_type
from burnish.cuda.bundle import Bundle, Contents
from burnish.cuda.expected import finding
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import interpreted
from codegen.gpu.models import graph_of

pytest.importorskip("triton")


def choices(graph: TileGraph) -> list[Choice]:
    groups = [Group((op,), (op.output,)) for op in graph.ops]
    return [Choice(group, Schedule(group.anchor.shape)) for group in groups]


def turned(graph: TileGraph) -> GpuTarget:
    """Return a target for which tensors between kernels lie the other way around."""
    inner = set(graph.tensors) - {*graph.inputs, *graph.outputs, *graph.constants}
    orders = {name: tuple(reversed(range(len(graph.tensors[name].shape)))) for name in inner}
    return GpuTarget(orders=orders)


@pytest.mark.parametrize("name", ["each", "product", "convolution", "inverted_residual", "moved"])
def test_kernels_give_what_a_bundle_expects(name: str) -> None:
    graph = graph_of(name)
    target = turned(graph)
    every = choices(graph)
    found = bundled(graph, every, target, most=1)
    contents = Contents(cast("Bundle", None), {}, found.values)
    for choice, group in zip(every, found.groups, strict=False):
        (candidate,) = group.candidates
        work = candidate.work
        arrays = {each: np.array(contents.made(made)) for each, made in group.inputs.items()}
        for spec in work.tensors.values():
            empty = np.zeros(cast("tuple[int, ...]", spec.shape), array_type(spec.dtype))
            arrays.setdefault(spec.name, empty)
        schedule = Schedule(choice.group.anchor.shape, settings=json.loads(candidate.label))
        launches = emit(choice.group, schedule, graph, target)
        assert work.calls == tuple(call_of(each, choice.group.nodes) for each in launches)
        given = interpreted(launches, arrays)
        for output, expected in group.expected.items():
            assert not finding(output, np.asarray(given[output]), expected, found.values)
            assert finding(output, np.asarray(given[output]) + 1, expected, found.values)


def test_equal_groups_are_timed_once() -> None:
    graph = graph_of("product")
    every = choices(graph)
    found = bundled(graph, [*every, *every], GpuTarget(), most=2)
    assert len(found.groups) == len({group.signature for group in found.groups}) <= len(every)


def test_a_group_that_no_kernel_computes_is_left_out() -> None:
    graph = graph_of("each")
    left = [Choice(each.group, None, reason="a test") for each in choices(graph)]
    assert not bundled(graph, left, GpuTarget(), most=2).groups
