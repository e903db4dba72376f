"""What a row shows of a measurement: computed once, when its samples were taken."""

from __future__ import annotations

from dataclasses import replace

from burnish.bench import stats
from burnish.bench.cells import Figures
from burnish.bench.measure import BenchReport, Measurement


def figures_of(measurement: Measurement) -> Figures:
    """Return the figures; those that the samples do not allow are None."""
    opened = {
        "items_per_call": measurement.items_per_call,
        "processes": len(measurement.launches),
        "load_s": measurement.load_s,
        "first_call_s": measurement.first_call_s,
        "peak_memory_bytes": measurement.peak_memory_bytes,
        "model_bytes": measurement.model_bytes,
        "card_s": measurement.card_s,
        "card_memory_bytes": measurement.card_memory_bytes,
    }
    samples = measurement.samples_s
    if not samples:
        return Figures(**opened)  # type: ignore[arg-type]
    median = stats.median_interval(measurement.blocks)
    return Figures(
        **opened,  # type: ignore[arg-type]
        samples=len(samples),
        median_s=median.estimate,
        low_s=median.low,
        high_s=median.high,
        p90_s=stats.percentile(samples, 0.90).value_s,
        p95_s=stats.percentile(samples, 0.95).value_s,
        p99_s=stats.percentile(samples, 0.99).value_s,
        items_per_s=measurement.items_per_call / median.estimate,
    )


def figures_in(report: BenchReport, one: Measurement) -> Figures:
    """Return the figures as they are shown beside ratios: the times have those very quotients."""
    figures, shown = figures_of(one), stats.shown_time(report, one)
    if shown is None:
        return figures
    return replace(
        figures,
        median_s=shown.estimate,
        low_s=shown.low,
        high_s=shown.high,
        items_per_s=one.items_per_call / shown.estimate,
    )
