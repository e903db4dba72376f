"""A study's table and drawings from a ledger, without its models and its machine.

    python benchmarks/study_table.py STUDY.toml LEDGER.sqlite -o FOLDER [--own burnish-cuda]
        [--names h200]

For studies that were measured on a machine that was lent: its ledger came back, the models did not.
Of each model at each size the cells count that were measured last in the most processes, each
compared with the baseline that took turns with it; of a group that was ended, the rounds that it
had (marked ², and told). Writes `table.md` (a row for each group: the
median of a call on each engine in ms, and how many times faster `--own`, else the last engine, is
than the best other; then what can be said of all of them, and what is missing) and the drawings.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import statistics
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from side_by_side import stored_name

from burnish.bench.cells import Finished, LedgerRow
from burnish.bench.evidence import FEWEST_ROUNDS
from burnish.bench.figures import figures_in
from burnish.bench.ledger import Ledger
from burnish.bench.measure import BenchReport, Measurement
from burnish.bench.recorded import report_of
from burnish.report import studied, study_page
from burnish.report.overall import overall
from burnish.study.study_file import StudyFile, read

ONE, CUT_OFF, OVERLAP, WRONG = " ¹", " ²", ", intervals overlap", "wrong"
NOTHING = "–"


@dataclasses.dataclass(frozen=True)
class Group:
    """One model at one size, and what is known of it by engine."""

    model: str
    sizes: Mapping[str, int]
    cells: Mapping[str, Finished]
    cut_off: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """By engine, the rounds of cells that are not finished."""

    @property
    def size(self) -> str:
        """Return the size in words."""
        return ", ".join(f"{name} {size:,}" for name, size in self.sizes.items())


def groups_of(study: StudyFile, ledger: Ledger, *, small: bool = False) -> list[Group]:
    """Return every group of a study with the cells that count."""
    finished = [Known.of(row) for row in ledger.rows()]
    begun = [
        Known.begun(cell, group.rounds) for group in ledger.begun() for cell in group.cells.values()
    ]
    found = []
    for model in study.models:
        name = stored_name(model, small=small)
        own = [one for one in (*begun, *finished) if one.model.partition("/")[0] == name]
        for sizes in model.sizes or [{"batch": batch} for batch in study.batch]:
            # sizes that nobody named are bound, too
            alike = [one for one in own if sizes.items() <= one.bindings.items()]
            best = {one.engine: one for one in sorted(alike, key=lambda one: one.rank)}
            chosen = {engine: best[engine] for engine in study.engines if engine in best}
            found.append(
                Group(
                    model.name,
                    sizes,
                    {engine: one.cell or ledger.finished(one.id) for engine, one in chosen.items()},
                    {engine: one.rounds for engine, one in chosen.items() if one.cell is not None},
                )
            )
    return found


@dataclasses.dataclass(frozen=True)
class Known:
    """One cell that may count."""

    model: str
    engine: str
    bindings: Mapping[str, int]
    rank: tuple[bool, int, bool, int]
    """What failed for want of something may have been had another time; what is finished counts
    more than what is not, if it has as many processes."""
    id: int = 0
    cell: Finished | None = None
    """Of a group that is not finished."""
    rounds: int = 0

    @classmethod
    def of(cls, row: LedgerRow) -> Known:
        """Return a finished cell."""
        rank = (*_had(row.status, row.figures.processes), True, row.id)
        return cls(row.model, row.engine, row.bindings, rank, row.id)

    @classmethod
    def begun(cls, cell: Finished, rounds: int) -> Known:
        """Return a cell of a group that was ended after so many rounds."""
        rank = (*_had(cell.status, cell.figures.processes), False, 0)
        task = cell.task
        return cls(cell.model, task.engine, task.bindings, rank, cell=cell, rounds=rounds)


def _had(status: str, processes: int) -> tuple[bool, int]:
    return status in ("ok", "wrong"), min(processes, FEWEST_ROUNDS)


def report(study: StudyFile, groups: Sequence[Group], ledger: Ledger) -> BenchReport:
    """Return one benchmark of all groups; those without a baseline are left out."""
    base = study.engines[0]
    parts = []
    for group in groups:
        if base not in group.cells:
            continue
        named = {f"{group.model} {engine} {group.size}": one for engine, one in group.cells.items()}
        first = group.cells[base]
        anchors = {first.session: first} | _anchors(group, ledger, first)
        name = next(name for name, one in named.items() if one is first)
        parts.append(report_of(named, anchors, baseline=name, seed=0))
    if not parts:
        raise SystemExit("the ledger has no group of this study with its baseline")
    return dataclasses.replace(
        parts[0],
        measurements=tuple(row for one in parts for row in one.measurements),
        comparisons=tuple(row for one in parts for row in one.comparisons),
        parity={name: mark for one in parts for name, mark in one.parity.items()},
        notes=(),
    )


def _anchors(group: Group, ledger: Ledger, first: Finished) -> dict[str, Finished]:
    """Return the baseline of every other session that a group's cells come from."""
    sessions = {cell.session for cell in group.cells.values()} - {first.session}
    found = {
        one.session: cell
        for one in ledger.begun()
        for cell in one.cells.values()
        if one.session in sessions and cell.task.key == first.task.key
    }
    for session in sessions - set(found):
        rows = [row for row in ledger.rows(session=session) if row.engine == first.task.engine]
        if rows:
            found[session] = ledger.finished(rows[0].id)
    return found


def table(study: StudyFile, groups: Sequence[Group], bench: BenchReport, own: str) -> list[str]:
    """Return the lines of the table in Markdown."""
    head = ["model", "size", *study.engines, f"{own} over the best other"]
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "--:|" * (len(head) - 2)]
    for group in groups:
        shown = [_shown(group, engine, bench) for engine in study.engines]
        lines.append(f"| {group.model} | {group.size} | {' | '.join(shown)} | "
                     f"{_over_best(group, own, bench)[0]} |")  # fmt: skip
    return lines


def _row(group: Group, engine: str, bench: BenchReport) -> Measurement | None:
    name = f"{group.model} {engine} {group.size}"
    return next((one for one in bench.measurements if one.subject == name), None)


def _shown(group: Group, engine: str, bench: BenchReport) -> str:
    one = _row(group, engine, bench)
    if one is None:
        return NOTHING
    if one.status != "ok":
        return one.status
    median_s = figures_in(bench, one).median_s
    if median_s is None:
        return NOTHING
    mark = ONE if len(one.launches) < FEWEST_ROUNDS else ""
    return f"{median_s * 1e3:.3g}{mark}{CUT_OFF if engine in group.cut_off else ''}"


def _over_best(group: Group, own: str, bench: BenchReport) -> tuple[str, float | None]:
    """Return how many times faster than the best other, and against which."""
    rows = {engine: _row(group, engine, bench) for engine in group.cells}
    sound = {
        engine: figures_in(bench, one)
        for engine, one in rows.items()
        if one is not None and one.status == "ok"
    }
    times = {engine: one for engine, one in sound.items() if one.median_s is not None}
    others = {engine: one for engine, one in times.items() if engine != own}
    if own not in times or not others:
        return NOTHING, None
    best = min(others, key=lambda engine: others[engine].median_s or math.inf)
    mine, other = times[own], others[best]
    assert mine.median_s is not None
    assert other.median_s is not None
    ratio = other.median_s / mine.median_s
    alone = min(mine.processes, other.processes) < FEWEST_ROUNDS
    bounds = (mine.low_s, mine.high_s, other.low_s, other.high_s)
    meet = not alone and (None in bounds or not _apart(*bounds))  # type: ignore[arg-type]
    mark = ONE if alone else OVERLAP if meet else ""
    return f"{ratio:.2f}×{mark} ({best})", ratio


def _apart(low: float, high: float, other_low: float, other_high: float) -> bool:
    return high < other_low or other_high < low


def said(study: StudyFile, groups: Sequence[Group], bench: BenchReport, own: str) -> list[str]:
    """Return what can be said of all groups together."""
    cells = [one for group in groups for one in group.cells.values()]
    ratios = {f"{group.model} {group.size}": _over_best(group, own, bench)[1] for group in groups}
    known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    lines = []
    if known:
        least, most = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        lines.append(
            f"{own} over the best other: {statistics.geometric_mean(known.values()):.2f}× in the "
            f"geometric mean of {len(known)} groups, {known[least]:.2f}× ({least}) to "
            f"{known[most]:.2f}× ({most}); fastest in {sum(r > 1 for r in known.values())}"
        )
    on_card = [ratio for group in groups if (ratio := _card_ratio(group, own))]
    if on_card:
        lines.append(
            f"between events on the card: {statistics.geometric_mean(on_card):.2f}× of "
            f"{len(on_card)} groups, {min(on_card):.2f}× to {max(on_card):.2f}×"
        )
    lines += [" | ".join(cell.text for cell in row) for row in overall(bench).rows]
    lines.append(f"verdicts: {dict(Counter(one.verdict.value for one in bench.comparisons))}")
    lines.append(f"cells: {len(cells)} of {len(groups) * len(study.engines)}, "
                 f"{dict(Counter(cell.status for cell in cells))}, processes "
                 f"{dict(Counter(cell.figures.processes for cell in cells))}")  # fmt: skip
    times = sorted(cell.measured_at for cell in cells)
    lines.append(f"measured from {times[0]} to {times[-1]}; {dict(bench.machine.versions)}")
    return lines


def _card_ratio(group: Group, own: str) -> float | None:
    """Return the same on the card's own clock, of engines that have one and are right."""
    times = {
        engine: cell.figures.card_s
        for engine, cell in group.cells.items()
        if cell.status == "ok" and cell.figures.card_s
    }
    mine = times.pop(own, None)
    return min(times.values()) / mine if mine and times else None  # type: ignore[type-var]


def reasons(study: StudyFile, groups: Sequence[Group]) -> list[str]:
    """Return what is missing, and why what has no figures has none."""
    lines = []
    for group in groups:
        missing = [engine for engine in study.engines if engine not in group.cells]
        if missing:
            lines.append(f"{group.model} {group.size}: not measured: {', '.join(missing)}")
        if group.cut_off:
            rounds = max(group.cut_off.values())
            lines.append(
                f"{group.model} {group.size}:{CUT_OFF} cut off in round {rounds + 1}: "
                f"{', '.join(group.cut_off)}"
            )
        lines += [
            f"{group.model} {group.size} {engine}: {cell.status}: {cell.reason[:300]}"
            for engine, cell in group.cells.items()
            if cell.status != "ok"
        ]
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", type=Path)
    parser.add_argument("ledger", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--own", default="", help="the engine that is set against the best other")
    parser.add_argument("--names", default="study", help="how the drawings' names begin")
    parser.add_argument("--small", action="store_true", help="what the file says under [small]")
    asked = parser.parse_args(arguments)
    study, ledger = read(asked.study, small=asked.small), Ledger(asked.ledger)
    groups = groups_of(study, ledger, small=asked.small)
    bench = report(study, groups, ledger)
    asked.output.mkdir(parents=True, exist_ok=True)
    own = asked.own or study.engines[-1]
    lines = [*table(study, groups, bench, own), "", *said(study, groups, bench, own), ""]
    (asked.output / "table.md").write_text("\n".join([*lines, *reasons(study, groups)]) + "\n")
    for plot in studied.plots(bench, study.draw):
        name = f"{asked.names}-{plot.name}.svg"
        (asked.output / name).write_text(study_page.drawing(plot))
    sys.stdout.write((asked.output / "table.md").read_text())


if __name__ == "__main__":
    main()
