"""Check that a model, or an engine, computes what another does."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from burnish.core.backends import BACKENDS, DEFAULT_TARGET, backend_of
from burnish.core.errors import CheckFailedError, UsageError
from burnish.core.precisions import MODES
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import EngineOptions
from burnish.parity import request as parity
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest
from burnish.parity.subject import JUDGE
from burnish.parity.tolerances import Tolerances
from burnish.parity.verdict import verdict
from burnish.runtime import folder
from burnish.store.stored import StoredModel
from burnish.study.given import models_of
from burnish.study.requests.judging import VerifyCommand
from burnish.study.requests.line import line
from burnish.study.requests.vocabulary import path, shapes

Sizes = Mapping[str, int]


def answer(asked: VerifyCommand, *, progress: Progress = SILENT) -> VerifyReport:
    """Return how far the two are apart, tensor by tensor, and whether that is allowed."""
    _refuse_a_model_as_engine(asked)
    reference, *others = models_of([asked.model, asked.candidate], asked.store, asked.trust_factory)
    judged = others[0] if others else reference
    engine, sizes = _runs(judged, asked)
    request = VerifyRequest(
        reference=reference,
        candidate=others[0] if others else None,
        engine=engine,
        against=asked.against,
        options=EngineOptions(threads=asked.threads, allow_fallback=asked.allow_fallback),
        shapes=sizes,
        samples=asked.samples,
        seed=asked.seed,
        padding=asked.padding,
        data=path(asked.data),
        recorded=asked.recorded,
        tolerances=Tolerances(asked.tolerance or _mode(judged), asked.atol, asked.rtol),
        bisect=asked.bisect,
        budget_s=asked.budget or 0.0,
    )
    return parity.answer(request, progress=progress)


def _refuse_a_model_as_engine(asked: VerifyCommand) -> None:
    """Tell who gives a model where an engine is meant how two models are compared."""
    if Path(asked.against).exists() and asked.candidate is None:
        two = replace(asked, model=asked.against, candidate=asked.model, against=JUDGE)
        raise UsageError(
            f"--against names an engine, and {asked.against} is a file",
            hint=f"compare two models: {line(two)}",
        )


def _runs(candidate: StoredModel, asked: VerifyCommand) -> tuple[str, tuple[Sizes, ...]]:
    """Return what runs a candidate, at which sizes: a compiled folder has kernels for some only."""
    wanted = shapes(asked.shape)
    if candidate.compiled is None:
        return asked.engine or JUDGE, wanted
    engine = asked.engine or _engine_of(candidate.compiled)
    if wanted or asked.data is not None or engine not in {e.engine for e in BACKENDS.values()}:
        return engine, wanted
    return engine, tuple(plan.sizes for plan in folder.read(candidate.compiled).plans)


def _engine_of(compiled: Path) -> str:
    """Return the engine that runs a compiled folder; one without kernels runs anywhere."""
    return backend_of(folder.read_table(compiled).target or DEFAULT_TARGET).engine


def _mode(candidate: StoredModel) -> str | None:
    """Return how a folder multiplies f32 where that was asked for when it was compiled."""
    if candidate.compiled is None:
        return None
    precision = folder.read(candidate.compiled).about.precision
    return precision if precision in MODES else None


def require(asked: VerifyCommand, report: VerifyReport) -> None:
    """Raise if the two do not compute the same, with what to do about it."""
    if not report.passed:
        raise CheckFailedError(verdict(report), hint=_hint(asked, report))


def _hint(asked: VerifyCommand, report: VerifyReport) -> str:
    model, *more = (shlex.quote(str(one)) for one in (asked.model, asked.candidate) if one)
    candidate = more[0] if more else model
    culprit = report.bisection.culprit if report.bisection else None
    if report.crash is not None:
        return f"a rewrite may avoid it: burnish optimize {candidate} -o rewritten.onnx"
    if culprit is not None and culprit.rule:
        disable = f"--disable {culprit.rule}"
        return f"leave out the rule: burnish optimize {model} -o {candidate} {disable}"
    if culprit is not None:
        return f"look at {culprit.op_type} {culprit.node!r}: burnish model show {candidate}"
    if report.worst is None or report.bisection or asked.recorded:
        return f"see what it takes and gives: burnish model show {candidate}"
    return f"find the node where they part: {line(asked, '--bisect')}"
