"""What people are shown of pruning: what was cut, what it saves, what it costs."""

from __future__ import annotations

from collections import defaultdict

from burnish.core import units
from burnish.parity.verdict import verdict
from burnish.report.table import Shown, Table, table
from burnish.study.prune_report import SYNTHETIC, CutAxis, PruneReport
from burnish.study.sensitivity_report import SensitivityReport


def prune_lines(report: PruneReport) -> Shown:
    """Yield what was cut, how much smaller the model is, and how far its results have moved."""
    if report.cut:
        yield _cut(report.cut)
    yield _sizes(report)
    yield _errors(report)
    yield from (f"note: {note}" for note in report.notes)
    yield _calibration(report)
    if report.accuracy is not None:
        yield str(report.accuracy)
    if report.latency is not None:
        found = report.latency
        yield (
            f"here, taking turns: {units.seconds(found.before_s)} before, "
            f"{units.seconds(found.after_s)} after, {units.ratio(found.ratio)} as fast; the table "
            f"of latencies promised {units.ratio(found.predicted)}"
        )
    if report.parity is None:
        yield "not verified"
    else:
        yield f"changed on purpose; {verdict(report.parity)}"
    yield f"written: {report.target}"


def sensitivity_lines(report: SensitivityReport) -> Shown:
    """Yield what could be cut, what saves most first within each kind."""
    kinds = {"whole": "all axes together", "axis": "one axis", "block": "one residual branch"}
    for what, title in kinds.items():
        found = [trade for trade in report.trades if trade.what == what]
        rows = [
            (trade.name, trade.detail, units.share(trade.saved), units.share(trade.error),
             "✓" if trade.on_front else "")
            for trade in sorted(found, key=lambda trade: trade.error)
        ]  # fmt: skip
        columns = ("what", "how", "saves", "error", "best")
        if rows:
            yield table(title, columns, rows, numeric=("saves", "error"))
    yield "best: nothing else saves as many operations with a smaller error"
    yield from (f"note: {note}" for note in report.notes)
    yield _calibration(report)
    if report.chart is not None:
        yield f"written: {report.chart}"


def _cut(axes: tuple[CutAxis, ...]) -> Table:
    """Return the axes, those of one kind and size in one row."""
    groups: dict[tuple[str, int], list[CutAxis]] = defaultdict(list)
    for axis in axes:
        groups[axis.kind, axis.before].append(axis)
    rows = [
        (
            kind,
            str(len(found)),
            str(before),
            _range([axis.after for axis in found]),
            units.share(max(axis.error_unfitted for axis in found)),
            units.share(max(axis.error for axis in found)),
        )
        for (kind, before), found in groups.items()
    ]
    columns = ("what", "axes", "before", "after", "error if zeroed", "error as fitted")
    remark = "Errors: of the products that read them, on the calibration inputs, the worst."
    return table("cut", columns, rows, numeric=columns[1:], remark=remark)


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} – {high}"


def _sizes(report: PruneReport) -> Table:
    before, after = report.before, report.after
    rows = [
        ("parameters", f"{before.parameters:,}", f"{after.parameters:,}",
         units.share(after.parameters / before.parameters)),
        ("on disk", units.size(before.file_bytes), units.size(after.file_bytes),
         units.share(after.file_bytes / before.file_bytes)),
    ]  # fmt: skip
    if before.flops and after.flops is not None:
        rows.insert(0, ("operations", f"{before.flops:.3g}", f"{after.flops:.3g}",
                        units.share(after.flops / before.flops)))  # fmt: skip
    columns = ("", "before", "after", "kept")
    return table("size", columns, rows, numeric=columns[1:])


def _errors(report: PruneReport) -> Table:
    rows = [
        (
            own.name,
            f"{own.cosine:.4f}",
            units.error(own.max_abs),
            units.share(own.relative),
            "–" if own.relative_unfitted is None else units.share(own.relative_unfitted),
            "–" if own.top1_agreement is None else units.share(own.top1_agreement),
        )
        for own in report.errors
    ]
    columns = ("output", "cosine", "max error", "relative", "if zeroed", "same top 1")
    return table("against the original", columns, rows, numeric=columns[1:])


def _calibration(report: PruneReport | SensitivityReport) -> str:
    found = report.calibration
    held = "other ones" if found.held_out else "the same ones"
    samples = units.count(found.samples, "sample")
    text = f"calibrated on {samples}, errors on {held} ({found.judged}): "
    return text + (f"inputs made at random; {SYNTHETIC}" if found.source == SYNTHETIC
                   else f"from {found.source}")  # fmt: skip
