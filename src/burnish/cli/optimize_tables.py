"""What `burnish optimize` shows to people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from burnish.cli.output import Table
from burnish.core import units
from burnish.parity.verdict import verdict
from burnish.rewrite.result import Miss, RewriteReport
from burnish.study.check import CheckReport
from burnish.study.conversion import ConversionReport
from burnish.study.optimize import OptimizeReport


def tables(report: OptimizeReport) -> Iterator[Table | str]:
    """Yield what was done, what nearly was, and whether the result computes the same."""
    yield from rewrite_tables(report.rewrite)
    if report.check is not None and report.check.sites:
        yield from checked_lines(report.check)
    if report.conversion is not None:
        yield from conversion_lines(report.conversion)
    if report.parity is None:
        yield "not verified"
    elif report.parity.passed:
        yield from (f"note: {note}" for note in report.parity.notes)
        yield verdict(report.parity)
    if report.parity is None or report.parity.passed:
        yield f"written: {report.target}"


def checked_lines(report: CheckReport) -> Iterator[str]:
    """Yield how the fusions fared that were tried on their own."""
    tried = report.sites - len(report.unchecked)
    parts = units.count(report.distinct, "different part")
    took = units.seconds(report.duration_s)
    yield f"{tried} of {units.count(report.sites, 'fusion')} tried on {parts} in {took}"
    yield from (
        f"note: {one.rule} at {one.node} was not tried on its own: {one.reason}"
        for one in report.unchecked
    )


def conversion_lines(report: ConversionReport) -> Iterator[Table | str]:
    """Yield what was changed besides, and what stayed in f32."""
    yield from (f"axis {old} is now {new}" for old, new in report.axes.items())
    if report.i32_inputs:
        yield f"takes i32 in place of i64: {', '.join(report.i32_inputs)}"
    if report.half:
        rows = Counter((kept.op_type, kept.reason) for kept in report.kept)
        if rows:
            yield Table(
                f"computes in f16, but for {units.count(len(report.kept), 'node')}",
                ("operator", "nodes", "why it stays in f32"),
                [(op_type, f"{n:,}", reason) for (op_type, reason), n in rows.items()],
                right=frozenset({"nodes"}),
            )
        else:
            yield "computes in f16"
    yield from (f"note: {note}" for note in report.notes)


def rewrite_tables(report: RewriteReport) -> Iterator[Table | str]:
    """Yield what was done to the graph, and what nearly was."""
    before, after = units.count(report.nodes_before, "node"), report.nodes_after
    rows = [("fuse", rule, f"{count:,}") for rule, count in report.fusion_counts.items()]
    rows += [("clean up", step.step, f"{step.count:,}") for step in report.steps if step.count]
    title = f"{before} before, {after:,} after"
    if rows:
        yield Table(title, ("what", "rule or step", "count"), rows, right=frozenset({"count"}))
    else:
        yield f"{title}: nothing was found to rewrite"
    if report.misses:
        yield Table(
            f"{units.count(len(report.misses), 'place')} left alone that looked right",
            ("rule", "places", "why, for instance", "what would let it through"),
            [_miss_row(found) for found in _by_remedy(report).values()],
            right=frozenset({"places"}),
        )
    yield from (f"note: {note}" for note in report.notes)


def _by_remedy(report: RewriteReport) -> dict[tuple[str, str], list[Miss]]:
    found: dict[tuple[str, str], list[Miss]] = defaultdict(list)
    for miss in report.misses:
        found[miss.rule, miss.remedy].append(miss)
    return found


def _miss_row(found: list[Miss]) -> tuple[str, ...]:
    first = found[0]
    return first.rule, f"{len(found):,}", first.reason, first.remedy
