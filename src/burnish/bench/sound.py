"""Measurements that come from a file: whether somebody can have measured them, and alike."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from burnish.bench.measure import BenchReport, Measurement
from burnish.core.errors import ModelError

SHORTEST_S, LONGEST_S = 1e-9, 1e7
"""No call is shorter than a few cycles of a processor, and nobody waits for months."""


def require_sound(report: BenchReport, place: Path) -> BenchReport:
    """Return a report; raise where it holds what nobody can have measured."""
    seen: set[tuple[object, ...]] = set()
    for one in report.measurements:
        finding = _finding(one)
        key = (one.subject, one.engine, tuple(sorted(one.bindings.items())), repr(one.options))
        if finding is None and key in seen:
            finding = "is there twice"
        seen.add(key)
        if finding is not None:
            raise ModelError(
                f"{place}: {one.subject} {finding}", hint="measure it again: burnish bench -o FILE"
            )
    return report


def _finding(one: Measurement) -> str | None:
    places = [(block.round, block.cycle) for block in one.blocks]
    if len(set(places)) < len(places):
        return "has two blocks of calls at the same time"
    for block in one.blocks:
        if not block.samples_s:
            return f"has no call in a block of round {block.round}"
        for sample in block.samples_s:
            if not (math.isfinite(sample) and SHORTEST_S <= sample <= LONGEST_S):
                return f"has a call of {sample:g} s, which no call takes"
    return None


def unlike(before: BenchReport, after: BenchReport) -> Iterator[str]:
    """Yield what two reports as a whole do not have in common, and what they found wrong."""
    if before.inputs_key and after.inputs_key and before.inputs_key != after.inputs_key:
        yield "they were fed other inputs"
    for when, report in (("before", before), ("after", after)):
        for name, found in report.parity.items():
            if not found.passed:
                yield f"{name} did not compute what it should {when}"


def differing(one: Measurement, other: Measurement) -> Iterator[str]:
    """Yield in what two measurements that are compared differ besides their times."""
    if dict(one.bindings) != dict(other.bindings):
        yield f"{other.subject}: {_sizes(one)} before, {_sizes(other)} after"
    placed = [(each.placement.precision, each.placement.threads) if each.placement else None
              for each in (one, other)]  # fmt: skip
    if None not in placed and placed[0] != placed[1]:
        said = [f"{kind} on {threads} threads" for kind, threads in filter(None, placed)]
        yield f"{other.subject}: computed in {said[0]} before, {said[1]} after"


def _sizes(one: Measurement) -> str:
    return ",".join(f"{name}={size}" for name, size in one.bindings.items()) or "no sizes"
