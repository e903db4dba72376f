"""Groups whose kernels cannot be built, or spill, get the next best schedule, or are cut apart.

A cost model counts registers and memory before there is a kernel; of one kernel in a thousand it is
wrong, and no model should fail, or be slow, because of that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from burnish.codegen.backend import Backend, EmittedKernel
from burnish.codegen.place import CompiledRegion, canonical_name
from burnish.codegen.schedule import Choice
from burnish.core.errors import BurnishError
from burnish.tile.candidates import Candidate, Space
from burnish.tile.connect import NoGroupError
from burnish.tile.group import Group
from burnish.tile.lower import named, operator
from burnish.tile.measures import traffic_bytes
from burnish.tile.schedule import Schedule

MOST = 6
"""Schedules that are built at a time; of a group that can be cut apart no more are tried."""

Chosen = tuple[Choice, tuple[EmittedKernel, ...]]
"""How a group is run, and its kernels."""

Refused = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Says which of some kernels will not do, and why."""


def fitting(region: CompiledRegion, backend: Backend) -> CompiledRegion:
    """Return a region whose kernels can be built, as far as that is so for any of a group's."""
    own = {name: text for each in region.kernels for name, text in _sources(region, each)}
    unfit = backend.unfit(own)
    if not unfit:
        return region
    found: list[Chosen] = []
    instead: dict[tuple[int, tuple[str, ...]], list[Chosen]] = {}
    for choice, kernels in zip(region.choices, region.kernels, strict=True):
        names = tuple(name for name, _ in _sources(region, kernels))
        if not unfit.keys() & set(names):
            found.append((choice, kernels))
            continue
        key = len(choice.group.ops), names
        if key not in instead:
            instead[key] = _instead((choice, kernels), region, backend)
        found += _alike(instead[key], choice.group, region, backend)
    choices, every = zip(*found, strict=True)
    return replace(region, choices=choices, kernels=every)


def kept_unfit(backend: Backend, sources: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is to be said of kernels, given by name, that do not fit and were kept."""
    found = backend.unfit(sources)
    return tuple(
        f"{name}: {reason}, and no other blocks were better" for name, reason in found.items()
    )


def _instead(given: Chosen, region: CompiledRegion, backend: Backend) -> list[Chosen]:
    """Return a group with another schedule, or cut into its nests; where neither fits, as it is.

    As it is it may spill, but not fail: then what can be built at all is taken.
    """
    if (other := _other(given, region, backend, backend.unfit)) is not None:
        return other
    if not backend.unbuildable(dict(_sources(region, given[1]))):
        return [given]
    return _other(given, region, backend, backend.unbuildable) or [given]


def _other(
    given: Chosen, region: CompiledRegion, backend: Backend, refused: Refused
) -> list[Chosen] | None:
    """Return a group with another schedule, or cut into its nests; None: all is refused."""
    group, schedule = given[0].group, given[0].schedule
    if (other := _best(group, schedule, region, backend, refused)) is not None:
        return [other]
    apart = [_best(each, None, region, backend, refused) for each in _nests(group)]
    fits = [each for each in apart if each is not None]
    return fits if len(fits) == len(apart) > 1 else None


def _alike(
    chosen: Sequence[Chosen], group: Group, region: CompiledRegion, backend: Backend
) -> list[Chosen]:
    """Return a group as an equal one was chosen to run."""
    groups = [group] if len(chosen) == 1 else _nests(group)
    choices = [replace(each, group=own) for (each, _), own in zip(chosen, groups, strict=True)]
    return [(each, _emitted(each, region, backend)) for each in choices]


def _nests(group: Group) -> list[Group]:
    return [Group((op,), (op.output,)) for op in group.ops]


def _emitted(choice: Choice, region: CompiledRegion, backend: Backend) -> tuple[EmittedKernel, ...]:
    assert region.simple is not None
    assert choice.schedule is not None
    return backend.emit(choice.group, choice.schedule, region.simple, layouts=region.layouts)


def _best(
    group: Group,
    but: Schedule | None,
    region: CompiledRegion,
    backend: Backend,
    refused: Refused,
) -> Chosen | None:
    """Return the best schedule whose kernels are not refused; None: there is none but `but`."""
    assert region.simple is not None
    space = Space(top=MOST) if len(group.ops) > 1 else Space()
    ranking = backend.candidates(group, region.simple, space).candidates
    others = [candidate for candidate in ranking if candidate.schedule != but]
    turns = (others[start : start + MOST] for start in range(0, len(others), MOST))
    found = (_first(turn, group, region, backend, refused) for turn in turns)
    return next((chosen for chosen in found if chosen is not None), None)


def _first(
    candidates: Sequence[Candidate],
    group: Group,
    region: CompiledRegion,
    backend: Backend,
    refused: Refused,
) -> Chosen | None:
    """Return the first of some schedules whose kernels are not refused."""
    tried: list[Chosen] = []
    for candidate in candidates:
        moved = traffic_bytes(candidate.cost, backend.machine)
        choice = Choice(group, candidate.schedule, candidate.cost.seconds, moved)
        with suppress(NoGroupError, BurnishError):
            tried.append((choice, _emitted(choice, region, backend)))
    # all at once: they are built side by side, and one that hangs keeps no other waiting
    every = [(chosen, dict(_sources(region, chosen[1]))) for chosen in tried]
    out = refused({name: text for _, own in every for name, text in own.items()})
    return next((chosen for chosen, own in every if not out.keys() & own.keys()), None)


def _sources(region: CompiledRegion, kernels: Sequence[EmittedKernel]) -> list[tuple[str, str]]:
    """Return kernels as a plan will have them: what is built to see whether it can be is kept."""
    operators = {named(node): operator(node) for node in region.region.nodes}
    names = [canonical_name(each, [operators[node] for node in each.nodes]) for each in kernels]
    return [(name, each.named(name)) for name, each in zip(names, kernels, strict=True)]
