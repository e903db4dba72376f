"""Groups whose kernels cannot be built, or spill, get the next best schedule, or are cut apart.

A cost model counts registers and memory before there is a kernel; of one kernel in a thousand it is
wrong, and no model should fail, or be slow, because of that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.codegen.backend import Backend, EmittedKernel
from burnish.codegen.place import CompiledRegion, canonical_name
from burnish.codegen.schedule import Choice
from burnish.core.errors import BurnishError
from burnish.tile.candidates import Space
from burnish.tile.connect import NoGroupError
from burnish.tile.group import Group
from burnish.tile.lower import named, operator
from burnish.tile.measures import traffic_bytes
from burnish.tile.schedule import Schedule

MOST = 8
"""Schedules that are tried for a group."""

Chosen = tuple[Choice, tuple[EmittedKernel, ...]]
"""How a group is run, and its kernels."""


def fitting(region: CompiledRegion, backend: Backend) -> CompiledRegion:
    """Return a region whose kernels can be built, as far as that is so for any of a group's."""
    own = {name: text for each in region.kernels for name, text in _sources(region, each)}
    unfit = backend.unfit(own)
    if not unfit:
        return region
    found: list[Chosen] = []
    for choice, kernels in zip(region.choices, region.kernels, strict=True):
        bad = unfit.keys() & dict(_sources(region, kernels)).keys()
        found += _instead((choice, kernels), region, backend) if bad else [(choice, kernels)]
    choices, every = zip(*found, strict=True)
    return replace(region, choices=choices, kernels=every)


def _instead(given: Chosen, region: CompiledRegion, backend: Backend) -> list[Chosen]:
    """Return a group with another schedule, or cut into its nests; where neither fits, as it is."""
    group, schedule = given[0].group, given[0].schedule
    if (other := _best(group, schedule, region, backend)) is not None:
        return [other]
    nests = [Group((op,), (op.output,)) for op in group.ops] if len(group.ops) > 1 else []
    apart = [_best(each, None, region, backend) for each in nests]
    fits = [each for each in apart if each is not None]
    return fits if fits and len(fits) == len(apart) else [given]


def _best(
    group: Group, but: Schedule | None, region: CompiledRegion, backend: Backend
) -> Chosen | None:
    """Return the best schedule whose kernels can be built; None: there is none but `but`."""
    assert region.simple is not None
    ranking = backend.candidates(group, region.simple, Space(top=MOST))
    for candidate in ranking.candidates:
        if candidate.schedule == but:
            continue
        try:
            kernels = backend.emit(group, candidate.schedule, region.simple, layouts=region.layouts)
        except (NoGroupError, BurnishError):
            continue
        if not backend.unfit(dict(_sources(region, kernels))):
            moved = traffic_bytes(candidate.cost, backend.machine)
            return Choice(group, candidate.schedule, candidate.cost.seconds, moved), kernels
    return None


def _sources(region: CompiledRegion, kernels: Sequence[EmittedKernel]) -> list[tuple[str, str]]:
    """Return kernels as a plan will have them: what is built to see whether it can be is kept."""
    operators = {named(node): operator(node) for node in region.region.nodes}
    names = [canonical_name(each, [operators[node] for node in each.nodes]) for each in kernels]
    return [(name, each.named(name)) for name, each in zip(names, kernels, strict=True)]
