"""Measurements that come from a file: whether somebody can have measured them, and alike."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from burnish.bench.compare import judged
from burnish.bench.evidence import side_by_side
from burnish.bench.measure import BenchReport, Comparison, Measurement, Verdict
from burnish.core.errors import ModelError

SHORTEST_S, LONGEST_S = 1e-9, 1e7
"""No call is shorter than a few cycles of a processor, and nobody waits for months."""


def require_sound(report: BenchReport, place: Path) -> BenchReport:
    """Return a report; raise where it holds what nobody can have measured."""
    seen: set[tuple[object, ...]] = set()
    for one in report.measurements:
        found = finding(one)
        key = (one.subject, one.engine, tuple(sorted(one.bindings.items())), repr(one.options))
        if found is None and key in seen:
            found = "is there twice"
        seen.add(key)
        if found is not None:
            raise _refused(place, one.subject, found)
    names = {one.subject for one in report.measurements}
    for subject, said in _claims(report, names):
        raise _refused(place, subject, said)
    return report


def _refused(place: Path, subject: str, found: str) -> ModelError:
    return ModelError(f"{place}: {subject} {found}", hint="measure it again: burnish bench -o FILE")


def finding(one: Measurement) -> str | None:
    """Return why nobody can have measured this; None: somebody may have."""
    return next((found for check in _CHECKS if (found := check(one)) is not None), None)


def _facts(one: Measurement) -> str | None:
    """Look at what stands beside the samples."""
    if one.items_per_call < 1:
        return f"has calls of {one.items_per_call} inputs"
    odd = [f"{name}={size}" for name, size in one.bindings.items() if size < 0]
    if odd:
        return f"has a size that nothing has: {odd[0]}"
    wanted = one.options.get("threads")
    ran = one.placement.threads if one.placement else None
    # engines may take fewer than they were asked for: no more than there are cores
    more = isinstance(wanted, int) and wanted > 0 and ran is not None and ran > wanted
    if more and not one.options.get("allow_fallback"):
        return f"was asked for {wanted} threads and ran on {ran}"
    if one.status == "ok" and one.failure is None and not one.blocks:
        return "is said to be well and has no calls"
    return None


def _starts(one: Measurement) -> str | None:
    """Look at what its processes took to start."""
    for launch in one.launches:
        for seconds_s in (launch.load_s, launch.first_call_s, launch.warmup_s):
            if not 0 <= seconds_s <= LONGEST_S:
                return f"has a process that took {seconds_s:g} s to start"
    started = {launch.round for launch in one.launches}
    unstarted = [number for number in one.rounds if number not in started]
    if unstarted:
        return f"has calls of a process that never started, in round {unstarted[0]}"
    return None


def _samples(one: Measurement) -> str | None:
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


_CHECKS = (_facts, _samples, _starts)


def _claims(report: BenchReport, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what a report says of its measurements that they do not."""
    if report.baseline not in names:
        yield report.baseline, "is the baseline, and was not measured"
    for name, mark in report.parity.items():
        if name not in names:
            yield name, "was judged, and not measured"
        elif not mark.passed and report.measurement(name).status == "ok":
            yield name, "is said to be well, and its results to be wrong"
    for one in report.comparisons:
        if one.baseline not in names or one.candidate not in names:
            yield one.candidate, f"is compared with {one.baseline}, and not both were measured"
        elif not _follows(report, one):
            yield one.candidate, f"is said to be {one.verdict.value}, which its rounds do not say"


def _follows(report: BenchReport, one: Comparison) -> bool:
    """Return whether a comparison is what its rounds come to; to be unsure is always allowed."""
    if any(not 0 < ratio < math.inf for ratio in one.round_ratios):
        return False
    # whether results were right, rounds do not say; and the baseline may have failed since, where
    # rounds of an earlier session were kept
    found = judged(
        replace(report.measurement(one.baseline), status="ok", failure=None),
        replace(report.measurement(one.candidate), status="ok"),
        side_by_side(tuple(map(math.log, one.round_ratios)), one.group),
        1 - one.confidence,
    )
    figures = zip((one.ratio, one.low, one.high), (found.ratio, found.low, found.high), strict=True)
    alike = all(
        said == told or (said and told and math.isclose(said, told, rel_tol=1e-6))
        for said, told in figures
    )
    return alike and one.verdict in (found.verdict, Verdict.NOT_ENOUGH)


def unlike(before: BenchReport, after: BenchReport) -> Iterator[str]:
    """Yield what two reports as a whole do not have in common, and what they found wrong."""
    if before.inputs_key and after.inputs_key and before.inputs_key != after.inputs_key:
        yield "they were fed other inputs"
    for when, report in (("before", before), ("after", after)):
        for name, found in report.parity.items():
            if not found.passed:
                yield f"{name} did not compute what it should {when}"


_ASKED = ("graph_level", "mode", "cuda_graph", "allow_fallback")
"""What is asked of an engine, and shows neither in what it computes in nor in its threads."""


def differing(one: Measurement, other: Measurement) -> Iterator[str]:
    """Yield in what two measurements that are compared differ besides their times."""
    if dict(one.bindings) != dict(other.bindings):
        yield f"{other.subject}: {_sizes(one)} before, {_sizes(other)} after"
    placed = [(each.placement.precision, each.placement.threads) if each.placement else None
              for each in (one, other)]  # fmt: skip
    if None not in placed and placed[0] != placed[1]:
        said = [f"{kind} on {threads} threads" for kind, threads in filter(None, placed)]
        yield f"{other.subject}: computed in {said[0]} before, {said[1]} after"
    known = one.options.keys() & other.options.keys()
    for name in (each for each in _ASKED if each in known):
        asked = [str(each.options[name]) or "as usual" for each in (one, other)]
        if asked[0] != asked[1]:
            yield f"{other.subject}: {name} {asked[0]} before, {asked[1]} after"
    if one.cut_off != other.cut_off:
        when = "before" if one.cut_off else "after"
        yield f"{other.subject}: its group {when} was ended early, so that it has fewer rounds"


def _sizes(one: Measurement) -> str:
    return ",".join(f"{name}={size}" for name, size in one.bindings.items()) or "no sizes"
