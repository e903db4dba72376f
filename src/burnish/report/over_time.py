"""Records of what a ledger says over time: one series for each way a model was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from burnish.bench.cells import LedgerRow
from burnish.bench.measure import Comparison
from burnish.core.precisions import precision_named

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One measurement; None where there is no time to show."""

    id: int
    measured_at: str
    status: str
    median_s: float | None
    low_s: float | None
    high_s: float | None
    environment: str
    """The key of versions and variables; where it changes, so may the speed."""
    model_key: str


@dataclass(frozen=True, slots=True)
class Series:
    """All measurements of one model on one engine, at one size, on one machine, oldest first."""

    model: str
    engine: str
    precision: str
    threads: int | None
    bindings: Mapping[str, int]
    machine: str
    points: tuple[TrendPoint, ...]

    @property
    def timed(self) -> tuple[TrendPoint, ...]:
        """Return the measurements that have a time and are right."""
        return tuple(p for p in self.points if p.median_s is not None and p.status == "ok")

    @property
    def sizes(self) -> str:
        """Return the sizes in words: `batch=1, sequence=128`."""
        return ", ".join(f"{name}={size}" for name, size in self.bindings.items())


@dataclass(frozen=True, slots=True)
class Trend:
    """A series, and how its newest measurement compares with the one before."""

    series: Series
    newest: Comparison | None = None
    """None: there are not two to compare."""


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """What was measured of a model on this machine, over time."""

    model: str
    machine: str
    trends: tuple[Trend, ...]
    elsewhere: int
    """Measurements of other machines, which are not compared with these."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DashboardReport:
    """What a page of all measurements was made of."""

    page: str
    ledger: str
    models: int
    series: int
    measurements: int
    notes: tuple[str, ...] = ()


def series_of(rows: Iterable[LedgerRow]) -> tuple[Series, ...]:
    """Return measurements as series, in the order of their first."""
    found: dict[tuple[object, ...], list[LedgerRow]] = {}
    for row in rows:
        sizes = tuple(row.bindings.items())
        key = (row.model, row.engine, row.precision, row.threads, sizes, row.machine)
        found.setdefault(key, []).append(row)
    return tuple(_series(group) for group in found.values())


def _series(rows: list[LedgerRow]) -> Series:
    first = rows[0]
    return Series(
        model=first.model,
        engine=first.engine,
        precision=precision_named(first.precision),
        threads=first.threads,
        bindings=dict(first.bindings),
        machine=first.machine,
        points=tuple(_point(row) for row in rows),
    )


def _point(row: LedgerRow) -> TrendPoint:
    return TrendPoint(
        id=row.id,
        measured_at=row.measured_at,
        status=row.status,
        median_s=row.figures.median_s,
        low_s=row.figures.low_s,
        high_s=row.figures.high_s,
        environment=row.environment,
        model_key=row.model_key,
    )
