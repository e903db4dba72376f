"""What `burnish explain` shows to people."""

from __future__ import annotations

from collections.abc import Iterator

from burnish.cli.optimize_tables import checked_lines
from burnish.cli.output import Table
from burnish.core import units
from burnish.study.explain import ExplainReport

_SHOWN = 3


def tables(report: ExplainReport) -> Iterator[Table | str]:
    """Yield what is fused and where, what nearly is, and what the rest is."""
    rewrite = report.rewrite
    fusions = units.count(len(rewrite.fusions), "fusion")
    before = units.count(rewrite.nodes_before, "node")
    yield f"{report.model}: {before} become {rewrite.nodes_after:,} with {fusions}"
    if rewrite.fusions:
        yield Table(
            "fused",
            ("rule", "operator", "at", "replaces"),
            [(f.rule, f.op_type, f.node, _few(f.replaced)) for f in rewrite.fusions],
        )
    if rewrite.misses:
        yield Table(
            "left alone, though it looked right",
            ("rule", "at", "what stood in the way", "what would let it through"),
            [(miss.rule, miss.node, miss.reason, miss.remedy) for miss in rewrite.misses],
        )
    if report.leftovers:
        yield Table(
            "left alone, because it is something else",
            ("operator", "what it is", "what would let it through"),
            [(left.op_type, left.reason, left.remedy) for left in report.leftovers],
        )
    yield from (f"note: {note}" for note in rewrite.notes)
    if report.check is not None and report.check.sites:
        yield from checked_lines(report.check)
    yield f"do it: {report.command}"


def _few(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_SHOWN])
    rest = len(names) - _SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
