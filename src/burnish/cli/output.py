"""The only module that prints: results on stdout, talk on stderr."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.core import records, settings
from burnish.core.errors import BurnishError


@dataclass(slots=True)
class _State:
    quiet: bool = False


_STATE = _State()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows for people; numbers are already text, and columns named in `right` are flush right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[str] = frozenset()


def configure(*, verbose: int, quiet: bool) -> None:
    """Set how much is said on stderr."""
    _STATE.quiet = quiet
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(
        level=logging.ERROR if quiet else level, format="%(levelname)s %(message)s", force=True
    )


def result(record: Any, *, schema: int, as_json: bool, shown: Iterable[Table | str]) -> None:  # noqa: ANN401
    """Print a result: one JSON document, or tables and lines for people."""
    if as_json:
        print(records.text_of(records.document(record, schema=schema)), end="")
        return
    for part in shown:
        if isinstance(part, Table):
            _print_table(part)
        else:
            print(part)


def note(text: str) -> None:
    """Say something on stderr that is not the result."""
    if not _STATE.quiet:
        print(text, file=sys.stderr, flush=True)


def failure(error: BurnishError) -> None:
    """Print a problem and what to do about it: two lines, on stderr."""
    print(f"burnish: {error.problem}\n  hint: {error.hint}", file=sys.stderr, flush=True)


def is_quiet() -> bool:
    """Return whether only results and errors are wanted."""
    return _STATE.quiet


def _print_table(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    drawn = RichTable(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in table.columns:
        drawn.add_column(
            column, justify="right" if column in table.right else "left", overflow="fold"
        )
    for row in table.rows:
        drawn.add_row(*row)
    terminal = sys.stdout.isatty()
    # A pipe or a file has no width of its own; 140 keeps every table of ours on one line a row.
    console = Console(
        markup=False, highlight=False, no_color=not settings.read().color,
        width=None if terminal else 140,
    )  # fmt: skip
    console.print(drawn)
