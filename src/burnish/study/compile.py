"""Compile a model into a folder that runs by itself, handed out only if it computes the same."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import onnx_ir as ir

from burnish.codegen import folder as folders
from burnish.codegen.built import Built
from burnish.codegen.choice import Choose
from burnish.codegen.compiler import CompileOptions, Prepared, compile_prepared, keep_products
from burnish.codegen.compiler import prepare as prepare_model
from burnish.codegen.cpu.compile import compile_module
from burnish.codegen.cpu.target import Target, detect
from burnish.codegen.environment import about, default_threads, scheduler_machine
from burnish.codegen.folder import About
from burnish.codegen.predicted import Predicted
from burnish.core import records
from burnish.core.errors import CheckFailedError
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import EngineOptions
from burnish.engines.model_facts import arithmetic_type
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds
from burnish.parity.report import VerifyReport
from burnish.parity.verdict import verdict
from burnish.parity.verify import Subject, judge, verify
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.compile_report import SCHEMA, CompileReport, PlanReport, Proof
from burnish.study.compiled_steps import plan_report
from burnish.tile.partition import Fusion

ENGINE = "burnish"


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What is to be compiled, and how."""

    model: StoredModel
    target: Path
    shapes: tuple[Mapping[str, int], ...] = ()
    """One plan for each; empty: the model's own sizes, which must all be fixed."""
    fusion: Fusion = "full"
    skip_dot: bool = False
    threads: int | None = None
    samples: int = 3
    seed: int = 0
    words: tuple[str, ...] = field(default=())
    """The options as words, to be written down."""


class RejectedError(CheckFailedError):
    """The compiled model does not compute the same, and was not written."""

    def __init__(self, problem: str, *, hint: str, parity: VerifyReport) -> None:
        super().__init__(problem, hint=hint)
        self.parity = parity


def compile_model(request: CompileRequest, *, progress: Progress = SILENT) -> CompileReport:
    """Compile a model, prove that it computes the same, and write it; say what was done."""
    start = time.perf_counter()
    work = _Work(request, onnx_files.read(request.model.onnx), progress)
    built = tuple(work.built(sizes) for sizes in request.shapes or ({},))
    told = about(request.model, work.loaded, arithmetic_type(work.loaded), request.words)
    found: list[VerifyReport] = []
    measured: list[PlanReport] = []

    def accept(draft: Path) -> str:
        found.append(_proven(request, work.threads, draft, progress))
        measured.extend(
            plan_report(each, draft, number, work.feeds(sizes)[0], work.threads)
            for number, (each, sizes) in enumerate(zip(built, request.shapes or ({},), strict=True))
        )
        return _proof(told, request, found[0])

    folders.write(request.target, told, built, work.object_code, accept=accept)
    return CompileReport(
        model=request.model.label,
        source_key=told.source_key,
        folder=request.target,
        target=work.target.name,
        cpu=told.cpu,
        threads=work.threads,
        fusion=request.fusion,
        plans=tuple(measured),
        parity=found[0],
        seconds=time.perf_counter() - start,
    )


class _Work:
    """What all plans of a request share."""

    def __init__(self, request: CompileRequest, loaded: ir.Model, progress: Progress) -> None:
        self.loaded = loaded
        self.target: Target = detect()
        self.threads = request.threads or default_threads()
        self._request = request
        self._progress = progress
        self._choose: Choose = Predicted(scheduler_machine(self.threads), request.fusion)

    def built(self, sizes: Mapping[str, int]) -> Built:
        """Return the plan for one choice of sizes."""
        prepared: Prepared = prepare_model(self.loaded, sizes, self._progress)
        options = CompileOptions(self.target, self._choose, self._request.fusion)
        if self._request.skip_dot:
            options = dataclasses.replace(options, products=keep_products)
        built = compile_prepared(prepared, sizes, options)
        steps = f"{len(built.plan.kernel_steps)} kernels, {len(built.plan.library_steps)} parts"
        self._progress.step("plan", 1, 1, steps)
        return built

    def object_code(self, text: str) -> bytes:
        """Return the machine code of a kernel."""
        return compile_module(text, self.target).object_code

    def feeds(self, sizes: Mapping[str, int]) -> tuple[Feeds, ...]:
        """Return inputs to prove and to time a plan with."""
        return _feeds(self._request, sizes)


def _feeds(request: CompileRequest, sizes: Mapping[str, int]) -> tuple[Feeds, ...]:
    return choose(request.model, bindings=sizes, seed=request.seed, samples=request.samples)


def _proven(request: CompileRequest, threads: int, draft: Path, progress: Progress) -> VerifyReport:
    feeds = tuple(f for sizes in request.shapes or ({},) for f in _feeds(request, sizes))
    compiled = dataclasses.replace(request.model, compiled=draft)
    candidate = Subject(compiled, ENGINE, EngineOptions(threads=threads))
    parity = verify(judge(request.model), candidate, feeds, progress=progress)
    if not parity.passed:
        raise RejectedError(
            f"{request.target} was not written: {verdict(parity)}",
            hint="report it as a bug in burnish; --fusion none may compute the same",
            parity=parity,
        )
    return parity


def _proof(told: About, request: CompileRequest, parity: VerifyReport) -> str:
    proof = Proof(
        model=told.model,
        source_key=told.source_key,
        date=told.date,
        cpu=told.cpu,
        seed=request.seed,
        versions=told.versions,
        parity=parity,
    )
    return records.text_of(records.document(proof, schema=SCHEMA))
