from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from burnish.cli.graph_tables import lines
from burnish.cli.output import Table
from burnish.report.graph.written import GraphReport, WrittenFile

REPORT = GraphReport(
    "bert", 247, (WrittenFile(Path("a.svg"), 2048),), "onnxruntime-cpu", 2e-3, 1e-3, 0.9, 2e-4, 12,
    ("something was mended",),
)  # fmt: skip


def test_coverage_is_in_the_first_line_and_notes_are_last() -> None:
    first, change, files, note = lines(REPORT)
    assert first == (
        "bert: 247 nodes, 2.00 ms an inference on onnxruntime-cpu; 90.0 % of the work is led back"
        " to nodes (200 µs unattributed)"
    )
    assert change == "after the change: 1.00 ms (2.00×)"
    assert isinstance(files, Table)
    assert files.rows == [("a.svg", "2.00 KiB")]
    assert note == "note: something was mended"


def test_without_times_the_way_to_get_them_is_said() -> None:
    bare = replace(REPORT, engine=None, wall_s=None, after_wall_s=None, coverage=None, notes=())
    assert "add the times with --engine onnxruntime-cpu, or with --trace FILE" in list(lines(bare))
