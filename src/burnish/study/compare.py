"""Compare what was measured and stored at two times, on one machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from burnish.bench.across import changes, compare_each, pairs, require_same_machine
from burnish.bench.measure import SCHEMA as BENCH
from burnish.bench.measure import BenchReport, Comparison
from burnish.bench.sound import differing, require_sound, unlike
from burnish.bench.stats import Interval, median_interval
from burnish.core import records
from burnish.core.errors import ModelError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.study.kept_results import apart
from burnish.study.requests.guarding import CompareCommand
from burnish.study.requests.line import joined

SCHEMA = 1

APART = (
    "they were measured at different times, and what changed on the machine meanwhile is in no"
    " interval; side by side is surer: {command}"
)


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One subject at two times."""

    comparison: Comparison
    engine: str
    before: Interval | None
    after: Interval | None
    """The typical call, in seconds; None: there are no samples."""


@dataclass(frozen=True, slots=True)
class CompareReport:
    """How two stored benchmarks compare; ratios above 1 mean that the second is faster."""

    before: str
    after: str
    before_date: str
    after_date: str
    rows: tuple[ComparedRow, ...]
    notes: tuple[str, ...]


def answer(asked: CompareCommand, *, progress: Progress = SILENT) -> CompareReport:
    """Return how B compares with A, from their samples."""
    _require_measured(asked)
    before, after = stored(asked.a), stored(asked.b)
    files = [one.measurements[0].file for one in (before, after)]
    again = joined("bench", *dict.fromkeys(files))
    require_same_machine(before.machine, after.machine, f"measure both here: {again}")
    both = list(pairs(before, after))
    rows = tuple(
        ComparedRow(
            comparison,
            other.engine,
            median_interval(one.blocks) if one.blocks else None,
            median_interval(other.blocks) if other.blocks else None,
        )
        for comparison, (one, other) in zip(compare_each(both), both, strict=True)
    )
    if not rows:
        raise UsageError(
            f"{asked.a} and {asked.b} have no subject in common",
            hint=f"measure both on the same engines: {again}",
        )
    progress.step("compare", len(rows), len(rows))
    return CompareReport(
        before=str(asked.a),
        after=str(asked.b),
        before_date=before.machine.date,
        after_date=after.machine.date,
        rows=rows,
        notes=(
            *unlike(before, after),
            *(note for pair in both for note in differing(*pair)),
            *(note for pair in both for note in apart(before, after, *pair)),
            *changes(before.machine, after.machine),
            APART.format(command=again),
        ),
    )


def _require_measured(asked: CompareCommand) -> None:
    """Raise if models are to be compared, which must be measured first, or a file is not there."""
    given = [Path(str(place)) for place in (asked.a, asked.b)]
    for place in given:
        if place.suffix == ".json" and not place.exists():
            raise ModelError(
                f"{place}: there is no such file",
                hint=f"make it: {joined('bench', 'MODEL', '-o', place)}",
            )
        if _is_model(place):
            raise UsageError(
                f"{place}: holds no measurements, which is what compare reads",
                hint=f"measure models side by side: {joined('bench', *given)}"
                if all(map(_is_model, given))
                else f"measure it, too: {joined('bench', place, '-o', f'{place.stem}_now.json')}",
            )


def _is_model(place: Path) -> bool:
    return place.suffix == ".onnx" or not place.is_file()


def stored(place: object) -> BenchReport:
    """Return what `burnish bench -o` wrote."""
    path = Path(str(place))
    return require_sound(records.read_document(BenchReport, path, schema=BENCH), path)
