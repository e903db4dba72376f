"""All models of a study together: what each engine came to, over the baselines of its groups."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from burnish.bench.figures import figures_in
from burnish.bench.measure import BenchReport, Measurement
from burnish.core.precisions import precision_named
from burnish.report.matrix import engine_of, sizes_of
from burnish.report.table import NONE, Cell, Table, table

_COLUMNS = (
    "engine", "precision", "measured", "speed-up", "least", "most", "fastest", "not measured",
)  # fmt: skip
_REMARK = (
    "Speed-up: the geometric mean over groups (a model at one size, in one type) of how many times "
    "faster than the group's baseline it is, wrong results left out. Fastest: of the groups in "
    "which it was measured."
)


@dataclass(slots=True)
class _Engine:
    """What was gathered of one engine in one type."""

    measured: int = 0
    fastest: int = 0
    ratios: list[float] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    """How many cells have no figures that count, by their status."""


def models_of(bench: BenchReport) -> tuple[str, ...]:
    """Return the names of the models in a benchmark, in order."""
    return tuple(dict.fromkeys(model_of(bench, one) for one in bench.measurements))


def model_of(bench: BenchReport, one: Measurement) -> str:
    """Return the name of what a row is compared with, without its variant: made of one model."""
    comparison = bench.comparison(one.subject)
    first = one if comparison is None else bench.measurement(comparison.baseline)
    name = first.model or first.subject
    store, _, variant = name.partition("/")
    # files that share a name are called by their places
    of_a_store = store and "/" not in variant and not variant.endswith(".onnx")
    return store if of_a_store else name


def overall(bench: BenchReport) -> Table:
    """Return one row for each engine and type; no rows where there is one model only."""
    if len(models_of(bench)) < 2:
        return table("", _COLUMNS, [])
    found: dict[tuple[str, str], _Engine] = {}
    for group in _groups(bench):
        best = min(group, key=group.__getitem__, default=None)
        for subject in group:
            one = _of(found, bench.measurement(subject))
            one.measured += 1
            one.fastest += subject == best
            comparison = bench.comparison(subject)
            ratio = 1.0 if comparison is None else comparison.ratio
            one.ratios += [] if ratio is None else [ratio]
    for row in bench.measurements:
        if not _counts(row):
            _of(found, row).others[row.status] += 1
    rows = [_row(*key, one) for key, one in found.items()]
    return table("all models together", _COLUMNS, rows, numeric=_COLUMNS[2:-1], remark=_REMARK)


def _of(found: dict[tuple[str, str], _Engine], row: Measurement) -> _Engine:
    return found.setdefault((engine_of(row), precision_named(row.precision)), _Engine())


def _groups(bench: BenchReport) -> Iterator[Mapping[str, float]]:
    """Yield the medians of each group's subjects that count."""
    groups: dict[tuple[str, ...], dict[str, float]] = {}
    for one in bench.measurements:
        median_s = figures_in(bench, one).median_s if _counts(one) else None
        if median_s is not None:
            place = (
                model_of(bench, one),
                sizes_of(one),
                one.precision,
                str(one.options.get("threads")),
            )
            groups.setdefault(place, {})[one.subject] = median_s
    yield from groups.values()


def _counts(one: Measurement) -> bool:
    return one.status == "ok" and bool(one.blocks)


def _row(engine: str, precision: str, one: _Engine) -> Sequence[str | Cell]:
    others = ", ".join(f"{number} {status}" for status, number in one.others.items())
    ratios = one.ratios
    mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else None
    figures = (mean, min(ratios, default=None), max(ratios, default=None))
    return (
        engine,
        precision or "as it is",
        str(one.measured),
        *(NONE if figure is None else Cell(f"{figure:.2f}×") for figure in figures),
        f"{one.fastest} of {one.measured}",
        others or NONE,
    )
