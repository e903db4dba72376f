"""Look at a model from all sides, and say what to do next."""

from __future__ import annotations

from burnish.analyze import whatif as analysis
from burnish.analyze.advise import (
    AdviceFacts,
    AdviseReport,
    RefusedFusion,
    advise,
    limit_seconds,
    unmeasured,
)
from burnish.analyze.simulate import simulate
from burnish.analyze.whatif import Outcome
from burnish.core.errors import MissingCapabilityError
from burnish.core.progress import SILENT, Progress
from burnish.engines import onnxruntime_executed as executed
from burnish.engines.base import ENGINES
from burnish.process.scratch import scratch
from burnish.rewrite.fusions import FUSIONS
from burnish.rewrite.pipeline import optimize
from burnish.rewrite.result import RewriteReport
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.store.trust import is_runnable
from burnish.study.advise_changes import model_changes
from burnish.study.diagnosing import same_sizes
from burnish.study.recordings import require_model
from burnish.study.requests.looking import AdviseCommand
from burnish.study.timeline import Recorded, TimelineRequest, recorded, timeline_of
from burnish.study.whatif_check import ENGINE, fusion_scenario


def answer(asked: AdviseCommand, *, progress: Progress = SILENT) -> AdviseReport:
    """Return what to do next with a model, the largest expected gain first."""
    require_model(asked.model, "advise")
    return advise_on(timeline_of(asked, asked.model), progress=progress)


def advise_on(request: TimelineRequest, *, progress: Progress = SILENT) -> AdviseReport:
    """Return what to do next with a model on an engine, from one profile and one rewriting."""
    assert request.model is not None
    found = recorded(request)
    progress.step("advise", 1, 3, f"profiled on {request.engine}")
    rewriting = _rewriting(request, request.model)
    fusions = _fusions(request, found, rewriting) if request.engine == ENGINE else ()
    progress.step("advise", 2, 3, "looked for fusions")
    facts = AdviceFacts(
        model=str(request.model.onnx),
        engine=request.engine,
        fusions=fusions,
        refusals=tuple(
            RefusedFusion(miss.rule, miss.node, miss.reason, miss.remedy)
            for miss in rewriting.misses
        ),
        changes=model_changes(request, found) if request.engine == ENGINE else (),
        other_engines=_others(request),
        extra=same_sizes(request.shape, request.options.threads),
    )
    setting = found.setting
    report = AdviseReport(
        label=found.label,
        engine=request.engine,
        baseline_s=simulate(setting.graph).wall_s,
        limit_s=limit_seconds(setting),
        device=setting.device.name if setting.device is not None else None,
        advice=advise(setting, facts),
        notes=(*found.notes, *unmeasured(setting.device)),
    )
    progress.step("advise", 3, 3, f"{len(report.advice)} things to do")
    return report


def _rewriting(request: TimelineRequest, model: StoredModel) -> RewriteReport:
    """Return what rewriting finds in the graph that is executed; elsewhere in the model's own."""
    if request.engine != ENGINE:
        return optimize(onnx_files.read(model.onnx)).report
    with scratch("advise") as folder:
        path = folder / "executed.onnx"
        executed.save(model, request.options, path)
        return optimize(onnx_files.read(path)).report


def _fusions(
    request: TimelineRequest, found: Recorded, rewriting: RewriteReport
) -> tuple[tuple[str, Outcome], ...]:
    assert request.model is not None
    outcomes: list[tuple[str, Outcome]] = []
    fired = rewriting.fusion_counts
    for rule in (rule.name for rule in FUSIONS if rule.name in fired):
        try:
            scenario = fusion_scenario(request.model, rule, request.options, found)
        except MissingCapabilityError:
            continue
        outcomes.append((rule, analysis.outcome(scenario, found.setting)))
    return tuple(outcomes)


def _others(request: TimelineRequest) -> tuple[str, ...]:
    assert request.model is not None
    has_module = is_runnable(request.model)
    return tuple(
        name
        for name in ENGINES
        if name != request.engine
        and ENGINES[name].availability().ok
        and (has_module or not ENGINES[name].needs_torch_source)
    )
