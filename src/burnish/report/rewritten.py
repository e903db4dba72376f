"""Tables of what was done to the model, what was not, and whether it still computes the same."""

from __future__ import annotations

import math
from collections import defaultdict

from burnish.core import units
from burnish.parity.report import JudgedSample, TensorDiff, VerifyReport
from burnish.parity.verdict import reference_of
from burnish.report.table import NONE, Cell, Shown, Table, Tone, table
from burnish.rewrite.result import Fusion, Miss, RewriteReport

_PARITY = (
    "tensor", "results", "largest difference", "relative", "of what is allowed", "cosine", "top-1",
    "meaning", "tolerance",
)  # fmt: skip
_ROWS = 24
"""More tensors than these are cut to those that differ, or else to the worst."""


def rewrite_lines(rewrite: RewriteReport) -> Shown:
    """Yield what was done to a graph, and what nearly was."""
    title = f"{units.count(rewrite.nodes_before, 'node')} before, {rewrite.nodes_after:,} after"
    done = [one for one in (fusion_table(rewrite), clean_up_table(rewrite)) if one.rows]
    yield title if done else f"{title}: nothing was found to rewrite"
    yield from done
    if rewrite.misses:
        yield miss_table(rewrite)
    yield from (f"note: {note}" for note in rewrite.notes)


def fusion_table(rewrite: RewriteReport) -> Table:
    """Return one row per rule and new operator, with how many nodes it made superfluous."""
    sites: dict[tuple[str, str], list[Fusion]] = defaultdict(list)
    for fusion in rewrite.fusions:
        sites[fusion.rule, fusion.op_type].append(fusion)
    return table(
        "fused",
        ("rule", "places", "new operator", "nodes replaced", "for instance"),
        [
            (
                rule,
                f"{len(found):,}",
                Cell(op_type, code=True),
                f"{sum(len(one.replaced) for one in found):,}",
                Cell(found[0].node, code=True),
            )
            for (rule, op_type), found in sites.items()
        ],
        numeric=("places", "nodes replaced"),
    )


def miss_table(rewrite: RewriteReport) -> Table:
    """Return near misses by rule and remedy, each with the first place as an instance."""
    sites: dict[tuple[str, str], list[Miss]] = defaultdict(list)
    for miss in rewrite.misses:
        sites[miss.rule, miss.remedy].append(miss)
    return table(
        f"{units.count(len(rewrite.misses), 'place')} left alone that looked right",
        ("rule", "places", "why not, for instance", "what would let it through"),
        [
            (rule, f"{len(found):,}", Cell(found[0].reason, found[0].node), remedy)
            for (rule, remedy), found in sites.items()
        ],
        numeric=("places",),
    )


def clean_up_table(rewrite: RewriteReport) -> Table:
    """Return the clean-up steps that changed something."""
    rows = [(step.step, f"{step.count:,}") for step in rewrite.steps if step.count]
    return table("cleaned up", ("clean-up", "changes"), rows, numeric=("changes",))


def node_count_table(rewrite: RewriteReport) -> Table:
    """Return how many nodes of each operator there were and are, the largest change first."""
    before, after = rewrite.operators_before, rewrite.operators_after
    change = {op: after.get(op, 0) - before.get(op, 0) for op in {**before, **after}}
    order = sorted(change, key=lambda op: (-abs(change[op]), op))
    columns = ("operator", "before", "after", "change")
    return table(
        "",
        columns,
        [
            (
                op,
                f"{before.get(op, 0):,}",
                f"{after.get(op, 0):,}",
                f"{change[op]:+,}".replace("-", "−"),
            )
            for op in order
            if change[op]
        ],
        numeric=columns[1:],
        remark=f"{units.count(sum(not change[op] for op in order), 'operator')}"
        " with the same count left out.",
    )


def parity_table(parity: VerifyReport) -> Table:
    """Return one row per tensor: the sample in which it is furthest from the reference."""
    worst: dict[str, tuple[JudgedSample, TensorDiff]] = {}
    for sample in parity.all_samples:
        for diff in sample.diffs:
            known = worst.get(diff.name)
            if known is None or _badness(sample, diff) > _badness(*known):
                worst[diff.name] = (sample, diff)
    problems = [("all", text) for text in parity.problems]
    problems += [(sample.title, sample.problem) for sample in parity.all_samples if sample.problem]
    kept = list(worst.values())
    if len(kept) > _ROWS:
        kept.sort(key=lambda pair: _badness(*pair), reverse=True)
        kept = [pair for pair in kept if _badness(*pair)[0]][:_ROWS] or kept[:1]
    left = units.count(len(worst) - len(kept), "better tensor")
    return table(
        "",
        _PARITY,
        (
            *(_problem_row(where, text) for where, text in problems),
            *(_parity_row(*pair) for pair in kept),
        ),
        numeric=_PARITY[2:8],
        remark=f"{parity.candidate} on {parity.candidate_engine} against {reference_of(parity)};"
        f" the worst of {units.count(len(parity.all_samples), 'sample')} for each tensor"
        f"{f'; {left} left out' if len(kept) < len(worst) else ''}.",
    )


def _problem_row(where: str, text: str) -> tuple[Cell, ...]:
    return (Cell(where), Cell("WRONG", text, Tone.BAD), *[NONE] * (len(_PARITY) - 2))


def _meant(sample: JudgedSample, diff: TensorDiff) -> list[TensorDiff]:
    """Return how far apart the two are in real numbers, where that was judged."""
    return [one for one in sample.meant if one.name == diff.name]


def _badness(sample: JudgedSample, diff: TensorDiff) -> tuple[bool, float]:
    wrong = [one for one in (diff, *_meant(sample, diff)) if not one.passed]
    return bool(wrong), diff.severity


def _parity_row(sample: JudgedSample, diff: TensorDiff) -> tuple[Cell, ...]:
    allowed, why = "–", ""
    if diff.tolerance is not None:
        given = diff.tolerance
        allowed = f"{units.error(given.absolute)} + {units.error(given.relative)} × magnitude"
        why = given.reason
    meant = _meant(sample, diff)
    wrong = [one for one in (diff, *meant) if not one.passed]
    verdict = Cell("same", f"sample {sample.title}", Tone.GOOD)
    if wrong:
        verdict = Cell("WRONG", wrong[0].reason, Tone.BAD)
    top = "–" if diff.top1_agreement is None else units.share(diff.top1_agreement)
    return (
        Cell(diff.name, f"{diff.dtype}, {units.count(diff.elements, 'element')}", code=True),
        verdict,
        Cell(units.error(diff.max_abs)),
        Cell(units.error(diff.max_rel)),
        Cell(_of_allowed(diff.severity)),
        Cell(f"{diff.cosine:.6f}"),
        Cell(top),
        Cell(units.error(meant[0].max_rel)) if meant else NONE,
        Cell(allowed, why),
    )


def _of_allowed(severity: float) -> str:
    if not math.isfinite(severity):
        return "∞"
    return units.share(severity) if severity < 10 else f"{severity:,.0f}×"
