"""The only module that prints: results on stdout, talk on stderr.

Names come from files that anybody may have written, so every text goes through `plain`: what
would move the cursor, hide or reorder something is shown as an escape.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TextIO

from burnish.core import records, settings
from burnish.core.errors import BurnishError
from burnish.core.plain_text import encodable, encodable_json, plain, plain_lines
from burnish.report.table import MARKS

if TYPE_CHECKING:
    from burnish.report.table import Cell, Table

_NARROWEST = 60
"""Columns that a table needs to be one; a terminal with fewer wraps its lines by itself."""
_PIPED = 140
"""A pipe or a file has no width of its own; this keeps every table of ours on one line a row."""
_TALKATIVE = ("onnx_ir", "onnxscript")
"""Libraries that warn of what burnish looks at itself, and then tells in its own words."""


@dataclass(slots=True)
class _State:
    quiet: bool = False
    verbose: bool = False
    json: bool = False


_STATE = _State()


def forget() -> None:
    """Say as much, and as text, as when the process began."""
    _STATE.quiet = _STATE.verbose = _STATE.json = False


class _Plain(logging.Formatter):
    """Messages in characters that show."""

    def format(self, record: logging.LogRecord) -> str:
        return plain_lines(super().format(record))


def configure(*, verbose: int, quiet: bool) -> None:
    """Set how much is said on stderr."""
    _STATE.quiet, _STATE.verbose = quiet, verbose > 0
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    handler = logging.StreamHandler()
    handler.setFormatter(_Plain("%(levelname)s %(message)s"))
    logging.basicConfig(level=logging.ERROR if quiet else level, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.NOTSET if verbose else logging.ERROR)


def as_json(*, wanted: bool) -> None:
    """Say whether results are printed as JSON from now on."""
    _STATE.json = wanted


def result(record: Any, shown: Iterable[Table | str]) -> None:  # noqa: ANN401  (any record)
    """Print a result: one JSON document, or tables and lines for people."""
    if _STATE.json:
        schema = sys.modules[type(record).__module__].SCHEMA
        text = records.text_of(records.document(record, schema=schema))
        _print(encodable_json(text, _encoding(sys.stdout)))
        return
    for part in shown:
        text = f"{plain(part)}\n" if isinstance(part, str) else _drawn(part)
        _print(encodable(text, _encoding(sys.stdout)))


def note(text: str) -> None:
    """Say something on stderr that is not the result."""
    if not _STATE.quiet:
        _say(plain_lines(text))


def failure(error: BurnishError) -> None:
    """Print a problem and what to do about it: two lines, on stderr, and what is indented there."""
    # Only what is indented may begin a line: a name cannot pretend to be a hint, or all well.
    problem = "\n    ".join(map(plain, error.problem.split("\n    ")))
    _say(f"burnish: {problem}\n  hint: {plain(error.hint)}")


def flush() -> None:
    """Write what is still held back, as far as anybody wants it."""
    _print("")


def is_quiet() -> bool:
    """Return whether only results and errors are wanted."""
    return _STATE.quiet


def is_verbose() -> bool:
    """Return whether more than results and errors is wanted."""
    return _STATE.verbose


def _print(text: str) -> None:
    """Print on stdout; where its reader has gone, the command goes on in silence to its end."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        sys.stdout = _Nowhere()


def _say(text: str) -> None:
    try:
        print(encodable(text, _encoding(sys.stderr)), file=sys.stderr, flush=True)
    except BrokenPipeError:
        sys.stderr = _Nowhere()


class _Nowhere(io.StringIO):
    """Where text goes that nobody reads any more."""

    def write(self, text: str) -> int:
        return len(text)


def _encoding(stream: TextIO) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


def _drawn(table: Table) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    drawn = RichTable(
        title=plain(table.title), title_justify="left", box=box.SIMPLE_HEAD,
        caption=plain(table.remark), caption_justify="left",
    )  # fmt: skip
    for column in table.columns:
        justify: Literal["left", "right"] = "right" if column.numeric else "left"
        drawn.add_column(plain(column.title), justify=justify, overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(_cell, row))
    console = Console(
        markup=False, highlight=False, no_color=not settings.read().color,
        width=None if sys.stdout.isatty() else _PIPED,
    )  # fmt: skip
    console.width = max(console.width, _NARROWEST)
    with console.capture() as captured:
        console.print(drawn)
    return captured.get()


def _cell(cell: Cell) -> str:
    text = " ".join(filter(None, (MARKS[cell.tone], plain(cell.text))))
    return f"{text}\n{plain(cell.detail)}" if cell.detail else text
