from __future__ import annotations

from pathlib import Path

from burnish.core import records
from burnish.report.graph.written import GraphReport
from burnish.study.draw import draw
from sample_picture import sample_picture


def test_every_file_is_written_and_counted(tmp_path: Path) -> None:
    targets = [tmp_path / "a.svg", tmp_path / "deep" / "a.csv"]
    report = draw(sample_picture(), targets)
    assert [file.size_bytes for file in report.files] == [path.stat().st_size for path in targets]
    assert (report.nodes, report.critical_nodes) == (7, 4)
    assert records.decode(GraphReport, records.encode(report)) == report
