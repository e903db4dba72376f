"""Read the events of a chrome trace one by one, without holding the file.

A trace is an object with the list `traceEvents`, or that list alone. An event that is not JSON is
left out and counted; a file that ends early gives the events before its end.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from burnish.core import documents, units
from burnish.core.errors import ModelError
from burnish.trace.chunks import Chunks

Event = Mapping[str, Any]

LIST = "traceEvents"
_LONGEST = 4 << 20
"""No value outside the list, and no event in it, has as many characters; more is damage."""
_NEXT_EVENT = re.compile(r'[,\[]\s*(?=\{\s*"(?:ph|cat|name|pid)"\s*:)')
_BLANK = re.compile(r"[\s,]*")
_HINT = "record it again, and let the program that writes it end by itself"


class EventStream:
    """The events of a file; `facts` and `notes` are complete when all were taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = _Text(path)
        self._lost = 0
        self._first_loss = ""
        self.facts: dict[str, Any] = {}
        """What stands beside the list of events."""
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[Event]:
        text = self._text
        try:
            if text.take("["):
                yield from self._list()
            elif text.take("{"):
                yield from self._object()
            else:
                raise self._senseless("it starts with neither { nor [")
        except _EndsEarlyError:
            self.notes.append(f"the file ends early, at {text.position}: later events are missing")
        if self._lost:
            lost = units.count(self._lost, "event")
            self.notes.append(f"{lost} cannot be read and left out, the first {self._first_loss}")
        if text.note:
            self.notes.append(text.note)

    def leave_out(self, why: object) -> None:
        """Count the event that was given last as one that cannot be read."""
        self._lost += 1
        self._first_loss = self._first_loss or f"before {self._text.position} ({why})"

    def _object(self) -> Iterator[Event]:
        text = self._text
        while not text.take("}"):
            key = self._value()
            if not isinstance(key, str) or not text.take(":"):
                raise self._senseless("a name and a value are expected")
            if key == LIST and text.take("["):
                yield from self._list()
            else:
                self.facts[key] = self._value()

    def _list(self) -> Iterator[Event]:
        text = self._text
        while not text.take("]"):
            try:
                event = text.value()
            except _NoJsonError as error:
                self._lost += 1
                self._first_loss = self._first_loss or f"at {text.position} ({error})"
                text.skip_to(_NEXT_EVENT)
                continue
            if isinstance(event, dict):
                yield event

    def _value(self) -> Any:  # noqa: ANN401  (any JSON)
        try:
            return self._text.value()
        except _NoJsonError as error:
            raise self._senseless(str(error)) from error

    def _senseless(self, why: str) -> ModelError:
        where = self._text.position
        return ModelError(
            f"{self._path}: cannot be read as a trace, it stops making sense at {where} ({why})",
            hint=_HINT,
        )


class _NoJsonError(Exception):
    """What stands here is no JSON value."""


class _EndsEarlyError(Exception):
    """The file ends where more was promised."""


class _Text:
    """A file's text, of which only what is being read is held."""

    def __init__(self, path: Path) -> None:
        self._chunks = Chunks(path)
        self._pieces = iter(self._chunks)
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")
        # Decimals: a time of 1.7e15 µs with three decimals does not fit a float
        self._decoder = json.JSONDecoder(strict=False, parse_float=Decimal)
        self._held, self._at = "", 0
        self._passed, self._lines = 0, 1
        self._ended = False

    @property
    def note(self) -> str:
        return self._chunks.note

    @property
    def position(self) -> str:
        line = self._lines + self._held.count("\n", 0, self._at)
        return f"character {self._passed + self._at:,} in line {line:,}"

    def take(self, mark: str) -> bool:
        """Return whether `mark` comes next, and pass it if so."""
        self._skip_blank()
        if not self._held.startswith(mark, self._at):
            return False
        self._at += 1
        return True

    def value(self) -> Any:  # noqa: ANN401  (any JSON)
        """Return the next value and pass it."""
        self._skip_blank()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self._at)
            except (RecursionError, ValueError) as error:
                if not isinstance(error, json.JSONDecodeError):
                    raise _NoJsonError(documents.reason(error)) from error
                if self._ended and error.pos >= len(self._held.rstrip()) - 1:
                    raise _EndsEarlyError from error
                if self._ended and error.msg.startswith("Unterminated string"):
                    raise _EndsEarlyError from error
                if self._ended or len(self._held) - self._at > _LONGEST:
                    raise _NoJsonError(error.msg) from error
            else:
                if end < len(self._held) or self._ended:
                    self._at = end
                    return value
            self._fill()

    def skip_to(self, pattern: re.Pattern[str]) -> None:
        """Pass everything up to the end of the next match, or to the end of the file."""
        self._at += 1
        while not (found := pattern.search(self._held, self._at)):
            if self._ended:
                self._at = len(self._held)
                raise _EndsEarlyError
            # a match may straddle the pieces; 64 characters hold the longest one
            self._at = max(self._at, len(self._held) - 64)
            self._fill()
        self._at = found.end()

    def _skip_blank(self) -> None:
        while True:
            blank = _BLANK.match(self._held, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._held):
                return
            if self._ended:
                raise _EndsEarlyError
            self._fill()

    def _fill(self) -> None:
        piece = next(self._pieces, None)
        self._ended = piece is None
        fresh = self._utf8.decode(piece or b"", final=self._ended)
        self._passed += self._at
        self._lines += self._held.count("\n", 0, self._at)
        self._held, self._at = self._held[self._at :] + fresh, 0
