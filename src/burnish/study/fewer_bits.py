"""What is found out about a rewritten model before its numbers get fewer bits."""

from __future__ import annotations

from dataclasses import replace

import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.parity.request import VerifyRequest
from burnish.rewrite.options import OptimizeOptions
from burnish.store.stored import StoredModel
from burnish.study.calibration import calibrated
from burnish.study.conversion import Seen
from burnish.study.int8_gain import Int8Gain, int8_gain
from burnish.study.moved import feeds_of
from burnish.study.optimize_report import RewriteRejectedError
from burnish.study.ranges import ranges_of
from burnish.study.repair import Broken, Repair, repaired
from burnish.study.repair_integers import Spoiled, integers_repaired

_SPARE = 0.5
"""Of what is allowed: what is aimed at where an engine rounds elsewhere than was thought."""
_NEVER = 1e9
"""Numbers from here on stand for "never" in masks; whether it matters what they become is tried."""


def gain_of(rewritten: ir.Model, model: StoredModel, options: OptimizeOptions) -> Int8Gain | None:
    """Return what int8 is predicted to give on this machine; None: nobody asks, or not known."""
    numbers = options.conversion.integers
    wanted = numbers is not None and numbers.precision == "int8" and options.target == "cpu"
    return int8_gain(rewritten, model) if wanted else None


def seen_in(
    rewritten: ir.Model, model: StoredModel, options: OptimizeOptions, request: VerifyRequest | None
) -> Seen:
    """Return the magnitudes of what is inside a model, where that decides what stays in f32."""
    if options.conversion.integers is not None:
        return calibrated(rewritten, model, options.conversion.integers)
    if options.conversion.half is None or request is None:
        return Seen()
    try:
        ranges = ranges_of(rewritten, feeds_of(model, request))
    except ModelError as error:
        return Seen(note=f"values were not looked at: {error.problem}")
    return Seen({name: one.magnitude for name, one in ranges.items() if one.magnitude < _NEVER})


def repair_of(
    rewritten: ir.Model,
    model: StoredModel,
    options: OptimizeOptions,
    request: VerifyRequest | None,
    seen: Seen,
) -> Repair | None:
    """Return what must stay in f32 besides, for 16 bits to be enough; None: nothing must.

    Looked for with each value rounded, for this machine may compute in f32 what others do not.
    """
    numbers = options.conversion.half
    bounded = numbers is not None and numbers.max_error is not None
    if numbers is None or bounded or request is None or seen.note:
        return None  # with a bound of its own it is first seen whether that is kept
    feeds = feeds_of(model, request)
    broken = Broken(rewritten, numbers, feeds, options.target, seen.magnitudes)
    found = repaired(broken)
    return found if found.keep else None


def repair_after(
    rejected: RewriteRejectedError,
    rewritten: ir.Model,
    model: StoredModel,
    options: OptimizeOptions,
    request: VerifyRequest | None,
    seen: Seen,
) -> Repair | None:
    """Return what must stay in fp32 for a model that was rejected because its results moved.

    In integers they move too far; in 16 bits an engine may round elsewhere than was thought, so
    half of what is allowed is aimed at, or they differ on inputs that were looked for: those are
    tried besides. None: that is not why it was rejected, or nothing helps.
    """
    if request is None:
        return None
    if options.conversion.integers is not None:
        moved = rejected.report.deviation
        if moved is None or moved.problem:
            return None
        return integers_repaired(Spoiled(rewritten, model, options, request, seen))
    numbers, parity = options.conversion.half, rejected.report.parity
    if numbers is None or parity is None or parity.crash is not None or seen.note:
        return None
    given, telling = tuple(feeds_of(model, request)), rejected.telling
    broken = Broken(rewritten, numbers, given, options.target, seen.magnitudes)
    if telling is not None:  # the others agreed: they are not asked for more than that
        found = repaired(replace(broken, feeds=(telling, *given)))
        if found.keep:
            return found
        broken = replace(broken, feeds=(*given, telling))
    found = repaired(replace(broken, of_tolerance=_SPARE))
    return found if found.keep else None
