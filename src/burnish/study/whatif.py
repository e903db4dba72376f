"""Predict what changes would do to a model, and check it by making and measuring them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from burnish.analyze import scenario
from burnish.analyze import whatif as analysis
from burnish.analyze.scenario import Scenario
from burnish.analyze.simulate import simulate, trace_of
from burnish.analyze.transform import apply
from burnish.analyze.whatif import WhatIfReport
from burnish.core import files, settings, units
from burnish.core.errors import CheckFailedError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.study.recordings import is_timeline
from burnish.study.requests.looking import WhatIfCommand
from burnish.study.requests.vocabulary import AnyModel, path
from burnish.study.timeline import Recorded, TimelineRequest, recorded, timeline_of
from burnish.study.type_factors import with_type_factors
from burnish.study.whatif_check import HISTORY, CheckOptions, Checks, fusion_scenario
from burnish.trace import chrome, foreign


def answer(asked: WhatIfCommand, *, progress: Progress = SILENT) -> WhatIfReport:
    """Return what each scenario would do; where asked for, with what it really did."""
    scenarios = _asked_scenarios(asked)
    request = _timeline(asked)
    _require_sense(asked, scenarios, request)
    sizes = {
        int(action.by)
        for one in scenarios
        for action in one.actions
        if action.do == "batch" and isinstance(action.by, float)
    }
    found = recorded(dataclasses.replace(request, batches=tuple(sorted(sizes))))
    progress.step("record", 1, 1, found.source)
    if request.model is not None:
        fused = (fusion_scenario(request.model, r, request.options, found) for r in asked.apply)
        scenarios = (*scenarios, *fused)
    if request.trace is None:
        found = with_type_factors(found, scenarios, threads=request.options.threads)
    outcomes = [analysis.outcome(one, found.setting) for one in scenarios]
    if (target := path(asked.trace_out)) is not None:
        _write_timeline(target, scenarios[:1], found)
    notes: tuple[str, ...] = ()
    if asked.measure:
        options = CheckOptions(history=settings.read().cache / HISTORY)
        with Checks(request, found, options) as checks:
            outcomes = _checked(checks, scenarios, outcomes, progress)
            notes = checks.notes
    return report(found, outcomes, sweep=asked.sweep, notes=notes)


def require(asked: WhatIfCommand, report: WhatIfReport) -> None:
    """Raise if a change that was to be made and measured was not, or not well enough to tell."""
    unsure = [outcome for outcome in report.outcomes if outcome.error is None]
    if asked.measure and unsure:
        raise CheckFailedError(
            f"{len(unsure)} of {units.count(len(report.outcomes), 'scenario')} could not be"
            f" measured: {_why(unsure[0])}",
            hint="measure another change, or on a quieter machine: burnish whatif MODEL --measure",
        )


def _why(outcome: analysis.Outcome) -> str:
    if outcome.checked is not None:
        return f"{outcome.scenario}: {outcome.checked.verdict} ({outcome.checked.note})"
    told = [note for note in outcome.notes if note.startswith("not checked")]
    return f"{outcome.scenario}: {told[0] if told else 'nothing was measured'}"


def _timeline(asked: WhatIfCommand) -> TimelineRequest:
    """Return which inference is meant: a recorded one, or one of a model that is run now."""
    trace = _recording(asked.subject)
    found = timeline_of(asked, asked.model if trace else asked.subject)
    return dataclasses.replace(
        found,
        trace=trace,
        options=dataclasses.replace(found.options, graph_level=asked.graph_level),
        groups=tuple(Path(one) for one in asked.groups),
    )


def _recording(subject: AnyModel) -> Path | None:
    """Return the file that a timeline is to be read from; one that holds none says so then."""
    if not isinstance(subject, str | os.PathLike):
        return None
    place = Path(subject)
    called_so = place.is_file() and foreign.is_called_so(place)
    return place if called_so or is_timeline(place) else None


def _asked_scenarios(asked: WhatIfCommand) -> tuple[Scenario, ...]:
    """Return the options of one command as one scenario, then those of the files."""
    changes = {
        "scale": asked.scale, "set": asked.set, "remove": asked.remove, "fuse": asked.fuse,
        "precision": asked.cast, "roofline": asked.roofline,
    }  # fmt: skip
    actions = [scenario.option(do, text) for do, texts in changes.items() for text in texts]
    if asked.batch is not None:
        actions.append(scenario.action("batch", by=float(asked.batch)))
    actions += [scenario.action("overlap")] if asked.overlap else []
    actions += [scenario.action("cuda-graph")] if asked.cuda_graph else []
    given = (Scenario("as asked", tuple(actions)),) if actions else ()
    return (*given, *(one for file in asked.scenario for one in scenario.read(Path(file))))


def _require_sense(
    asked: WhatIfCommand, scenarios: Sequence[Scenario], request: TimelineRequest
) -> None:
    if not scenarios and not asked.apply and not asked.sweep:
        raise UsageError(
            "nothing is asked about",
            hint="ask about every operator: add --sweep; or --scale WHAT=2",
        )
    if asked.measure and request.trace is not None:
        raise UsageError(
            "a recorded timeline cannot be changed and measured again",
            hint="give the model instead: burnish whatif MODEL --measure",
        )
    if asked.apply and (request.model is None or request.trace is not None):
        raise UsageError(
            "--apply needs a model to look for places in", hint="burnish whatif MODEL --apply RULE"
        )


def _write_timeline(target: Path, scenarios: Sequence[Scenario], found: Recorded) -> None:
    graph = found.setting.graph
    for one in scenarios:
        graph = apply(one, found.setting).graph
    trace = trace_of(simulate(graph), source=f"simulated from {found.source}")
    files.write_text(target, chrome.text(trace))


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
    checks: Checks,
    scenarios: Sequence[Scenario],
    outcomes: Sequence[analysis.Outcome],
    progress: Progress,
) -> list[analysis.Outcome]:
    done: list[analysis.Outcome] = []
    for one, outcome in zip(scenarios, outcomes, strict=True):
        done.append(checks.check(one, outcome))
        progress.step("check", len(done), len(outcomes), one.name)
    return done
