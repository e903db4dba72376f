from __future__ import annotations

from pathlib import Path

from burnish.report.graph.written import GraphReport, WrittenFile
from burnish.report.table import Table
from burnish.study.shown.looking import graph_lines as lines

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
    assert files.texts == [("a.svg", "2.00 KiB")]
    assert note == "note: something was mended"
