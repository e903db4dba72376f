"""A table before it is drawn: terminals, pages and markdown are three readings of it."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias


class Tone(enum.Enum):
    """How a finding is to be taken; pages show it as a colour, always beside words."""

    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"
    PLAIN = "plain"


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
    title: str = ""

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """Return the rows as plain text, without what is beside it."""
        return [tuple(cell.text for cell in row) for row in self.rows]


Shown: TypeAlias = Iterable[Table | str]
"""What people are shown of a record: tables, and lines."""
NONE = Cell("–")


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Cell]],
    *,
    numeric: Collection[str] = (),
    remark: str = "",
) -> Table:
    """Return a table; a row may hold plain text, and columns named in `numeric` are numbers."""
    return Table(
        columns=tuple(Column(name, numeric=name in numeric) for name in columns),
        rows=tuple(tuple(Cell(c) if isinstance(c, str) else c for c in row) for row in rows),
        remark=remark,
        title=title,
    )
