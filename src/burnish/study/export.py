"""Export a model into a store: handed out only if it computes what PyTorch computes."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from burnish.closeness.tolerance import ARITHMETIC, DYNAMIC_INT8
from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import CheckFailedError
from burnish.core.files import folder_written_beside
from burnish.core.progress import SILENT, Progress
from burnish.core.units import error as shown
from burnish.core.units import seconds
from burnish.engines.base import Session
from burnish.hw import detect
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest
from burnish.parity.tolerances import Tolerances
from burnish.parity.verdict import verdict
from burnish.parity.verify import JudgedSubject, judge, verify_recorded
from burnish.process.scratch import scratch
from burnish.rewrite.precision import bits_for, convert
from burnish.rewrite.precision.widen import in_f32
from burnish.rewrite.result import RewriteReport
from burnish.store import layout, onnx_files
from burnish.store.exported import folder_of
from burnish.store.history import History, HistoryStep
from burnish.store.interface import Interface
from burnish.store.stored import StoredModel
from burnish.study.export_report import Check, ExportReport, GenerationCheck
from burnish.study.optimize import optimize_file
from burnish.study.rounding_drift import widened, within_roundings
from burnish.zoo.exporting.launch import TIME_LIMIT_S, launch
from burnish.zoo.exporting.past import Generation
from burnish.zoo.exporting.request import ExportRequest
from burnish.zoo.exporting.stages import ExportOutcome, StageTime
from burnish.zoo.generation import follow, greedy

T = TypeVar("T")

_ARITHMETIC = {"fp32": "f32", "fp16": "f16", "bf16": "bf16", "int8": DYNAMIC_INT8}
_PAST = "past_"
NOTE = (
    "ONNX Runtime's CPU provider has no bf16: the same graph was compared with its tensors in f32"
)


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """Where an exported model goes, and what is done to it on the way."""

    store: Path
    name: str
    variant: str
    int8: bool = False
    optimize: bool = False
    generation: bool = True
    time_limit_s: float = TIME_LIMIT_S


def export(
    request: ExportRequest, plan: ExportPlan, *, progress: Progress = SILENT
) -> ExportReport:
    """Export, check against PyTorch after every step, and put the model into the store.

    If anything fails, the store is as it was.
    """
    place = layout.place(plan.store, plan.name, plan.variant)
    with folder_written_beside(place.parent, folder_of(place)) as fresh:
        work = _Drafted(fresh / place.name, plan, progress)
        outcome, generation = launch(request, work.onnx, time_limit_s=plan.time_limit_s)
        for stage in outcome.stages:
            progress.step(stage.stage, 1, 1, seconds(stage.seconds_s))
        checks, rewrite = _finished(work, request)
        done = _Done(checks, rewrite, _generation(work, generation, request))
    return _report(request, place, work, outcome, done)


@dataclass(frozen=True, slots=True)
class _Done:
    """What came of all that was done to a draft."""

    checks: tuple[Check, ...]
    rewrite: RewriteReport | None
    generation: GenerationCheck | None


class _Drafted:
    """A draft in the store that nobody can see yet, and the time its stages took."""

    def __init__(self, onnx: Path, plan: ExportPlan, progress: Progress) -> None:
        self.onnx = onnx
        self.plan = plan
        self.progress = progress
        self.times: list[StageTime] = []

    @property
    def model(self) -> StoredModel:
        found = layout.stored(self.onnx)
        return dataclasses.replace(found, name=self.plan.name, variant=self.plan.variant)

    def timed(self, stage: str, do: Callable[[], T]) -> T:
        start = time.monotonic()
        result = do()
        self.times.append(StageTime(stage, time.monotonic() - start))
        self.progress.step(stage, 1, 1, seconds(self.times[-1].seconds_s))
        return result


def _finished(
    work: _Drafted, request: ExportRequest
) -> tuple[tuple[Check, ...], RewriteReport | None]:
    """Do what was asked beyond exporting, each step checked against what PyTorch computed."""
    precision = request.options.precision
    checks = [work.timed("check", lambda: _check(work, "export", precision))]
    rewrite = None
    if work.plan.optimize:
        verified = VerifyRequest(reference=work.model) if precision != "bf16" else None
        done = work.timed(
            "optimize", lambda: optimize_file(work.model, work.onnx, request=verified)
        )
        rewrite = done.rewrite
        checks.append(_check(work, "optimize", precision))
    if work.plan.int8:
        work.timed("int8", lambda: _quantise(work.onnx))
        checks.append(_check(work, "int8", precision))
    return tuple(checks), rewrite


def _quantise(path: Path) -> None:
    """Turn a model's weights into integers of 8 bits, in its place, and say so in its history."""
    found = convert(onnx_files.read(path), "int8", bits=bits_for(detect.cpu().flags))
    step = HistoryStep(found.report.precision, found.report.how)
    history = History(onnx_files.content_key(path), (step,))
    onnx_files.write(found.model, path, history=history)


def _check(work: _Drafted, after: str, precision: str) -> Check:
    report = _compared(work, precision)
    if not report.passed and precision == "fp16":
        within = within_roundings(work.model, report)
        report = within if within.passed else report
    if not report.passed:
        raise CheckFailedError(
            f"after the step '{after}' it does not compute what PyTorch does: {verdict(report)}",
            hint="try the other --exporter, --attention eager or --static; nothing was written",
        )
    return Check(after, report)


def _compared(work: _Drafted, precision: str) -> VerifyReport:
    with _runnable(work.model, precision) as (model, tolerances, notes):
        report = verify_recorded(judge(model), model.data_sets, tolerances=tolerances)
    label = work.model.label
    return dataclasses.replace(report, candidate=label, notes=(*notes, *report.notes))


@contextmanager
def _runnable(
    model: StoredModel, precision: str
) -> Iterator[tuple[StoredModel, Tolerances, tuple[str, ...]]]:
    """Yield a model that can be run here, how it is judged, and what must be known of that."""
    if precision != "bf16":
        yield model, Tolerances(), ()
        return
    with scratch("export") as folder:
        yield widened(model, folder, in_f32), Tolerances(arithmetic="bf16"), (NOTE,)


def _generation(
    work: _Drafted, generation: Generation | None, request: ExportRequest
) -> GenerationCheck | None:
    if generation is None or not work.plan.generation:
        return None
    precision = "int8" if work.plan.int8 else request.options.precision
    with _runnable(work.model, precision) as (model, _, _):
        interface = onnx_files.interface(onnx_files.look(model.onnx))
        with JudgedSubject(model).open() as session:
            check = work.timed("generate", lambda: check_generation(session, interface, generation))
    require_generation(check, arithmetic=_ARITHMETIC[precision])
    return check


def _report(
    request: ExportRequest, place: Path, work: _Drafted, outcome: ExportOutcome, done: _Done
) -> ExportReport:
    return ExportReport(
        model=f"{work.plan.name}/{work.plan.variant}",
        onnx=place,
        exporter=outcome.exporter,
        opset=outcome.opset,
        precision="int8" if work.plan.int8 else request.options.precision,
        dynamic_axes=outcome.dynamic_axes,
        stages=(*outcome.stages, *work.times),
        workarounds=outcome.workarounds,
        notes=outcome.notes,
        checks=done.checks,
        generation=done.generation,
        rewrite=done.rewrite,
    )


def check_generation(
    session: Session, interface: Interface, generation: Generation
) -> GenerationCheck:
    """Return what a session writes after PyTorch's prompt, and how it judges PyTorch's tokens."""
    past = _empty_past(interface)
    names = {spec.name for spec in interface.inputs}

    def step(feeds: dict[str, Array]) -> Arrays:
        return session.run({name: feeds[name] for name in feeds if name in names})

    written = greedy(step, generation.prompt, past, tokens=len(generation.tokens))
    followed = follow(step, generation.prompt, past, generation.tokens)
    expected = np.array(generation.tokens)
    chosen = followed.logits.argmax(axis=1)
    rows = np.arange(len(expected))
    regret = generation.logits[rows, expected] - generation.logits[rows, chosen]
    return GenerationCheck(
        expected=generation.tokens,
        written=written.tokens,
        agreeing=int((chosen == expected).sum()),
        max_abs=float(np.abs(followed.logits - generation.logits).max()),
        deviation=float(generation.logits.std()),
        largest_regret=float(regret.max()),
    )


def require_generation(check: GenerationCheck, *, arithmetic: str) -> None:
    """Fail unless the tokens are PyTorch's.

    In f32 all must be. With fewer bits a token may differ where PyTorch itself thinks as much of
    it, within the tolerance of the type; after such a token the texts are no longer comparable,
    so that the choices along PyTorch's text are judged.
    """
    if arithmetic == "f32":
        if check.identical:
            return
        reason = f"{_common(check)} of {len(check.expected)} tokens before they part"
    else:
        allowed = ARITHMETIC[arithmetic].allowance(check.deviation)
        if check.largest_regret <= allowed:
            return
        reason = (
            f"it prefers a token that PyTorch holds {shown(check.largest_regret)} below its own"
        )
    raise CheckFailedError(
        f"the exported model writes other tokens than PyTorch: {reason}",
        hint="try the other --exporter; --no-generation skips this check",
    )


def _common(check: GenerationCheck) -> int:
    pairs = zip(check.expected, check.written, strict=True)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(check.expected))


def _empty_past(interface: Interface) -> dict[str, Array]:
    """Return keys and values of no token, for one sequence, as the model's types want them."""
    return {
        spec.name: np.zeros(
            (1, spec.shape[1], 0, spec.shape[3]),  # type: ignore[arg-type]
            array_type(spec.dtype),
        )
        for spec in interface.inputs
        if spec.name.startswith(_PAST)
    }
