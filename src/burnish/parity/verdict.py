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
    refused = next((sample for sample in report.samples if sample.problem), None)
    if refused is not None:
        return f"{candidate} cannot run sample {refused.title}, {reference} can: {refused.problem}"
    worst, sample = report.worst, report.worst_sample
    if worst is None or sample is None:
        return f"nothing was compared between {candidate} and {reference}"
    if not report.passed:
        where = f"{worst.name} in sample {sample.title}"
        return f"{candidate} differs from {reference}: {where}: {worst.reason}"
    tensors = sum(len(each.diffs) for each in report.samples)
    amount = f"{count(tensors, 'tensor')} in {count(len(report.samples), 'sample')}"
    return f"{candidate} equals {reference}: {amount} within tolerance"


def reference_of(report: VerifyReport) -> str:
    """Return what the candidate was compared with."""
    if report.reference_engine == RECORDED:
        return "what was recorded"
    reference = (report.reference, report.reference_engine)
    if reference == (report.candidate, report.candidate_engine):
        return f"{report.reference} as it is written"
    return " on ".join(reference)
