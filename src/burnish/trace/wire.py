"""Take a Protocol Buffers message apart without knowing its schema."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

_EIGHT = 1
_LONGEST = 10
"""Bytes of a number of 64 bits, seven in each."""


class DamagedError(ValueError):
    """The bytes are no message."""


@dataclass(frozen=True, slots=True)
class ProtobufMessage:
    """The fields of a message by their numbers, in order."""

    fields: dict[int, list[int | memoryview]]

    def number(self, field: int, default: int = 0) -> int:
        """Return a whole number, negative ones as 64 bits say them."""
        value = self.fields.get(field, [default])[-1]
        if not isinstance(value, int):
            raise DamagedError(f"field {field} is no number")
        return value - (1 << 64) if value >= 1 << 63 else value

    def text(self, field: int) -> str:
        """Return a text, empty where there is none."""
        return bytes(self._bytes(field)).decode(errors="replace") if field in self.fields else ""

    def message(self, field: int) -> ProtobufMessage:
        """Return a message inside, empty where there is none."""
        return read(self._bytes(field)) if field in self.fields else ProtobufMessage({})

    def messages(self, field: int) -> Iterator[ProtobufMessage]:
        """Yield all messages of a repeated field."""
        for value in self.fields.get(field, ()):
            if isinstance(value, int):
                raise DamagedError(f"field {field} is no message")
            yield read(value)

    def _bytes(self, field: int) -> memoryview:
        value = self.fields[field][-1]
        if isinstance(value, int):
            raise DamagedError(f"field {field} is a number")
        return value


def read(data: memoryview) -> ProtobufMessage:
    """Return the fields of a message; what is inside of them stays bytes."""
    found: dict[int, list[int | memoryview]] = defaultdict(list)
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        value: int | memoryview
        match key & 7:
            case 0:
                value, at = _varint(data, at)
            case 2:
                length, at = _varint(data, at)
                value, at = _taken(data, at, length)
            case 1 | 5 as kind:
                value, at = _taken(data, at, 8 if kind == _EIGHT else 4)
            case kind:
                raise DamagedError(f"a field of the unknown kind {kind} at byte {at:,}")
        found[key >> 3].append(value)
    return ProtobufMessage(found)


def _taken(data: memoryview, at: int, length: int) -> tuple[memoryview, int]:
    if at + length > len(data):
        raise DamagedError(f"it ends early, at byte {len(data):,}")
    return data[at : at + length], at + length


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for place in range(_LONGEST):
        if at + place >= len(data):
            raise DamagedError(f"it ends early, at byte {len(data):,}")
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise DamagedError(f"a number without an end at byte {at:,}")
