"""What `burnish optimize` shows to people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from burnish.cli.output import Table
from burnish.core import units
from burnish.parity.verdict import verdict
from burnish.rewrite.result import Miss, RewriteReport
from burnish.study.check import CheckReport
from burnish.study.optimize import OptimizeReport


def tables(report: OptimizeReport) -> Iterator[Table | str]:
    """Yield what was done, what nearly was, and whether the result computes the same."""
    yield from rewrite_tables(report.rewrite)
    if report.check is not None and report.check.sites:
        yield from checked_lines(report.check)
    if report.parity is None:
        yield "not verified"
    elif report.parity.passed:
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
