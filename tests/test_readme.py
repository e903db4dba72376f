"""The sample in the README has the shape of what the command prints."""

from __future__ import annotations

import re
from pathlib import Path

from burnish.report.table import Table
from burnish.study.shown.judging import run_lines
from sample_run import sample_run

ROOT = Path(__file__).parents[1]
SAMPLE = (
    (ROOT / "README.md").read_text().partition("bert-mini/torchscript: ")[2].partition("```")[0]
)


def _headings(text: str) -> list[str]:
    """Return the lines above the rules of tables, with single spaces."""
    lines = text.splitlines()
    rules = [number for number, line in enumerate(lines) if line.strip().startswith("───")]
    return [" ".join(lines[number - 1].split()) for number in rules]


def test_the_sample_has_the_tables_that_run_prints_in_their_order() -> None:
    tables = [part for part in run_lines(sample_run()) if isinstance(part, Table)]
    printed = [" ".join(column.title for column in part.columns) for part in tables]
    assert _headings(SAMPLE) == printed


def test_the_sample_asks_the_questions_that_run_answers() -> None:
    first = next(part for part in run_lines(sample_run()) if isinstance(part, Table))
    asked = {row[0] for row in first.texts}
    assert set(re.findall(r"^  (\S[^?\n]*\?)", SAMPLE, re.MULTILINE)) <= asked


def test_the_lines_of_the_sample_begin_as_those_of_run_do() -> None:
    kinds = {line.partition(":")[0] for line in SAMPLE.splitlines() if re.match(r"[a-z]+: ", line)}
    assert kinds == {"note", "degraded", "again"}
