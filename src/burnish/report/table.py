"""A table before it is drawn: pages and markdown are two readings of it."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.report.verdict import Tone

MARKS = {Tone.GOOD: "✓", Tone.BAD: "✗", Tone.UNSURE: "?", Tone.PLAIN: ""}
"""A sign beside each verdict, so that no meaning hangs on a colour alone."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading; numbers stand flush right."""

    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in one place: its text, and a second, quieter line."""

    text: str
    detail: str = ""
    tone: Tone = Tone.PLAIN
    code: bool = False
    """True for names that come from a model."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings, and a remark on how to read them."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    remark: str = ""
