"""Whether a benchmark may be trusted as a whole."""

from __future__ import annotations

from burnish.bench.measure import BenchReport
from burnish.core.errors import CheckFailedError


def require_sound(report: BenchReport) -> None:
    """Raise if a subject computed something else than the baseline, or could not be measured."""
    for subject in report.wrong:
        model, _, engine = subject.rpartition("@")
        baseline = report.baseline.rpartition("@")[0]
        raise CheckFailedError(
            f"{subject} is wrong: {report.parity[subject].note}",
            hint="find the node where it parts: "
            f"burnish verify {baseline} {model} --engine {engine} --bisect",
        )
    for one in report.measurements:
        if one.failure is not None:
            raise CheckFailedError(
                f"{one.subject} could not be measured: {one.failure}",
                hint=f"see whether the engine works: burnish doctor --engine {one.engine}",
            )
