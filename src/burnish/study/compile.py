"""Compile a model into a folder that runs by itself, handed out only if it computes the same."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import onnx_ir as ir

from burnish.codegen import bundle_times
from burnish.codegen.backend import Backend, open_backend
from burnish.codegen.bundle import bundle
from burnish.codegen.declared import require_declared
from burnish.codegen.environment import about, default_threads, tuning_cache
from burnish.codegen.fitting import kept_unfit
from burnish.codegen.pipeline import PlanOptions, plan, plan_up_to, prepare, without_products
from burnish.codegen.place import BuiltPlan, PreparedModel
from burnish.codegen.schedule import Predicted, Scheduler
from burnish.codegen.tune.cache import TuningCache
from burnish.codegen.tune.recalled import Recalled, keep
from burnish.codegen.tune.trial import Tuned
from burnish.codegen.write import write
from burnish.core import files, records, units
from burnish.core.backends import DEFAULT_TARGET
from burnish.core.command import command
from burnish.core.errors import CheckFailedError, MissingCapabilityError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import EngineOptions
from burnish.engines.model_facts import arithmetic_type
from burnish.engines.sizes import fitting
from burnish.feeds.feed import Feeds
from burnish.parity.report import VerifyReport
from burnish.parity.tolerances import Tolerances
from burnish.parity.verdict import verdict
from burnish.parity.verify import JudgedSubject, ReferenceRefusesError, judge, verify
from burnish.runtime import signing
from burnish.runtime.folder import About
from burnish.runtime.runner import runner_for
from burnish.store import onnx_files
from burnish.store.compiled import FOLDER
from burnish.store.stored import StoredModel
from burnish.study.compile_dump import PlanDump, check_dump, dump, plan_dump
from burnish.study.compile_report import (
    SCHEMA,
    CompiledKernelTime,
    CompileReport,
    PlanReport,
    Proof,
    RaceRow,
)
from burnish.study.compiled_steps import plan_report, step_seconds
from burnish.study.transfers import transfers, within
from burnish.study.tuning import SchedulerFor, TuneTerms, tuned
from burnish.study.whole_race import Field, raced
from burnish.tile.partition import Fusion

ENGINE = "burnish"

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What is to be compiled, and how."""

    model: StoredModel
    folder: Path
    """Where the result goes."""
    shapes: tuple[Sizes, ...] = ()
    """One plan for each; empty: the model's own sizes, which must all be fixed."""
    target: str = DEFAULT_TARGET
    """The back end and the device to compile for: `cpu`, `cuda: sm_90`."""
    device_memory_bytes: int | None = None
    """The most of a card's memory that a plan may take; None: what is free there."""
    fusion: Fusion = "full"
    skip_dot: bool = False
    mode: str | None = None
    """How f32 is multiplied, of `core.precisions.MODES`; None: as it is."""
    winograd: bool = True
    """Whether convolutions may be computed in blocks."""
    up_to: str | None = None
    """The name whose size stays open: plans take any up to theirs."""
    candidates: int = 20
    """Of each kernel, to be timed here or in a bundle."""
    tune: TuneTerms | None = None
    """None, or a back end that times nothing: schedules are those that are predicted."""
    threads: int | None = None
    samples: int = 3
    seed: int = 0
    given: tuple[Feeds, ...] = ()
    """Inputs to prove the result with; empty: they are made."""
    tolerances: Tolerances = field(default_factory=Tolerances)
    """How far from the model the result may be."""
    dump: Path | None = None
    """Where to write each kernel for people to read."""
    bundle: Path | None = None
    """The bundle to which candidates of its kernels are added."""
    timings: Path | None = None
    """What was timed of such a bundle; None: kernels are chosen here."""
    sign: Path | None = None
    """The private key to sign the folder with."""
    words: tuple[str, ...] = ()
    """The options as words of the command line, to be written down."""

    @property
    def plans(self) -> tuple[Sizes, ...]:
        """Return the sizes of each plan."""
        return self.shapes or ({},)


class RejectedError(CheckFailedError):
    """The compiled model does not compute the same, and was not written."""

    def __init__(self, problem: str, *, hint: str, parity: VerifyReport) -> None:
        super().__init__(problem, hint=hint)
        self.parity = parity


def compile_model(request: CompileRequest, *, progress: Progress = SILENT) -> CompileReport:
    """Compile a model, prove that it computes the same, and write it; say what was done."""
    start = time.perf_counter()
    _check_places(request)
    work = _Work(request, onnx_files.read(request.model.onnx), progress)
    built = work.all_built()
    require_declared(work.about, built)
    work.tell_choices(built)
    if request.bundle is not None:
        work.bundled(built, request.bundle)
    proofs: list[VerifyReport] = []
    plans: list[PlanReport] = []

    def accept(draft: Path) -> str:
        proofs.extend(work.proven(draft))
        plans.extend(work.reports(built, draft))
        return work.proof(proofs[0], plans) if proofs else ""

    write(request.folder, work.about, built, work.backend, accept=accept)
    if request.sign is not None:
        signing.sign(request.folder, request.sign)
    report = CompileReport(
        model=request.model.label,
        source_key=work.about.source_key,
        folder=request.folder,
        target=work.backend.target,
        device=work.about.device,
        threads=work.threads,
        fusion=request.fusion,
        plans=tuple(plans),
        parity=proofs[0] if proofs else None,
        unproven=work.absent,
        seconds=time.perf_counter() - start,
        race=work.race,
        notes=tuple(dict.fromkeys(work.notes)),
    )
    if request.dump is not None:
        dump(report, built, work.backend, request.dump)
    return report


def _check_places(request: CompileRequest) -> None:
    """Raise at once if in the end something could not be written or signed."""
    files.check_folder(request.folder, FOLDER)
    if request.dump is not None:
        check_dump(request.dump, len(request.plans))
    if request.sign is not None:
        signing.private_key(request.sign)


class _Work:
    """What all plans of a request share."""

    def __init__(self, request: CompileRequest, loaded: ir.Model, progress: Progress) -> None:
        self.threads = request.threads or default_threads()
        found = open_backend(request.target, self.threads)
        found = found if request.winograd else found.plain_sums()
        self.backend = found if request.mode is None else found.multiplying(request.mode)
        self.absent = _absent(self.backend)
        precision, device = request.mode or arithmetic_type(loaded), self.backend.device
        told = about(request.model, loaded, precision, device, request.words)
        compiler, _, version = self.backend.compiler.rpartition(" ")
        self.about: About = dataclasses.replace(told, versions={**told.versions, compiler: version})
        self.notes: list[str] = []
        self.race: tuple[RaceRow, ...] = ()
        self.warnings: tuple[str, ...] = ()
        self._terms = request.tune if self.backend.trials and request.up_to is None else None
        self._predicted = Predicted(self.backend, request.fusion)
        self._recalled: Recalled | None = None
        self._loaded = loaded
        self._made: dict[tuple[tuple[str, int], ...], tuple[Feeds, ...]] = {}
        self._request = request
        self._progress = progress

    def all_built(self) -> tuple[BuiltPlan, ...]:
        """Return the plans for all sizes."""
        terms = self._terms
        if terms is None:
            scheduler = self._untimed()
            return tuple(self._built(sizes, lambda _model: scheduler) for sizes in self._plans)
        with ExitStack() as stack:
            session = stack.enter_context(tuned(terms, self._predicted, self._progress))
            found = tuple(self._built(sizes, session.scheduler) for sizes in self._plans)
            self.notes += session.notes
        return found

    def _untimed(self) -> Scheduler:
        """Return what chooses where nothing is timed: by what was timed elsewhere, if asked to."""
        if self._request.tune is None or self._request.up_to is not None:
            return self._predicted
        cache = TuningCache(tuning_cache())
        if self._request.timings is not None:
            keep(self._timings(self._request.timings), cache, self.backend)
        self._recalled = Recalled(self._predicted, cache)
        return self._recalled

    def _timings(self, path: Path) -> Mapping[str, Tuned]:
        timings = bundle_times.read(path)
        if timings.target != self.backend.target:
            raise UsageError(
                f"{path}: was timed for {timings.target}, and this is for {self.backend.target}",
                hint="time a bundle of it: burnish compile --bundle DIR, "
                + command("time", "-o", path),
            )
        return timings.groups

    def tell_choices(self, built: tuple[BuiltPlan, ...]) -> None:
        """Note kernels that have no better blocks, and choices that nothing was timed for here."""
        texts = {name: text for each in built for name, text in each.kernels.items()}
        self.notes += kept_unfit(self.backend, texts)
        for name in dict.fromkeys(name for each in built for name in each.plan.conditions):
            self.notes.append(f"{name!r} chooses a branch: the proof is of those its inputs take")
        if self._recalled is None:
            return
        taken = units.count(self._recalled.taken, "group")
        how = f"{taken} as timed elsewhere, the rest" if self._recalled.taken else "the plan"
        self.notes.append(f"nothing is timed for {self.backend.target}: {how} is predicted")
        self.notes += self._recalled.cache.notes

    def bundled(self, built: tuple[BuiltPlan, ...], folder: Path) -> None:
        """Add candidates of the plans to a bundle."""
        added = bundle(built, self.backend, folder, self.about, most=self._request.candidates)
        self.notes.append(
            f"{folder}: {units.count(added, 'group')} more; where such a card is:"
            f" {command('time', folder, '-o', 'TIMES.json')}"
        )

    @property
    def _plans(self) -> tuple[Sizes, ...]:
        return self._request.plans

    def _built(self, sizes: Sizes, scheduler: SchedulerFor) -> BuiltPlan:
        prepared = prepare(
            self._loaded, sizes, self._progress, multiplies_bytes=self.backend.multiplies_bytes
        )
        dumped = self._dumped(sizes)
        if dumped is not None:
            dumped.prepared(prepared)
        to_ort = without_products(prepared.model) if self._request.skip_dot else {}
        fusion = self._request.fusion
        chosen = scheduler(prepared.model)
        options = PlanOptions(self.backend, chosen, fusion, to_ort, buildable=True)
        if self._request.up_to is not None:
            return self._open(prepared, self._request.up_to, options)
        built = within(plan(prepared, options), self._request.device_memory_bytes)
        steps = f"{len(built.plan.kernel_steps)} kernels, {len(built.plan.ort_steps)} parts"
        self._progress.step("plan", 1, 1, steps)
        if dumped is not None:
            dumped.planned(built)
        if self._terms is None:
            return built
        untuned = dataclasses.replace(options, scheduler=self._predicted)
        plans = {
            "the tuned plan": built,
            "the predicted one": plan(prepared, untuned),
        }
        feeds = self._feeds(sizes)[0]
        told = self._progress
        field = Field(self._request.model, prepared, self.about, feeds, self.backend, told)
        outcome = raced(plans, field)
        self._progress.step("race", 1, 1, outcome.note)
        self.race += outcome.rows
        self.warnings += outcome.warnings
        self.notes += (outcome.note, *(f"the race: {text}" for text in outcome.warnings))
        return outcome.built

    def _dumped(self, sizes: Sizes) -> PlanDump | None:
        """Return where a plan is dumped as its steps are done; None: nowhere."""
        where = self._request.dump
        if where is None:
            return None
        return plan_dump(where, self._plans.index(sizes), self.backend)

    def _open(self, prepared: PreparedModel, name: str, options: PlanOptions) -> BuiltPlan:
        """Return a plan for all sizes of a name up to that of a prepared model."""
        found = plan_up_to(self._loaded, prepared, name, options)
        self.notes.append(
            f"{name} is open up to {prepared.sizes[name]}: kernels are as predicted, and nothing"
            " was raced; burnish bench compares"
        )
        return found

    def _proven_sizes(self) -> Iterator[Sizes]:
        """Yield the sizes to prove plans at: their own, and of an open one several."""
        name = self._request.up_to
        for sizes in self._plans:
            yield sizes
            most = sizes.get(name or "", 1)
            yield from (
                {**sizes, name: n} for n in sorted({1, 2, most // 2, most - 1}) if 0 < n < most
            )

    def proven(self, draft: Path) -> tuple[VerifyReport, ...]:
        """Return how near a draft is to the model, if it runs here; raise where not near enough."""
        if self.absent:
            return ()
        feeds = tuple(each for sizes in self._proven_sizes() for each in self._feeds(sizes))
        parity = self._compared(self._compiled(draft), feeds)
        if not parity.passed:
            raise RejectedError(
                f"{self._request.folder} was not written: {verdict(parity)}",
                hint="report it as a bug in burnish; --fusion none may compute the same",
                parity=parity,
            )
        return (parity,)

    def _compiled(self, draft: Path) -> JudgedSubject:
        compiled = dataclasses.replace(self._request.model, compiled=draft)
        options = EngineOptions(threads=self.threads, precision=self._request.mode)
        return JudgedSubject(compiled, ENGINE, options)

    def _compared(self, candidate: JudgedSubject, feeds: tuple[Feeds, ...]) -> VerifyReport:
        request = self._request
        try:
            return verify(
                judge(request.model), candidate, feeds,
                tolerances=request.tolerances, progress=self._progress,
            )  # fmt: skip
        except ReferenceRefusesError as error:
            if request.given:
                raise
            raise ReferenceRefusesError(
                f"MODEL does not run on made inputs, and nothing can be proven: {error.problem}",
                hint="bring some: "
                + command(
                    "compile", request.model.onnx, "--data", "INPUTS.npz", "-o", request.folder
                ),
            ) from error

    def reports(self, built: tuple[BuiltPlan, ...], draft: Path) -> tuple[PlanReport, ...]:
        """Return the plans as rows, timed step by step where they run here."""
        fusion = self._request.fusion
        found = []
        for each, sizes in zip(built, self._plans, strict=True):
            timed = None
            if not self.absent:
                timed = step_seconds(each.plan, self._compiled(draft), self._feeds(sizes)[0])
            row = plan_report(each, timed, self.backend, fusion)
            found.append(dataclasses.replace(row, transfers=transfers(each, self.backend)))
        return tuple(found)

    def proof(self, parity: VerifyReport, plans: Sequence[PlanReport]) -> str:
        """Return what proof.json holds: how near the plans are, how fast, how well foreseen."""
        steps = (step for plan in plans for step in plan.steps if step.kind == "kernel")
        proof = Proof(
            model=self.about.model,
            source_key=self.about.source_key,
            date=self.about.date,
            device=self.about.device,
            seed=self._request.seed,
            versions=self.about.versions,
            parity=parity,
            race=self.race,
            warnings=tuple(dict.fromkeys(self.warnings)),
            kernels=tuple(CompiledKernelTime(s.name, s.predicted_s, s.measured_s) for s in steps),
        )
        return records.text_of(records.document(proof, schema=SCHEMA))

    def _feeds(self, sizes: Sizes) -> tuple[Feeds, ...]:
        """Return what a plan is proved and timed with: the same each time."""
        request = self._request
        if request.given:
            return tuple(each for each in request.given if each.bindings == sizes)
        key = tuple(sizes.items())
        if key not in self._made:
            self._made[key] = fitting(
                request.model, bindings=sizes, seed=request.seed, samples=request.samples
            )
        return self._made[key]


def _absent(backend: Backend) -> str:
    """Return why what a back end builds cannot be run here; empty: it can."""
    try:
        missing = runner_for(backend.target).lacks(backend.requires)
    except MissingCapabilityError as error:
        return error.problem
    return f"here there is no {', '.join(missing)}" if missing else ""
