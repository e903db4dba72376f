"""Whether a benchmark may be trusted as a whole."""

from __future__ import annotations

import shlex

from burnish.bench.measure import BenchReport
from burnish.core.errors import CheckFailedError


def require_sound(report: BenchReport, *, chosen: bool = True) -> None:
    """Raise if a subject computed something else than the baseline, or could not be measured.

    Where nobody has `chosen` the engines, another engine than the baseline's that cannot run a
    model has a row that says so, and fails nothing.
    """
    for subject in report.wrong:
        one = report.measurement(subject)
        files = shlex.join([report.measurement(report.baseline).file, one.file])
        raise CheckFailedError(
            f"{subject} is wrong: {report.parity[subject].note}",
            hint="find the node where it parts: "
            f"burnish verify {files} --engine {one.engine} --bisect",
        )
    own = {one.engine for one in report.measurements if one.subject == report.baseline}
    for one in report.measurements:
        if one.failure is not None and (chosen or one.engine in own):
            untried = one.status == "no time"
            raise CheckFailedError(
                f"{one.subject} could not be measured: {one.failure}",
                hint="give it more time: --budget 5m"
                if untried
                else f"see whether the engine works: burnish doctor --engine {one.engine}",
            )
