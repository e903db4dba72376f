"""What to do with the findings: each comes with the command that acts on it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from burnish.analyze.breakdown import RowKind
from burnish.bench.measure import Verdict
from burnish.core import units
from burnish.report.record import RunReport
from burnish.report.verdict import like_for_like


@dataclass(frozen=True, slots=True)
class NextStep:
    """A reason, and a command to paste."""

    why: str
    command: str


def next_steps(report: RunReport) -> tuple[NextStep, ...]:
    """Return what a reader can do now, the most urgent first."""
    return (
        *_if_wrong(report),
        *_if_unsure(report),
        *_smaller(report),
        *_hot_spot(report),
        *_again(report),
    )


def _if_wrong(report: RunReport) -> tuple[NextStep, ...]:
    if report.parity.passed:
        return ()
    culprit = report.parity.bisection.culprit if report.parity.bisection else None
    if culprit is not None and culprit.rule and report.command:
        why = f"Leave out {culprit.rule}, the rule that made {culprit.node}"
        return (NextStep(why, f"{report.command} --disable {culprit.rule}"),)
    command = shlex.join(["burnish", "verify", report.original, report.optimized, "--bisect"])
    return (NextStep("Find the first node where the two models part", command),)


def _if_unsure(report: RunReport) -> tuple[NextStep, ...]:
    comparison = like_for_like(report)
    if comparison is None or comparison.verdict in (Verdict.FASTER, Verdict.SLOWER):
        return ()
    models = ["burnish", "bench", report.original, report.optimized]
    words = shlex.split(report.bench.rerun) or models
    longer = {"--rounds": "15", "--budget": "300"}
    kept = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if word not in longer and before not in longer
    ]
    command = shlex.join([*kept, *(word for option in longer.items() for word in option)])
    return (NextStep("Measure longer, to tell smaller differences", command),)


def _smaller(report: RunReport) -> tuple[NextStep, ...]:
    """Return what makes another function of the model, with what that is predicted to give."""
    return tuple(
        NextStep(f"{units.ratio(one.gain or 1.0)} predicted: {one.what}", one.command)
        for one in report.smaller
    )


def _hot_spot(report: RunReport) -> tuple[NextStep, ...]:
    if not report.profile:
        command = shlex.join(["burnish", "profile", report.original, report.optimized])
        return (NextStep("See where the time goes", command),)
    last = report.profile[-1]
    operators = [row for row in last.by_operator.rows if row.kind is RowKind.OPERATOR]
    if not operators:
        return ()
    share = units.share(last.by_operator.share(operators[0]))
    command = shlex.join(
        ["burnish", "profile", report.optimized, "--engine", last.engine, "--by", "node"]
    )
    return (NextStep(f"{operators[0].label} takes {share} of a run: see which nodes", command),)


def _again(report: RunReport) -> tuple[NextStep, ...]:
    again = [NextStep("Do all of this again", report.command)] if report.command else []
    if report.bench.rerun:
        again.append(NextStep("Measure only", report.bench.rerun))
    return tuple(again)
