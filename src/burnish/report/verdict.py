"""The answer at a glance: is it the same, is it faster, and what was done."""

from __future__ import annotations

from dataclasses import dataclass, replace

from burnish.bench.measure import Comparison, Verdict
from burnish.core import units
from burnish.report.record import RunReport
from burnish.report.table import Tone

SAYS_NOTHING = 100.0
"""An interval whose ends are so many times apart is not shown: a block or two say no more."""


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """One answer: a few words, and the facts behind them."""

    tone: Tone
    question: str
    answer: str
    facts: str


def headline(report: RunReport) -> FinalAnswer:
    """Return the whole run in one sentence."""
    same, fast = same_results(report), speed(report)
    if same.tone is Tone.BAD:
        return FinalAnswer(Tone.BAD, report.model, f"do not use it: {same.answer}", same.facts)
    return FinalAnswer(fast.tone, report.model, f"{fast.answer}, {same.answer}", fast.facts)


def findings(report: RunReport) -> tuple[FinalAnswer, ...]:
    """Return the answers to the questions that everybody asks; no speed without same results."""
    fast, same = speed(report), same_results(report)
    if same.tone is Tone.BAD:
        return (same, replace(fast, tone=Tone.PLAIN), work(report))
    return (fast, same, *fastest(report), work(report))


def same_results(report: RunReport) -> FinalAnswer:
    """Return whether the optimised model computes what the original does."""
    question = "Same results?"
    parity, worst = report.parity, report.parity.worst
    if not parity.passed:
        reason = worst.reason if worst is not None and not worst.passed else ""
        problems = [*parity.problems, *(s.problem for s in parity.samples if s.problem), reason]
        facts = next((text for text in problems if text), "nothing was compared")
        return FinalAnswer(Tone.BAD, question, "the results differ", facts)
    facts = f"{units.count(len(parity.samples), 'sample')} compared"
    if (run := parity.worst_run) is not None:
        facts += (
            f"; worst tensor {run.name}: {units.share(run.severity)} of the allowed error"
            f" (largest difference {units.error(run.max_abs)})"
        )
    return FinalAnswer(Tone.GOOD, question, "same results", facts)


def speed(report: RunReport) -> FinalAnswer:
    """Return whether the optimised model is faster than the original on the same engine."""
    question = "Faster?"
    comparison = like_for_like(report)
    if comparison is None:
        return FinalAnswer(Tone.UNSURE, question, "speed not compared", _why_not_compared(report))
    engine = report.bench.measurement(comparison.candidate).engine
    if comparison.verdict is Verdict.NOT_ENOUGH or comparison.ratio is None:
        return FinalAnswer(
            Tone.UNSURE,
            question,
            f"not enough data to compare speeds on {engine}",
            comparison.reason,
        )
    facts = (
        f"{interval(comparison)} with {100 * comparison.confidence:.3g} % confidence,"
        f" {units.count(len(comparison.round_ratios), 'round')} of fresh processes"
    )
    match comparison.verdict:
        case Verdict.FASTER:
            answer, tone = f"{units.ratio(comparison.ratio)} faster on {engine}", Tone.GOOD
        case Verdict.SLOWER:
            answer = f"slower on {engine}: {units.ratio(comparison.ratio)} the original's speed"
            tone = Tone.BAD
        case _:
            answer, tone = f"no difference in speed shown on {engine}", Tone.UNSURE
            if comparison.minimum_detectable_effect is not None:
                hidden = units.share(comparison.minimum_detectable_effect)
                facts += f"; {hidden} would have been seen"
    return FinalAnswer(tone, question, answer, facts)


def fastest(report: RunReport) -> tuple[FinalAnswer, ...]:
    """Return which subject with the same results is fastest, unless that was said already."""
    bench, told = report.bench, like_for_like(report)
    proven = [
        one
        for one in bench.comparisons
        if one.verdict is Verdict.FASTER
        and one.ratio is not None
        and (mark := bench.parity.get(one.candidate)) is not None
        and mark.passed
    ]
    best = max(proven, key=lambda one: one.ratio or 0.0, default=None)
    if best is None or best.ratio is None or best is told:
        return ()
    engine = bench.measurement(best.candidate).engine
    facts = f"{best.candidate}, {interval(best)}, against {bench.baseline}"
    answer = f"{units.ratio(best.ratio)} on {engine}"
    return (FinalAnswer(Tone.GOOD, "Fastest here?", answer, facts),)


def work(report: RunReport) -> FinalAnswer:
    """Return how much was rewritten."""
    rewrite = report.rewrite
    changed = bool(rewrite.fusions) or any(step.count for step in rewrite.steps)
    answer = f"{rewrite.nodes_before:,} → {units.count(rewrite.nodes_after, 'node')}"
    fused = units.count(len(rewrite.fusions), "fusion")
    missed = f"{len(rewrite.misses):,} near {'miss' if len(rewrite.misses) == 1 else 'misses'}"
    tone = Tone.PLAIN if changed else Tone.UNSURE
    facts = f"{fused}, {missed}" if changed else f"nothing was found to rewrite; {missed}"
    return FinalAnswer(tone, "What was done?", answer, facts)


def _why_not_compared(report: RunReport) -> str:
    measured = [(one.model_key, one.engine) for one in report.bench.measurements]
    if len(set(measured)) < len(measured):
        return "nothing was rewritten: both files hold the same model"
    return "only one model was measured"


def like_for_like(report: RunReport) -> Comparison | None:
    """Return the comparison with another model on the baseline's engine; else on any engine."""
    bench = report.bench
    before = bench.measurement(bench.baseline)
    others = [
        (bench.measurement(one.candidate).engine != before.engine, one)
        for one in bench.comparisons
        if bench.measurement(one.candidate).model_key != before.model_key
    ]
    return min(others, key=lambda pair: pair[0], default=(True, None))[1]


def interval(comparison: Comparison) -> str:
    """Return the range of a speed-up: `1.38× to 1.49×`; of a wide one, what a verdict rests on."""
    low, high = comparison.low, comparison.high
    if low is None or high is None:
        return "no interval"
    if high > SAYS_NOTHING * low:
        if low > 1:
            return f"{units.ratio(low)} or more"
        return f"{units.ratio(high)} or less" if high < 1 else "no interval"
    return f"{units.ratio(low)} to {units.ratio(high)}"
