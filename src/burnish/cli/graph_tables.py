"""What was drawn, for people."""

from __future__ import annotations

from collections.abc import Iterator

from burnish.cli.output import Table
from burnish.core import units
from burnish.report.graph.written import GraphReport


def lines(report: GraphReport) -> Iterator[Table | str]:
    """Yield what was found, the files, and what to know when reading them."""
    if report.wall_s is None or report.coverage is None or report.unattributed_s is None:
        yield f"{report.label}: {units.count(report.nodes, 'node')}, no times"
    else:
        yield (
            f"{report.label}: {units.count(report.nodes, 'node')},"
            f" {units.seconds(report.wall_s)} an inference on {report.engine};"
            f" {units.share(report.coverage)} of the work is led back to nodes"
            f" ({units.seconds(report.unattributed_s)} unattributed)"
        )
    if report.wall_s and report.after_wall_s:
        gain = units.ratio(report.wall_s / report.after_wall_s)
        yield f"after the change: {units.seconds(report.after_wall_s)} ({gain})"
    rows = [(str(file.path), units.size(file.size_bytes)) for file in report.files]
    yield Table("", ("file", "size"), rows, right=frozenset(("size",)))
    if report.wall_s is None:
        yield "add the times with --engine onnxruntime-cpu, or with --trace FILE"
    for note in report.notes:
        yield f"note: {note}"
