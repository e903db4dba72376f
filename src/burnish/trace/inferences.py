"""Which inference a span belongs to, in timelines where a device works later than it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from burnish.core import units
from burnish.trace.events import DEVICE, WORK
from burnish.trace.nesting import Numbers

Mask = npt.NDArray[np.bool_]

_LEAST = 0.1
"""A step with less of the work than this part of the fullest one is no inference."""


@dataclass(frozen=True, slots=True)
class Inferences:
    """Which inference each span is of, by place."""

    run: Numbers
    """-1 outside all of them."""
    ends: Numbers
    """When each span ends: an inference is made longer to hold the device's work for it."""
    dropped: tuple[int, ...] = ()
    """The steps that are no inferences, by place."""
    whole: tuple[int, int] | None = None
    """From when to when the one inference lasts, where nothing says when there was one."""
    notes: tuple[str, ...] = ()


def inferences(
    starts: Numbers, ends: Numbers, categories: Sequence[str], causes: Numbers
) -> Inferences:
    """Return the inference that each span was launched in.

    The `run` spans say when the host was at one. Without any, all is one inference, which lasts
    from the first to the last work of the device, or of the host where no device took part. A
    step with hardly any of the work of others (the profiler was stopped in it) is none.
    """
    kinds = np.array(categories, dtype=object)
    on_device, work = np.isin(kinds, DEVICE), np.isin(kinds, WORK)
    counted = on_device if on_device.any() else work
    places = np.flatnonzero(kinds == "run")
    if not len(places):
        return _as_one(starts, ends, counted)
    when = np.where(causes >= 0, starts[causes], starts)
    step = np.searchsorted(starts[places], when, side="right") - 1
    # what a device still does after its inference was left belongs to that inference
    inside = (step >= 0) & ((when < ends[places][step]) | on_device)
    step = np.where(inside, step, -1)
    step[places] = np.arange(len(places))
    work_of = np.bincount(step[inside & counted], minlength=len(places))
    kept = work_of >= _LEAST * work_of.max()
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    run = np.where(step >= 0, number[step], -1)
    longer = ends.copy()
    until = ends[places]
    np.maximum.at(until, step[(step >= 0) & on_device], ends[(step >= 0) & on_device])
    longer[places[kept]] = until[kept]
    dropped = tuple(int(place) for place in places[~kept])
    return Inferences(run, longer, dropped, notes=_notes(dropped, len(places)))


def _as_one(starts: Numbers, ends: Numbers, counted: Mask) -> Inferences:
    if not counted.any():
        return Inferences(np.full(len(starts), -1), ends)
    whole = int(starts[counted].min()), int(ends[counted].max())
    return Inferences(np.zeros(len(starts), dtype=np.int64), ends, whole=whole)


def _notes(dropped: Sequence[int], steps: int) -> tuple[str, ...]:
    if not dropped:
        return ()
    of = f"{len(dropped):,} of {units.count(steps, 'step')}"
    return (f"{of} in the trace hold hardly any work and are no inferences: left out",)
