"""What a comparison comes to, as a sentence."""

from __future__ import annotations

from burnish.core.units import count
from burnish.parity.report import RECORDED, VerifyReport


def verdict(report: VerifyReport) -> str:
    """Return in one line whether the candidate equals the reference, or how it differs."""
    candidate = f"{report.candidate} on {report.candidate_engine}"
    reference = reference_of(report)
    if report.problems:
        return f"{candidate} cannot stand for {reference}: {report.problems[0]}"
    refused = next((sample for sample in report.all_samples if sample.problem), None)
    if refused is not None:
        return f"{candidate} cannot run sample {refused.title}, {reference} can: {refused.problem}"
    worst, sample = report.worst, report.worst_sample
    if worst is None or sample is None:
        return f"nothing was compared between {candidate} and {reference}"
    where = f"{worst.name} in sample {sample.title}: {worst.reason}"
    if report.outcome == "differs":
        if worst in sample.meant:
            return f"{candidate} means something else than {reference}: {where}"
        return f"{candidate} differs from {reference}: {where}"
    if report.unshown:
        name, reason = next(iter(report.unshown.items()))
        return f"nothing was shown of {name} of {candidate}: {reason}"
    return f"{candidate} equals {reference}: {_amount(report)}"


def _amount(report: VerifyReport) -> str:
    """Return how much was compared, and in which ways."""
    tensors = sum(len(each.diffs) for each in report.samples)
    amount = f"{count(tensors, 'tensor')} in {count(len(report.samples), 'sample')}"
    searched = f", and {report.searched:,} inputs that might have shown a difference"
    outputs = {diff.name for sample in report.samples for diff in sample.diffs}
    if outputs <= set(report.proven):
        meaning = "; computed in the very same way"
    elif report.unjudged:
        meaning = f"; meaning was not judged apart from rounding: {report.unjudged}"
    else:
        meant = any(sample.meant for sample in report.samples)
        meaning = "; equal in real numbers, too" if meant else ""
    return f"{amount} within tolerance{searched if report.searched else ''}{meaning}"


def reference_of(report: VerifyReport) -> str:
    """Return what the candidate was compared with."""
    if report.reference_engine == RECORDED:
        return "what was recorded"
    reference = (report.reference, report.reference_engine)
    if reference == (report.candidate, report.candidate_engine):
        return f"{report.reference} as it is written"
    return " on ".join(reference)
