"""Deciding for one group by what was measured: one kernel, two groups, or ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from burnish.codegen.tune.search import KnownGroup
from burnish.codegen.tune.trial import Trial, is_faster
from burnish.core.units import seconds as seconds_text
from burnish.tile.group import Group

RIVAL = 1.25
"""What takes at most this many times as long as the winner may still win when searched further."""

HANDOVER = 1.15
"""How many times as long a kernel may take before ONNX Runtime is worth handing over to."""


APART = 1.1
"""How many times as long a kernel may take as two that do the same. Timed alone, the second finds
what the first would have written in its caches; in a plan another thread may have written it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How a group is to be run."""

    way: Literal["kernel", "onnxruntime", "two groups", "not measured"]
    seconds: float | None = None
    reason: str = ""
    """Why it is an ONNX Runtime part."""
    rivals: tuple[Group, ...] = ()
    """Groups that would be kernels if something that is nearly as fast were chosen."""


def alone(group: Group, found: KnownGroup) -> Decision:
    """Return how to run a group as it is: a kernel, unless ONNX Runtime is faster for sure.

    A part costs a plan more than its own time: its threads take over from ours and back.
    """
    own, ort = found.tuned.best, found.ort
    if ort is not None and ort.seconds is not None:
        if own is None or own.seconds is None or _wins(ort, own):
            return _ort(group, own, ort, found)
        return Decision("kernel", own.seconds)
    if own is not None:
        return Decision("kernel", own.seconds)
    failures = [trial.failure for trial in found.tuned.trials if trial.failure]
    if failures:
        return Decision("onnxruntime", None, f"no kernel for it works: {failures[0]}")
    return Decision("not measured")


def decide(
    group: Group,
    found: Callable[[Group], KnownGroup],
    halves: Callable[[Group], tuple[Group, ...]],
    start_s: float = 0.0,
) -> Decision:
    """Return how to run a group: whole, or cut in two where that is faster.

    `halves` gives nothing for a group that cannot be cut; starting one kernel more takes `start_s`.
    """
    whole = alone(group, found(group))
    if whole.way == "not measured" or not (parts := halves(group)):
        return whole
    if whole.seconds is None:
        # nothing runs it as a whole: smaller groups may still be kernels
        ways = [decide(part, found, halves, start_s) for part in parts]
        if all(each.way in ("onnxruntime", "not measured") for each in ways):
            return whole
        return Decision("two groups", _sum([each.seconds for each in ways]))
    sums = _sum([alone(part, found(part)).seconds for part in parts])
    if sums is None:
        return whole
    sums += start_s
    if whole.seconds <= APART * sums:
        rivals = parts if sums <= RIVAL * whole.seconds else ()
        return replace(whole, rivals=(*whole.rivals, *rivals))
    seconds = _sum([decide(part, found, halves, start_s).seconds for part in parts])
    is_near = whole.seconds <= RIVAL * sums
    return Decision("two groups", seconds, rivals=(group,) if is_near else ())


def _wins(ort: Trial, own: Trial) -> bool:
    assert ort.seconds is not None
    assert own.seconds is not None
    return is_faster(ort, own) and own.seconds > HANDOVER * ort.seconds


def _ort(group: Group, own: Trial | None, ort: Trial, found: KnownGroup) -> Decision:
    taken = f"ONNX Runtime takes {seconds_text(ort.seconds or 0)}"
    if own is None or own.seconds is None:
        failures = [trial.failure for trial in found.tuned.trials if trial.failure]
        why = f"no kernel for it works: {failures[0]}" if failures else "no kernel was tried"
        return Decision("onnxruntime", ort.seconds, f"{taken}, {why}")
    reason = f"{taken}, the fastest kernel {seconds_text(own.seconds)}"
    near = own.seconds <= RIVAL * (ort.seconds or 0)
    return Decision("onnxruntime", ort.seconds, reason, (group,) if near else ())


def _sum(seconds: list[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return sum(known) if len(known) == len(seconds) else None
