"""Change types and names of a model as the user asks, and compare it all the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.hw import detect
from burnish.parity.request import VerifyRequest
from burnish.process.scratch import scratch
from burnish.rewrite.interface import with_axes_renamed, with_i32_inputs, with_interface_of
from burnish.rewrite.options import Conversion, OptimizeOptions, PrecisionRequest
from burnish.rewrite.precision import PrecisionReport, bits_for, convert
from burnish.rewrite.precision.smooth import Smoothing
from burnish.rewrite.precision.thresholds import Span
from burnish.rewrite.precision.widen import ROUNDED, rounding
from burnish.store import onnx_files
from burnish.store.history import History, HistoryStep
from burnish.store.stored import StoredModel

_WIDENED = (
    "in ONNX Runtime this saves space, and no time: it multiplies in f32 what was rounded to bf16; "
    "kernels of `burnish compile` multiply bf16"
)
_CASTS = 6
"""The first opset whose Cast is told the type by its number."""


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """What was changed about a model, and what was not."""

    axes: Mapping[str, str]
    i32_inputs: tuple[str, ...] = ()
    """Inputs that take i32 now."""
    numbers: PrecisionReport | None = None
    """What computes in fewer bits now; None: that was not asked for."""

    @property
    def steps(self) -> tuple[HistoryStep, ...]:
        """Return what goes into the model's own history."""
        renamed = (HistoryStep("rename-axis", f"{old}={new}") for old, new in self.axes.items())
        narrow = (HistoryStep("int32-input", name) for name in self.i32_inputs)
        numbers = (
            () if self.numbers is None else (HistoryStep(self.numbers.precision, self.numbers.how),)
        )
        return (*renamed, *narrow, *numbers)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen inside a model that ran, before its numbers are changed."""

    magnitudes: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    """Why nothing was; empty: it was, or nobody asked."""
    spans: Mapping[str, Span] | None = None
    """On which part of a value's range 8 bits are spent; None: that is found as it runs."""
    smoothing: Smoothing | None = None
    """How channels are made even before that; None: they are left as they are."""
    source: str = ""
    """Where the inputs are from on which the spans were seen."""


def with_reasons(
    report: ConversionReport | None, reasons: Mapping[str, str]
) -> ConversionReport | None:
    """Return a report that says of some of the nodes that stayed why they had to."""
    if report is None or report.numbers is None:
        return report
    kept = (
        dataclasses.replace(one, reason=reasons.get(one.node, one.reason))
        for one in report.numbers.kept
    )
    numbers = dataclasses.replace(report.numbers, kept=tuple(kept))
    return dataclasses.replace(report, numbers=numbers)


def converted(
    model: ir.Model,
    options: OptimizeOptions,
    seen: Seen = Seen(),  # noqa: B008  (frozen)
) -> tuple[ir.Model, ConversionReport | None]:
    """Return an optimised model with the types that were asked for; None: none were."""
    wanted = options.conversion
    if wanted == Conversion():
        return model, None
    if wanted.changes_types:
        _require_casts(model)
    names: tuple[str, ...] = ()
    if wanted.i32_inputs:
        model, names = with_i32_inputs(model)
    if wanted.numbers is None:
        return model, ConversionReport(wanted.axes, names)
    found = convert(
        model,
        wanted.numbers.precision,
        keep=wanted.numbers.keep,
        target=options.target,
        edges=wanted.numbers.edges,
        ops=options.ops,
        bits=bits_for(detect.cpu().flags),
        magnitudes=seen.magnitudes,
        spans=seen.spans,
        smoothing=seen.smoothing,
    )
    notes = (*found.report.notes, *_said(wanted.numbers, options, seen))
    report = dataclasses.replace(found.report, notes=notes)
    return found.model, ConversionReport(wanted.axes, names, report)


def without_functions(options: OptimizeOptions) -> OptimizeOptions:
    """Return options with which calls of functions are written out, if numbers are to change.

    The values in a function have types only where it is called.
    """
    if options.conversion.numbers is None:
        return options
    return dataclasses.replace(options, keep_functions=False)


def _said(numbers: PrecisionRequest, options: OptimizeOptions, seen: Seen) -> Iterator[str]:
    """Yield what must be known of how a model in a precision is made and compared here."""
    if seen.note:
        yield seen.note
    if numbers.precision == "bf16":
        yield _WIDENED if options.target == "cpu" else ROUNDED
    if options.keep_functions:
        yield f"calls of functions were written out, to be brought to {numbers.precision}"
    if seen.spans is not None:
        yield f"calibrated on {seen.source}: {len(seen.spans)} values, {numbers.calibration}"


def _require_casts(model: ir.Model) -> None:
    opset = model.opset_imports.get("", _CASTS)
    if opset < _CASTS:
        raise ModelError(
            f"types cannot be changed in opset {opset}: it has other casts",
            hint=f"convert the model to opset {_CASTS} or later first",
        )


def renamed(model: ir.Model, wanted: Conversion) -> ir.Model:
    """Return a model with the axes called as the user wants it; itself if nothing is renamed."""
    return with_axes_renamed(model, wanted.axes) if wanted.axes else model


@contextmanager
def comparable(
    original: StoredModel, draft: StoredModel, wanted: Conversion
) -> Iterator[tuple[StoredModel, StoredModel]]:
    """Yield the two so that they can be fed the same, from a folder that is gone afterwards.

    Where types of inputs and outputs differ, the draft is read between casts.
    """
    with scratch("conversion") as folder:
        if wanted.axes:
            source = renamed(onnx_files.read(original.onnx), wanted)
            original = _written(source, folder / "original.onnx", original)
        if wanted.changes_types:
            outer = with_interface_of(onnx_files.read(draft.onnx), onnx_files.read(original.onnx))
            draft = _written(outer, folder / "draft.onnx", draft)
        yield original, draft


@contextmanager
def runnable(
    draft: StoredModel, options: OptimizeOptions, request: VerifyRequest
) -> Iterator[tuple[StoredModel, Conversion, VerifyRequest]]:
    """Yield a draft as it can be run here, what it is like then, and how to compare it.

    What no engine here has kernels for is run in f32, each value rounded to what it would be.
    """
    wanted = options.conversion
    if wanted.half is None or wanted.half.precision != "bf16" or options.target == "cpu":
        yield draft, wanted, request
        return
    with scratch("rounded") as folder:
        twin = _written(rounding(onnx_files.read(draft.onnx)), folder / "rounded.onnx", draft)
        kept = dataclasses.replace(wanted, numbers=dataclasses.replace(wanted.half, edges="keep"))
        unchanged = dataclasses.replace(request.options, graph_level="off")
        yield twin, kept, dataclasses.replace(request, options=unchanged)


def _written(model: ir.Model, path: Path, like: StoredModel) -> StoredModel:
    onnx_files.write(model, path, history=History("", ()))
    return dataclasses.replace(like, onnx=path)
