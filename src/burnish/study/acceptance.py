"""Whether a rewritten model may be handed out: it loads, and computes what the original does."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import BurnishError
from burnish.core.precisions import element_type
from burnish.core.progress import Progress
from burnish.engines.base import LEVELS
from burnish.engines.loading import highest_level, refusal
from burnish.engines.sizes import JUDGE
from burnish.feeds.feed import Feeds
from burnish.parity import request as parity_of
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest
from burnish.parity.verdict import verdict
from burnish.process.scratch import scratch
from burnish.rewrite.options import Conversion, OptimizeOptions, PrecisionRequest
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.conversion import comparable, converted, runnable
from burnish.study.deviation import DeviationReport, deviation
from burnish.study.deviation import refusal as too_far
from burnish.study.moved import feeds_of, moved
from burnish.study.optimize_report import OptimizeReport, RewriteRejectedError
from burnish.study.rounding_tail import MOST, doubled, tail_of


@dataclass(slots=True)
class Acceptance:
    """Accepts a draft, or raises what the user should read; keeps what was found."""

    model: StoredModel
    rewritten: ir.Model
    """Before its numbers were changed."""
    options: OptimizeOptions
    request: VerifyRequest | None
    report: OptimizeReport
    progress: Progress

    def __call__(self, draft: Path) -> None:
        """Compare a draft with the original."""
        try:
            self._compare(draft)
        except BurnishError as error:
            error.name(self.report.target, draft)
            raise

    def _compare(self, draft: Path) -> None:
        candidate = StoredModel(draft, self.report.target.stem)
        conversion = self.options.conversion
        if self.request is None:
            return
        if conversion.bounded is None:
            with runnable(candidate, self.options, self.request) as (found, seen_as, request):
                self._require_equal(found, seen_as, request)
            return
        with scratch("optimize") as folder:
            plain = dataclasses.replace(conversion, numbers=None)
            options = dataclasses.replace(self.options, conversion=plain)
            path = folder / draft.name
            onnx_files.write(converted(self.rewritten, options)[0], path, history=History("", ()))
            before = dataclasses.replace(candidate, onnx=path)
            self._require_equal(before, plain, self.request)
        with runnable(candidate, self.options, self.request) as (found, seen_as, request):
            self._require_near(found, seen_as, conversion.bounded, request)

    def _require_equal(
        self, candidate: StoredModel, conversion: Conversion, request: VerifyRequest
    ) -> None:
        with comparable(self.model, candidate, conversion) as pair:
            runs = candidate if conversion.changes_types else None
            _require_loading(self.report, runs or pair[1], pair[0])
            asked = dataclasses.replace(_asked(request, pair, conversion), runs=runs)
            found = _judged(asked, conversion, self.progress)
            telling = _telling(asked, found) if conversion.half is not None else None
        self.report = dataclasses.replace(self.report, parity=found)
        _require(self.report, found, telling)

    def _require_near(
        self,
        candidate: StoredModel,
        conversion: Conversion,
        numbers: PrecisionRequest,
        request: VerifyRequest,
    ) -> None:
        with comparable(self.model, candidate, conversion) as (original, changed):
            found = moved(original, changed, request, numbers, progress=self.progress)
        self.report = dataclasses.replace(self.report, deviation=found)
        if not found.passed:
            raise RewriteRejectedError(
                f"{self.report.target} was not written: in {numbers.precision}, {too_far(found)}",
                hint=f"{_smoothing(numbers)}keep what matters most in fp32 with --keep-fp32 NAME,…;"
                f" or allow more: --max-error {_above(found)}",
                report=self.report,
            )


def _smoothing(numbers: PrecisionRequest) -> str:
    """Return what else may help against channels that are far larger than others."""
    if numbers.precision != "int8" or numbers.smooth is not None:
        return ""
    given = "" if numbers.calibrate else "--calibrate DATA "
    return f"even channels out with {given}--smooth 0.5; "


def _above(found: DeviationReport) -> str:
    """Return a bound, to be written, that what was found would keep."""
    worst = found.worst
    return "0.5" if worst is None or worst.relative > 0.5 else f"{worst.relative * 1.1:.2g}"


def _judged(asked: VerifyRequest, conversion: Conversion, progress: Progress) -> VerifyReport:
    """Return what was found; in 16 bits, the tail of roundings is told and let pass."""
    found = _compared(asked, progress)
    tail = tail_of(found) if conversion.half is not None else ""
    if not tail or conversion.half is None or not _near(asked, MOST[conversion.half.precision]):
        return found
    wider = dataclasses.replace(asked, tolerances=doubled(asked.tolerances))
    again = _compared(wider, progress)
    return dataclasses.replace(again, notes=(*again.notes, tail))


def _near(asked: VerifyRequest, bound: float) -> bool:
    """Return whether whole outputs are within a bound, in their root mean square."""
    assert asked.candidate is not None
    feeds, level = feeds_of(asked.reference, asked), asked.options.graph_level
    found = deviation(asked.reference, asked.candidate, feeds, bound=bound, source="", level=level)
    return found.passed


def _compared(asked: VerifyRequest, progress: Progress) -> VerifyReport:
    """Return what was found; where the original crashes the engine as well, at a lower level."""
    level = highest_level(JUDGE, asked.runs or asked.candidate or asked.reference)
    if level not in (None, asked.options.graph_level):
        # `_require_loading` has seen that the original is refused there as well
        note = f"neither it nor the original loads at a level above {level}; compared at that"
        options = dataclasses.replace(asked.options, graph_level=level)
        found = parity_of.answer(dataclasses.replace(asked, options=options), progress=progress)
        return dataclasses.replace(found, notes=(*found.notes, note))
    found = parity_of.answer(asked, progress=progress)
    if found.crash is None:
        return found
    alone = dataclasses.replace(asked, candidate=None, runs=None, bisect=False)
    original = parity_of.answer(alone).crash
    if original is None:
        return found
    level = next((one for one in LEVELS if one == found.crash.runs_at), None)
    if level is not None:
        options = dataclasses.replace(asked.options, graph_level=level)
        found = parity_of.answer(dataclasses.replace(asked, options=options), progress=progress)
    where = f"compared at level {level}" if level else "there is no level at which both run"
    notes = (*found.notes, f"of the original, too: {original}; {where}")
    return dataclasses.replace(found, notes=notes)


def _asked(
    request: VerifyRequest, pair: tuple[StoredModel, StoredModel], conversion: Conversion
) -> VerifyRequest:
    """Return what to compare; inner values only where they are of the same types in both.

    Who asks for fewer bits asks to be judged by what they can do.
    """
    tolerances = request.tolerances
    if conversion.half is not None and tolerances.arithmetic is None:
        arithmetic = element_type(conversion.half.precision)
        tolerances = dataclasses.replace(tolerances, arithmetic=arithmetic)
    return dataclasses.replace(
        request,
        reference=pair[0],
        candidate=pair[1],
        bisect=conversion.half is None,
        tolerances=tolerances,
    )


def _require_loading(report: OptimizeReport, made: StoredModel, original: StoredModel) -> None:
    fault = refusal(JUDGE, made, original).replace(str(made.onnx), str(report.target))
    if fault:
        raise RewriteRejectedError(
            f"{report.target} was not written: {fault}",
            hint="try fewer fusions: --only NAME,… names those to apply",
            report=report,
            fault=fault,
        )


def _telling(asked: VerifyRequest, found: VerifyReport) -> Feeds | None:
    """Return inputs that nobody asked for and that show a difference in 16 bits."""
    if found.crash is not None or found.problems:
        return None
    try:
        return parity_of.telling_feeds(asked, found)
    except BurnishError:
        return None  # they are made for a repair only


def _require(report: OptimizeReport, parity: VerifyReport, telling: Feeds | None = None) -> None:
    if parity.passed:
        return
    culprit = parity.bisection.culprit if parity.bisection else None
    if parity.crash is not None:
        hint = (
            "try fewer fusions: --only NAME,… names those to apply; --no-verify writes it as it is"
        )
    elif culprit is not None and culprit.rule:
        hint = f"leave out the rule that made {culprit.node!r}: --disable {culprit.rule}"
    elif culprit is not None:
        hint = (
            f"the runs part at {culprit.op_type} {culprit.node!r}; --no-verify writes it as it is"
        )
    elif report.conversion is not None and report.conversion.numbers is not None:
        numbers = report.conversion.numbers
        kinds = tuple(dict.fromkeys(one.op_type for one in numbers.changed))[:2]
        hint = (
            f"see whether it is right without -p {numbers.precision}; if so, keep more of it: "
            f"--keep-fp32 {','.join(kinds) or 'NAME,…'} (operators, nodes or patterns), or its "
            "inputs and outputs: --keep-io"
        )
    else:
        hint = "write it with --no-verify, and compare the two with burnish verify --bisect"
    raise RewriteRejectedError(
        f"{report.target} was not written: {verdict(parity)}", hint=hint, report=report,
        fault="" if parity.crash is None else str(parity.crash), telling=telling,
    )  # fmt: skip
