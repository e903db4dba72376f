from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from burnish.report import markdown
from burnish.report.table import Cell, Column, Table, Tone
from sample_run import sample_run


def test_the_report_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(markdown.text(sample_run()), suffix="md")


def test_a_table_keeps_its_shape_whatever_is_in_it() -> None:
    table = Table(
        columns=(Column("na|me"), Column("time", numeric=True)),
        rows=((Cell("a|b\n<script>", "x_y", Tone.BAD), Cell("1.0 ms")),),
    )
    assert markdown.table(table).splitlines() == [
        "| na\\|me | time |",
        "| --- | --: |",
        "| ✗ a\\|b \\<script\\> (x\\_y) | 1.0 ms |",
    ]


def test_reasons_to_doubt_the_times_are_told() -> None:
    report = sample_run()
    loaded = replace(report.bench.machine, warnings=("the load average is 3.1",))
    text = markdown.text(replace(report, bench=replace(report.bench, machine=loaded)))
    assert "- Take the times with care: the load average is 3.1" in text


def test_a_run_without_a_profile_has_no_such_tables() -> None:
    assert "## Time by operator" not in markdown.text(replace(sample_run(), profile=()))
