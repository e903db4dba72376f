"""How far a model is to be cut: a budget of operations or of seconds, known to be reachable."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.core import units
from burnish.core.errors import UsageError
from burnish.core.progress import Progress
from burnish.prune.choose import Cost, smallest
from burnish.study.prune_cut import Prunable
from burnish.study.prune_inputs import Inputs
from burnish.study.prune_latency import LatencyTable, latency_table
from burnish.study.requests.pruning import PruneCommand

_HALF = "keep half of the operations: --keep 0.5"


@dataclass(frozen=True, slots=True)
class Goal:
    """What an inference may cost, and how that is told from what is left."""

    cost: Cost
    target: float
    table: LatencyTable | None = None
    """The latencies that the costs are from; None: they are operations."""


def check(asked: PruneCommand) -> None:
    """Raise unless exactly one goal was given, and it makes sense."""
    goals = {
        "--keep": asked.keep,
        "--target-speedup": asked.target_speedup,
        "--target-latency": asked.target_latency,
        "--max-error": asked.max_error,
    }
    given = [name for name, value in goals.items() if value is not None]
    if asked.method != "structured":
        _check_masks(asked, given)
        return
    if not given:
        raise UsageError("how much is to be cut was not said", hint=_HALF)
    if len(given) > 1:
        raise UsageError(
            f"{' and '.join(given)} are {len(given)} goals, and one is taken",
            hint=f"leave out {given[-1]}",
        )
    if asked.keep is not None and not 0 < asked.keep < 1:
        raise UsageError(f"--keep {asked.keep:g} is not a share between 0 and 1", hint=_HALF)
    if asked.target_speedup is not None and not asked.target_speedup > 1:
        raise UsageError(
            f"--target-speedup {asked.target_speedup:g} is not faster than it is now",
            hint="write for instance --target-speedup 1.5",
        )
    if asked.max_error is not None and not asked.max_error > 0:
        raise UsageError(
            f"--max-error {asked.max_error:g} leaves nothing to cut",
            hint="write for instance --max-error 0.1",
        )


def _check_masks(asked: PruneCommand, given: list[str]) -> None:
    """Raise if masks are asked for what they cannot do, or not told how many zeros to make."""
    beyond = [name for name in given if name != "--keep"]
    if beyond:
        raise UsageError(
            f"--method {asked.method} sets weights to zero, which makes nothing smaller or faster: "
            f"{beyond[0]} is for --method structured",
            hint=f"leave out --method {asked.method}",
        )
    if asked.method == "2:4" and asked.keep is not None:
        raise UsageError("--method 2:4 keeps half of the weights", hint="leave out --keep")
    if asked.method != "2:4" and (asked.keep is None or not 0 < asked.keep < 1):
        raise UsageError(
            f"how many weights --method {asked.method} is to keep was not said, as a share between "
            "0 and 1",
            hint="keep half of the weights: --keep 0.5",
        )


def goal_of(one: Prunable, asked: PruneCommand, inputs: Inputs, progress: Progress) -> Goal:
    """Return the goal of a request; it is an error if even the smallest sizes do not meet it."""
    if asked.target_speedup is None and asked.target_latency is None:
        return _operations(one, asked.keep or 0.0)
    table = latency_table(one, inputs.calibrating[0], threads=asked.threads, progress=progress)
    if asked.target_speedup is not None:
        target = table.whole_s / asked.target_speedup
    else:
        target = asked.target_latency or 0.0
    least = table.seconds(smallest(one.found.axes))
    if least > target:
        most = table.whole_s / least
        raise UsageError(
            f"{one.model.label} takes {units.seconds(table.whole_s)} here, and with all cut that "
            f"can be, {units.seconds(least)} by the table of latencies: "
            f"{units.seconds(target)} cannot be reached",
            hint=f"ask for less: --target-speedup {max(1.01, 0.9 * most):.2f}",
        )
    return Goal(table.seconds, target, table)


def _operations(one: Prunable, share: float) -> Goal:
    whole = one.work.flops({})
    least = one.work.flops(smallest(one.found.axes)) / whole
    if least > share > 0:
        raise UsageError(
            f"{one.model.label} cannot be cut to {share:.0%} of its operations: {least:.0%} are "
            "in what must stay, or in the last units of what can be cut",
            hint=f"keep more: --keep {min(least + 0.05, 0.99):.2f}",
        )
    return Goal(one.work.flops, share * whole)
