"""Predict what changes would do to a model, and check it by making and measuring them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.analyze import whatif as analysis
from burnish.analyze.scenario import Scenario
from burnish.analyze.simulate import simulate, trace_of
from burnish.analyze.transform import apply
from burnish.analyze.whatif import WhatIfReport
from burnish.core import files, units
from burnish.core.errors import CheckFailedError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.study.timeline import Recorded, TimelineRequest, recorded
from burnish.study.type_factors import with_type_factors
from burnish.study.whatif_check import CheckOptions, Checks, fusion_scenario
from burnish.trace import chrome


@dataclass(frozen=True, slots=True)
class WhatIfRequest:
    """What is asked about which inference."""

    timeline: TimelineRequest
    scenarios: tuple[Scenario, ...] = ()
    rules: tuple[str, ...] = ()
    """Fusion rules, each a scenario: all that it would fuse in the graph that is executed."""
    sweep: bool = False
    check: CheckOptions | None = None
    """None: nothing is changed and measured."""
    trace_out: Path | None = None
    """Where the timeline after the first scenario goes, for Perfetto; None: nowhere."""


def whatif(request: WhatIfRequest, *, progress: Progress = SILENT) -> WhatIfReport:
    """Return what each scenario would do; where asked for, with what it really did."""
    if request.check is not None and request.timeline.trace is not None:
        raise UsageError(
            "a recorded timeline cannot be changed and measured again",
            hint="give the model instead: burnish whatif MODEL --check",
        )
    sizes = {
        int(action.by)
        for scenario in request.scenarios
        for action in scenario.actions
        if action.do == "batch" and isinstance(action.by, float)
    }
    found = recorded(dataclasses.replace(request.timeline, batches=tuple(sorted(sizes))))
    progress.step("record", 1, 1, found.source)
    request = dataclasses.replace(request, scenarios=_scenarios(request, found))
    threads = request.timeline.options.threads
    if request.timeline.trace is None:
        found = with_type_factors(found, request.scenarios, threads=threads)
    outcomes = [analysis.outcome(scenario, found.setting) for scenario in request.scenarios]
    if request.trace_out is not None:
        _write_timeline(request.trace_out, request.scenarios[:1], found)
    notes: tuple[str, ...] = ()
    if request.check is not None:
        outcomes, notes = _checked(request, found, outcomes, progress)
    return report(found, outcomes, sweep=request.sweep, notes=notes)


def require_checked(report: WhatIfReport) -> None:
    """Raise if a change that was to be made and measured was not, or not well enough to tell."""
    open_ = [outcome for outcome in report.outcomes if outcome.error is None]
    if open_:
        raise CheckFailedError(
            f"{len(open_)} of {units.count(len(report.outcomes), 'scenario')} could not be checked:"
            f" {_why(open_[0])}",
            hint="check another change, or on a quieter machine: burnish whatif MODEL --check",
        )


def _why(outcome: analysis.Outcome) -> str:
    if outcome.checked is not None:
        return f"{outcome.scenario}: {outcome.checked.verdict} ({outcome.checked.note})"
    told = [note for note in outcome.notes if note.startswith("not checked")]
    return f"{outcome.scenario}: {told[0] if told else 'nothing was measured'}"


def _write_timeline(path: Path, scenarios: Sequence[Scenario], found: Recorded) -> None:
    graph = found.setting.graph
    for scenario in scenarios:
        graph = apply(scenario, found.setting).graph
    trace = trace_of(simulate(graph), source=f"simulated from {found.source}")
    files.write_text(path, chrome.text(trace))


def _scenarios(request: WhatIfRequest, found: Recorded) -> tuple[Scenario, ...]:
    model, options = request.timeline.model, request.timeline.options
    if request.rules and (model is None or request.timeline.trace is not None):
        raise UsageError(
            "--apply needs a model to look for places in", hint="burnish whatif MODEL --apply RULE"
        )
    fusing = (fusion_scenario(model, rule, options, found) for rule in request.rules if model)
    return (*request.scenarios, *fusing)


def report(
    found: Recorded, outcomes: Sequence[analysis.Outcome], *, sweep: bool, notes: tuple[str, ...]
) -> WhatIfReport:
    """Return what was found out about a recorded inference."""
    setting = found.setting
    return WhatIfReport(
        label=found.label,
        source=found.source,
        baseline_s=simulate(setting.graph).wall_s,
        denominators=found.denominators,
        correction=found.correction,
        paths=analysis.paths(setting),
        attributed=analysis.attributed(setting.graph, setting),
        device=setting.device.name if setting.device is not None else None,
        outcomes=tuple(outcomes),
        sweep=analysis.sweep(setting) if sweep else (),
        notes=(*found.notes, *notes),
    )


def _checked(
    request: WhatIfRequest,
    found: Recorded,
    outcomes: Sequence[analysis.Outcome],
    progress: Progress,
) -> tuple[list[analysis.Outcome], tuple[str, ...]]:
    assert request.check is not None
    assert request.timeline.model is not None
    assert found.feeds is not None
    done: list[analysis.Outcome] = []
    with Checks(request.timeline, found, request.check) as checks:
        for number, (scenario, one) in enumerate(zip(request.scenarios, outcomes, strict=True), 1):
            done.append(checks.check(scenario, one))
            progress.step("check", number, len(outcomes), scenario.name)
        return done, checks.notes
