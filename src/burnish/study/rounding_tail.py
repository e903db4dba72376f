"""Whether what is beyond a tolerance is the tail of many roundings to 16 bits, and nothing else.

A tolerance is what the worst of many elements should keep; of a hundred thousand, one does not, now
and then. It is told from an error by the whole: that is as near as 16 bits can be.
"""

from __future__ import annotations

from collections.abc import Mapping

from burnish.closeness.tolerance import ARITHMETIC
from burnish.parity.report import TensorDiff, VerifyReport
from burnish.parity.tolerances import Tolerances

MOST: Mapping[str, float] = {"fp16": 2.0**-8, "bf16": 2.0**-5}
"""The error of a whole tensor, in its root mean square: of a few roundings, not of many."""
TIMES = 2.0
"""How far beyond what is allowed a tail may reach."""
_MANY = 1000
"""Elements of a tensor that has a tail."""


def is_tail(diff: TensorDiff) -> bool:
    """Return whether the worst of many elements is only a little off.

    What the whole is off by must be asked besides.
    """
    if diff.non_finite_mismatches or diff.elements < _MANY:
        return False
    return diff.severity <= TIMES


def tail_of(report: VerifyReport) -> str:
    """Return what a report found beyond its tolerances, as a sentence, if it may be only tails.

    Empty: there is nothing, or something else.
    """
    if report.passed or report.crash is not None:
        return ""
    off = [diff for one in report.samples for diff in one.all_diffs if not diff.passed]
    broken = any(one.problem or not one.diffs for one in report.samples)
    meant = any(not diff.passed for one in report.samples for diff in one.meant)
    if broken or meant or not off or not all(map(is_tail, off)):
        return ""
    worst = max(off, key=lambda diff: diff.severity)
    return (
        f"allowed twice the usual: {worst.name} has {worst.reason}, {worst.severity:.2f} times "
        "what is allowed: the tail of many roundings"
    )


def doubled(tolerances: Tolerances) -> Tolerances:
    """Return tolerances that allow a tail; what the user asked for stays."""
    if tolerances.arithmetic is None or tolerances.absolute is not None:
        return tolerances
    own = ARITHMETIC[tolerances.arithmetic]
    return Tolerances(
        tolerances.arithmetic, TIMES * own.absolute, TIMES * own.relative,
        tolerances.quantised, tolerances.by_tensor, tolerances.near_zero,
    )  # fmt: skip
