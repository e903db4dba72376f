"""Tables of what was done to the model, what was not, and whether it still computes the same."""

from __future__ import annotations

import math
from collections import defaultdict

from burnish.core import units
from burnish.parity.report import Sample, TensorDiff, VerifyReport
from burnish.report.table import Cell, Column, Table
from burnish.report.verdict import Tone
from burnish.rewrite.result import Fusion, Miss, RewriteReport


def fusion_table(rewrite: RewriteReport) -> Table:
    """Return one row per rule and new operator, with how many nodes it made superfluous."""
    sites: dict[tuple[str, str], list[Fusion]] = defaultdict(list)
    for fusion in rewrite.fusions:
        sites[fusion.rule, fusion.op_type].append(fusion)
    return Table(
        columns=(
            Column("rule"), Column("places", numeric=True), Column("new operator"),
            Column("nodes replaced", numeric=True), Column("for instance"),
        ),
        rows=tuple(
            (
                Cell(rule),
                Cell(f"{len(found):,}"),
                Cell(op_type, code=True),
                Cell(f"{sum(len(one.replaced) for one in found):,}"),
                Cell(found[0].node, code=True),
            )
            for (rule, op_type), found in sites.items()
        ),
    )  # fmt: skip


def miss_table(rewrite: RewriteReport) -> Table:
    """Return near misses by rule and remedy, each with the first place as an instance."""
    sites: dict[tuple[str, str], list[Miss]] = defaultdict(list)
    for miss in rewrite.misses:
        sites[miss.rule, miss.remedy].append(miss)
    return Table(
        columns=(
            Column("rule"), Column("places", numeric=True), Column("why not, for instance"),
            Column("what would let it through"),
        ),
        rows=tuple(
            (
                Cell(rule),
                Cell(f"{len(found):,}"),
                Cell(found[0].reason, found[0].node),
                Cell(remedy),
            )
            for (rule, remedy), found in sites.items()
        ),
    )  # fmt: skip


def clean_up_table(rewrite: RewriteReport) -> Table:
    """Return the clean-up steps that changed something."""
    steps = [step for step in rewrite.steps if step.count]
    return Table(
        columns=(Column("clean-up"), Column("changes", numeric=True)),
        rows=tuple((Cell(step.step), Cell(f"{step.count:,}")) for step in steps),
    )


def node_count_table(rewrite: RewriteReport) -> Table:
    """Return how many nodes of each operator there were and are, the largest change first."""
    before, after = rewrite.operators_before, rewrite.operators_after
    change = {op: after.get(op, 0) - before.get(op, 0) for op in {**before, **after}}
    order = sorted(change, key=lambda op: (-abs(change[op]), op))
    unchanged = sum(change[op] == 0 for op in order)
    rows = [
        (
            Cell(op),
            Cell(f"{before.get(op, 0):,}"),
            Cell(f"{after.get(op, 0):,}"),
            Cell(f"{change[op]:+,}".replace("-", "−")),
        )
        for op in order
        if change[op]
    ]
    return Table(
        columns=(
            Column("operator"), Column("before", numeric=True), Column("after", numeric=True),
            Column("change", numeric=True),
        ),
        rows=tuple(rows),
        remark=f"{units.count(unchanged, 'operator')} with the same count left out.",
    )  # fmt: skip


def parity_table(parity: VerifyReport) -> Table:
    """Return one row per tensor: the sample in which it is furthest from the reference."""
    worst: dict[str, tuple[Sample, TensorDiff]] = {}
    for sample in parity.samples:
        for diff in sample.diffs:
            known = worst.get(diff.name)
            if known is None or _badness(diff) > _badness(known[1]):
                worst[diff.name] = (sample, diff)
    problems = [("all", text) for text in parity.problems]
    problems += [(sample.title, sample.problem) for sample in parity.samples if sample.problem]
    return Table(
        columns=(
            Column("tensor"), Column("results"), Column("largest difference", numeric=True),
            Column("relative", numeric=True), Column("of what is allowed", numeric=True),
            Column("cosine", numeric=True), Column("top-1", numeric=True), Column("tolerance"),
        ),
        rows=(
            *(_problem_row(where, text) for where, text in problems),
            *(_parity_row(sample, diff) for sample, diff in worst.values()),
        ),
        remark=(
            f"{parity.candidate} on {parity.candidate_engine} against {parity.reference} on"
            f" {parity.reference_engine}; the worst of"
            f" {units.count(len(parity.samples), 'sample')} for each tensor."
        ),
    )  # fmt: skip


def _badness(diff: TensorDiff) -> tuple[bool, float]:
    return (not diff.passed, diff.severity)


def _problem_row(where: str, text: str) -> tuple[Cell, ...]:
    return (Cell(where), Cell("WRONG", text, Tone.BAD), *(Cell("–") for _ in range(6)))


def _parity_row(sample: Sample, diff: TensorDiff) -> tuple[Cell, ...]:
    allowed, why = "–", ""
    if diff.tolerance is not None:
        given = diff.tolerance
        allowed = f"{units.error(given.absolute)} + {units.error(given.relative)} × magnitude"
        why = given.reason
    verdict = (
        Cell("same", f"sample {sample.title}", Tone.GOOD)
        if diff.passed
        else Cell("WRONG", diff.reason, Tone.BAD)
    )
    top = "–" if diff.top1_agreement is None else units.share(diff.top1_agreement)
    return (
        Cell(diff.name, f"{diff.dtype}, {units.count(diff.elements, 'element')}", code=True),
        verdict,
        Cell(units.error(diff.max_abs)),
        Cell(units.error(diff.max_rel)),
        Cell(_of_allowed(diff.severity)),
        Cell(f"{diff.cosine:.6f}"),
        Cell(top),
        Cell(allowed, why),
    )


def _of_allowed(severity: float) -> str:
    if not math.isfinite(severity):
        return "∞"
    return units.share(severity) if severity < 10 else f"{severity:,.0f}×"
