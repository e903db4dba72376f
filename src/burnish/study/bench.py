"""Measure models on engines, all with the same inputs, and judge what they compute."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence

from burnish.bench import choose
from burnish.bench.evidence import FEWEST_ROUNDS
from burnish.bench.measure import SCHEMA, BenchReport, MachineState
from burnish.bench.quiet import OPENING_S
from burnish.bench.verdict import require_sound
from burnish.core import files, records, units
from burnish.core.errors import UsageError
from burnish.core.hashing import value_key
from burnish.core.progress import SILENT, Progress
from burnish.engines import fallback
from burnish.engines.base import ENGINES
from burnish.engines.modes import name_and_mode
from burnish.store.stored import StoredModel
from burnish.study.clock import Clock, Kind, Overall
from burnish.study.given import variants_of
from burnish.study.in_turn import InTurn
from burnish.study.kept import KnownCells
from burnish.study.kept_results import with_results
from burnish.study.matrix import CellGroup, groups
from burnish.study.measuring import CellPlan, here, needed, planned, require_baseline
from burnish.study.ray_workers import Cluster, connected, shipped
from burnish.study.requests.judging import BenchCommand
from burnish.study.requests.line import line
from burnish.study.requests.vocabulary import names, path

_SECONDS_PER_CELL = 30.0
_NUMBER = re.compile(r"(?<![\w.=-])\d+(?:\.\d+)?s?(?![\w=])")
"""A number or a time that stands by itself: not part of a name, and no size."""


def answer(asked: BenchCommand, *, progress: Progress = SILENT) -> BenchReport:
    """Return how fast each model is on each engine, how sure that is, and whether it is right.

    Every combination of sizes, types and threads is measured by itself, and has rows and a
    baseline of its own. What the ledger has of them is not measured again, unless that is asked.
    """
    for name, _ in map(name_and_mode, names(asked.engine)):
        fallback.require(ENGINES[name])
    return measured_matrix(asked, progress=progress)


def measured_matrix(asked: BenchCommand, *, progress: Progress = SILENT) -> BenchReport:
    """Return what is asked; an engine that is not here has rows that say so."""
    engines = names(asked.engine)
    models = variants_of(asked.model, asked.store, asked.trust_factory)
    if not models:
        raise UsageError("there is nothing to measure", hint="name a model: burnish bench MODEL")
    kept = KnownCells(asked.ledger, again=asked.again)
    if asked.workers is None:
        found, told, plans = _measured(asked, models, kept, progress, None)
    else:
        with connected(asked.workers) as cluster:
            found, told, plans = _measured(asked, models, kept, progress, cluster)
    rerun = line(asked)
    left_out = choose.left_out(models, engines, rerun)
    report = _together(found, (*left_out, *told, *kept.notes), rerun)
    if (target := path(asked.output)) is not None:
        report = with_results(report, plans) if asked.verify else report
        files.write_text(target, records.text_of(records.document(report, schema=SCHEMA)))
    return report


def require(asked: BenchCommand, report: BenchReport) -> None:
    """Raise if a subject could not be measured, or is wrong.

    What cannot be had, as 8-bit integers of an engine that has none or what the budget did not
    reach, is a row and no failure; unless there is nothing else. So is what an engine that nobody
    asked for cannot run.
    """
    had = tuple(one for one in report.measurements if one.status not in ("unsupported", "no time"))
    kept = dataclasses.replace(report, measurements=had or report.measurements)
    require_sound(kept, chosen=bool(asked.engine) or not had)


def _measured(
    asked: BenchCommand,
    models: Sequence[StoredModel],
    kept: KnownCells,
    progress: Progress,
    cluster: Cluster | None,
) -> tuple[list[BenchReport], list[str], list[CellPlan]]:
    """Return the rows of every group that the budget reached, what to know of them, and cells."""
    matrix, notes = groups(asked, models)
    state = here() if cluster is None else cluster.state
    plans = _planned(asked, matrix, state, progress)
    others = require_baseline(asked, plans)
    cells = sum(len(plan.tasks) for plan in plans)
    begun = sum(len(kept.known(plan.tasks)) for plan in plans)
    finishing = begun == cells and cluster is None
    known = sum(len(kept.finished(plan.tasks)) for plan in plans) if finishing else begun
    clock = Clock(asked.budget, _SECONDS_PER_CELL, cells - known, finishing=finishing)
    if clock.cells:
        Overall(progress, clock, 1).step("bench", 0, 1, f"{units.count(len(plans), 'group')}")
    if short := _too_short(asked, plans, kept):
        progress.step("budget", 1, 1, short[0])
    if cluster is not None:
        _sent_out(asked, plans, kept, clock, cluster, progress)
    found = InTurn(asked, kept, clock, progress).rows(plans)
    done = units.count(clock.done, "cell")
    progress.step("bench", 1, 1, f"{done} measured in {units.seconds(clock.spent_s)}")
    unlike = () if cluster is None else cluster.notes
    return found, [*notes, *others, *unlike, *short, *_told(clock, kept, known)], plans


def _too_short(asked: BenchCommand, plans: Sequence[CellPlan], kept: KnownCells) -> list[str]:
    """Return a note if the budget allows no verdict; the first group has one process each."""
    sizes = [len(chosen) for plan in plans if (chosen := needed(plan, kept))]
    cell_s = min(asked.rounds, FEWEST_ROUNDS) * OPENING_S
    if not asked.budget or not sizes or sizes[0] * cell_s <= asked.budget:
        return []
    note = (
        f"the budget of {asked.budget:g} s is too short for verdicts even of the first group: to "
        f"start the processes of {units.count(sizes[0], 'cell')} takes about "
        f"{sizes[0] * cell_s:.0f} s; all of them want --budget {math.ceil(sum(sizes) * cell_s)}s "
        f"or more"
    )
    return [note]


def _planned(
    asked: BenchCommand, matrix: Sequence[CellGroup], state: MachineState, progress: Progress
) -> list[CellPlan]:
    plans = []
    for number, group in enumerate(matrix):
        progress.step("plan", number, len(matrix), group.models[0].label)
        plans.append(planned(asked, group, state))
    return plans


def _sent_out(
    asked: BenchCommand,
    plans: Sequence[CellPlan],
    kept: KnownCells,
    clock: Clock,
    cluster: Cluster,
    progress: Progress,
) -> None:
    """Have a cluster measure what is missing, and keep each group as it comes."""
    chosen = {id(plan): needed(plan, kept) for plan in plans}
    kinds = {id(plan): [plan.kind(name) for name in chosen[id(plan)]] for plan in plans}
    every = [kind for group in kinds.values() for kind in group]
    missing = {id(plan): len(plan.tasks) - len(kept.known(plan.tasks)) for plan in plans}
    work = [
        shipped(asked, plan, chosen[id(plan)], _part_s(clock, kinds[id(plan)], every, cluster))
        for plan in plans
        if chosen[id(plan)]
    ]
    for plan, cells in cluster.measured(work):
        kept.add(cells)
        clock.done += missing[id(plan)]
        Overall(progress, clock, 1).step("bench", 0, 1, plan.baseline)


def _part_s(clock: Clock, kinds: Sequence[Kind], every: Sequence[Kind], cluster: Cluster) -> float:
    """Return a group's share of the time of all nodes."""
    whole_s = clock.share_s(every) * len(cluster.nodes)
    return whole_s * len(kinds) / max(1, len(every))


def _told(clock: Clock, kept: KnownCells, known: int) -> list[str]:
    notes = []
    if known:
        notes.append(
            f"{units.count(known, 'cell')} measured before, from {kept.path}; --again measures anew"
        )
    left = clock.cells - clock.done
    if left:
        notes.append(
            f"the budget of {clock.budget_s:g} s ended after {clock.done} of {clock.cells} cells; "
            "the same command goes on with the rest"
        )
    return notes


def _together(found: Sequence[BenchReport], told: tuple[str, ...], rerun: str) -> BenchReport:
    """Return one report of all groups; each comparison is with the baseline of its own group."""
    first = found[0]
    every = [row.subject for one in found for row in one.measurements]
    assert len(set(every)) == len(every), "a name belongs to one row: figures are looked up by it"
    notes = (*told, *(note for one in found for note in one.notes))
    warnings = alike_once([text for one in found for text in one.machine.warnings])
    keys = [one.inputs_key for one in found]
    return dataclasses.replace(
        first,
        measurements=tuple(row for one in found for row in one.measurements),
        comparisons=tuple(row for one in found for row in one.comparisons),
        machine=dataclasses.replace(first.machine, warnings=warnings),
        inputs_key=keys[0] if len(keys) == 1 else value_key(keys),
        notes=alike_once(notes),
        rerun=rerun,
        parity={label: mark for one in found for label, mark in one.parity.items()},
    )


def alike_once(texts: Sequence[str]) -> tuple[str, ...]:
    """Return texts each once; of those that differ in numbers only, the one with the largest.

    Groups that follow each other say nearly the same.
    """
    alike: dict[str, dict[str, None]] = {}
    for text in texts:
        alike.setdefault(_NUMBER.sub("#", text), {})[text] = None
    return tuple(
        max(same, key=_largest) + (f" (of {len(same)} such)" if len(same) > 1 else "")
        for same in alike.values()
    )


def _largest(text: str) -> float:
    found = re.findall(r"\d+(?:\.\d+)?", text)
    return max(map(float, found), default=0.0)
