"""Read the events of a chrome trace without holding the file.

A trace is an object with the list `traceEvents`, or that list alone. Whole events of a piece of the
file are decoded together, and only the fields that somebody asks for. A piece in which anything is
odd is read event by event: one that makes no sense is left out and counted; a file that ends early
gives the events before its end.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from burnish.core import documents, units
from burnish.core.errors import ModelError
from burnish.trace import fields
from burnish.trace.chunks import Chunks

Number = int | str | float | None
"""What ought to be a number, and may have been written as text."""


class Arguments(msgspec.Struct, frozen=True, gc=False):
    """The further facts of an event that somebody asks for."""

    correlation: Number = None
    device: Number = None
    stream: Number = None
    bytes: Number = None
    wait_on_stream: Number = None
    dims: msgspec.Raw = msgspec.field(name="Input Dims", default=msgspec.Raw(b""))
    old_dims: msgspec.Raw = msgspec.field(name="Input dims", default=msgspec.Raw(b""))
    collective: Number = msgspec.field(name="Collective name", default=None)
    rank: Number = msgspec.field(name="Rank", default=None)
    name: Number = None
    hlo_op: Number = None
    step: Number = msgspec.field(name="step_num", default=None)


class JsonEvent(msgspec.Struct, frozen=True, gc=False):
    """An event as it is written; times in microseconds."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Number = None
    tid: Number = None
    ts: Decimal | msgspec.UnsetType = msgspec.UNSET
    # Decimals: a time of 1.7e15 µs with three decimals does not fit a float
    dur: Decimal | msgspec.UnsetType = msgspec.UNSET
    args: Arguments | None = None


_EVENTS = msgspec.json.Decoder(list[JsonEvent])
_BETWEEN = re.compile(r'\}\s*,\s*(?=\{\s*"(?:ph|cat|name|pid|ts|args)"\s*:)')
_TAIL = 1 << 16
"""The last event of a piece begins within so many characters of its end, nearly always."""

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

    def __iter__(self) -> Iterator[JsonEvent]:
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

    def _object(self) -> Iterator[JsonEvent]:
        text = self._text
        while not text.take("}"):
            key = self._value()
            if not isinstance(key, str) or not text.take(":"):
                raise self._senseless("a name and a value are expected")
            if key == LIST and text.take("["):
                yield from self._list()
            else:
                self.facts[key] = self._value()

    def _list(self) -> Iterator[JsonEvent]:
        text = self._text
        while not text.take("]"):
            yield from text.whole_events()
            try:
                event = text.value()
            except _NoJsonError as error:
                self._lost += 1
                self._first_loss = self._first_loss or f"at {text.position} ({error})"
                text.skip_to(_NEXT_EVENT)
                continue
            if not isinstance(event, dict):
                continue
            try:
                yield event_of(event)
            except fields.OddEventError as error:
                self.leave_out(error)

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


def paired(events: Iterable[JsonEvent]) -> Iterator[JsonEvent]:
    """Yield events; a begin and an end that belong together as one, when it has ended."""
    begun: dict[tuple[Number, Number], list[JsonEvent]] = defaultdict(list)
    for event in events:
        if event.ph == "B":
            begun[event.pid, event.tid].append(event)
        elif event.ph == "E":
            if (open_ones := begun[event.pid, event.tid]) and event.ts is not msgspec.UNSET:
                first = open_ones.pop()
                if first.ts is not msgspec.UNSET and event.ts >= first.ts:
                    yield msgspec.structs.replace(first, ph="X", dur=event.ts - first.ts)
        else:
            yield event


def event_of(written: Mapping[str, Any]) -> JsonEvent:
    """Return an event that was read on its own; one that makes no sense is an error."""
    times = {
        key: Decimal(read(written, key))
        for key, read in (("ts", fields.microseconds), ("dur", fields.length))
        if key in written
    }
    texts = {key: str(written[key]) for key in ("ph", "cat", "name") if key in written}
    numbers = {key: _number(written[key]) for key in ("pid", "tid") if key in written}
    facts = fields.arguments(written)
    return JsonEvent(**texts, **numbers, **times, args=_arguments(facts) if facts else None)  # type: ignore[arg-type]


def _arguments(written: Mapping[str, Any]) -> Arguments:
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(Arguments):
        if (value := written.get(field.encode_name)) is not None:
            raw = field.type is msgspec.Raw
            found[field.name] = msgspec.Raw(_dumped(value)) if raw else _number(value)
    return Arguments(**found)


def _dumped(value: object) -> bytes:
    try:
        return json.dumps(value, default=float).encode()
    except (RecursionError, ValueError):
        return b""


def _number(value: object) -> Number:
    return value if isinstance(value, (int, str, float)) else None


class _NoJsonError(Exception):
    """What stands here is no JSON value."""


def _is_odd(event: JsonEvent) -> bool:
    """Return whether a time cannot be one; such an event is looked at on its own."""
    ts, dur = event.ts, event.dur
    return not (
        ts is msgspec.UNSET or (ts.is_finite() and -fields.MOST < ts < fields.MOST)
    ) or not (dur is msgspec.UNSET or (dur.is_finite() and 0 <= dur < fields.MOST))


class _EndsEarlyError(Exception):
    """The file ends where more was promised."""


class _Text:
    """A file's text, of which only what is being read is held."""

    def __init__(self, path: Path) -> None:
        self._chunks = Chunks(path)
        self._pieces = iter(self._chunks)
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._decoder = json.JSONDecoder(strict=False, parse_float=Decimal)
        self._held, self._at = "", 0
        self._passed, self._lines = 0, 1
        self._ended = False
        self._is_new = False
        """Whether the piece that is held has not been looked at for whole events."""

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

    def whole_events(self) -> list[JsonEvent]:
        """Return the events from here to the last one of the piece; none if one of them is odd."""
        if not self._is_new:
            return []
        self._is_new = False
        if (end := self._last_between()) is None:
            return []
        try:
            found = _EVENTS.decode(f"[{self._held[self._at : end + 1]}]")
        except (msgspec.DecodeError, RecursionError, ValueError):
            return []
        if any(map(_is_odd, found)):
            return []
        self._at = end + 1
        return found

    def _last_between(self) -> int | None:
        """Return where the last event that is surely whole ends."""
        for begin in (len(self._held) - _TAIL, self._at):
            ends = [found.start() for found in _BETWEEN.finditer(self._held, max(begin, self._at))]
            if ends:
                return ends[-1]
        return None

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
        self._ended, self._is_new = piece is None, True
        fresh = self._utf8.decode(piece or b"", final=self._ended)
        self._passed += self._at
        self._lines += self._held.count("\n", 0, self._at)
        self._held, self._at = self._held[self._at :] + fresh, 0
