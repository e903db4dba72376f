"""From the options of `burnish whatif` to what is asked of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from burnish.analyze import scenario
from burnish.analyze.scenario import Scenario
from burnish.cli import options
from burnish.cli.models import resolved
from burnish.core import settings
from burnish.core.errors import UsageError
from burnish.engines.base import EngineOptions
from burnish.study.profiling import is_timeline
from burnish.study.timeline import TimelineRequest
from burnish.study.whatif import WhatIfRequest
from burnish.study.whatif_check import HISTORY, CheckOptions

_TRACES = (".json", ".gz", ".sqlite", ".db")
_CHANGES = ("scale", "set", "remove", "fuse", "precision", "roofline")


def request_of(target: str, asked: dict[str, Any], *, sweep: bool, check: bool) -> WhatIfRequest:
    """Return what a command line asks; a question it must have."""
    scenarios = scenarios_of(asked)
    if not scenarios and not asked["rules"] and not sweep:
        raise UsageError(
            "nothing is asked about",
            hint="ask about every operator: add --sweep; or --scale WHAT=2",
        )
    history = settings.read().cache / HISTORY
    return WhatIfRequest(
        timeline=timeline_of(target, asked),
        scenarios=scenarios,
        rules=asked["rules"],
        sweep=sweep,
        check=CheckOptions(history=history) if check else None,
        trace_out=asked["trace_out"],
    )


def scenarios_of(asked: dict[str, Any]) -> tuple[Scenario, ...]:
    """Return the options of one command as one scenario, then those of the files."""
    actions = [scenario.option(do, text) for do in _CHANGES for text in asked[do]]
    if asked["batch"] is not None:
        actions.append(scenario.action("batch", by=float(asked["batch"])))
    actions += [scenario.action(do) for do in ("overlap",) if asked["overlap"]]
    actions += [scenario.action("cuda-graph")] if asked["cuda_graph"] else []
    given = (Scenario("as asked", tuple(actions)),) if actions else ()
    return (*given, *(one for file in asked["files"] for one in scenario.read(file)))


def timeline_of(target: str, asked: dict[str, Any]) -> TimelineRequest:
    """Return which inference is meant: a recorded one, or one of a model that is run now."""
    path = Path(target)
    known = path.is_file() and path.suffix in _TRACES
    trace = path if known or is_timeline(target) else None
    name = asked.get("model") if trace is not None else target
    return TimelineRequest(
        model=resolved([name], asked)[0] if name else None,
        trace=trace,
        engine=asked["engine"],
        options=EngineOptions(
            threads=asked["threads"], graph_level=asked.get("graph_level") or "all"
        ),
        bindings=options.bindings(asked["shape"]),
        data=asked["data"],
        seed=asked["seed"],
        padding=asked["padding"],
        hw=asked["hw"],
        cache=settings.read().cache,
        groups=asked.get("groups", ()),
    )
