"""Changes to a protobuf message that respect its structure, and few that do not."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

NOT_UTF8 = "Q7x-not-utf8-Q7x"
"""Stands for bytes that no string may hold; `bytes_of` puts them in."""
_NOT_UTF8_BYTES = b"Q7x-\xff\xfe\xc3\x28\x80\xbf\xed\xa0-Q7x"

_INTEGERS = (
    0, 1, -1, 2, 3, 7, 16, 72, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**63), 10**9,
)  # fmt: skip
_STRINGS = (
    "", " ", "x", "\x1b[2J\x1b[31mred", "a\nburnish: b", "\u202egnp.exe", "[red]x[/red]", "../x",
    "/etc/passwd", "x" * 300, "n*m+1", "1/0", "-1", "1000000000000", "a\x00b", NOT_UTF8,
)  # fmt: skip
_FLOATS = (0.0, -1.0, 1e38, 1e-38, float("nan"), float("inf"), float("-inf"))


@dataclass(frozen=True, slots=True)
class _Slot:
    """A field of a message in the tree."""

    owner: Message
    field: FieldDescriptor

    @property
    def repeated(self) -> bool:
        return self.field.is_repeated

    def get(self) -> Any:  # noqa: ANN401  (whatever the field holds)
        return getattr(self.owner, self.field.name)


@dataclass(slots=True)
class Tree:
    """The fields of a message and all below it, and what they hold, by kind."""

    slots: list[_Slot] = field(default_factory=list)
    messages: dict[str, list[Message]] = field(default_factory=lambda: defaultdict(list))
    strings: list[str] = field(default_factory=list)


def tree(root: Message, most: int = 20_000) -> Tree:
    """Return what a message holds; `most` bounds how many fields are looked at."""
    found, waiting = Tree(), [root]
    while waiting and len(found.slots) < most:
        message = waiting.pop()
        found.messages[message.DESCRIPTOR.name].append(message)
        for descriptor, value in message.ListFields():
            slot = _Slot(message, descriptor)
            found.slots.append(slot)
            parts = list(value) if slot.repeated else [value]
            if descriptor.type == FieldDescriptor.TYPE_MESSAGE:
                waiting.extend(parts)
            elif descriptor.type == FieldDescriptor.TYPE_STRING:
                found.strings.extend(parts)
    return found


def mutate(root: Message, chance: random.Random) -> str:
    """Change one thing in `root`; return what, in a word."""
    found = tree(root)
    for _ in range(20):
        if chance.random() < 0.1:
            done = _add_field(found, chance)
        else:
            slot = _chosen(found, chance)
            done = (
                _change_list(slot, found, chance) if slot.repeated else _change(slot, found, chance)
            )
        if done:
            return done
    return "nothing"


def bytes_of(message: Message) -> bytes:
    """Return the message as it is written, with strings that are no UTF-8 where asked for."""
    data = message.SerializePartialToString()
    assert len(_NOT_UTF8_BYTES) == len(NOT_UTF8)
    return data.replace(NOT_UTF8.encode(), _NOT_UTF8_BYTES)


def damaged(data: bytes, chance: random.Random) -> tuple[str, bytes]:
    """Return bytes with a few flipped, or with a piece cut out, doubled or moved."""
    content = bytearray(data)
    match chance.randrange(5):
        case 0:
            return "cut", bytes(content[: chance.randrange(1, len(content))])
        case 1:
            begin = chance.randrange(len(content))
            del content[begin : begin + chance.randrange(1, 40)]
            return "hole", bytes(content)
        case 2:
            begin = chance.randrange(len(content))
            content[begin:begin] = content[begin : begin + chance.randrange(1, 40)]
            return "doubled", bytes(content)
        case _:
            for _ in range(chance.randrange(1, 8)):
                content[chance.randrange(len(content))] = chance.randrange(256)
            return "flips", bytes(content)


def _chosen(found: Tree, chance: random.Random) -> _Slot:
    """Return a field: any kind of field is as likely as any other, however many there are."""
    by_kind: dict[str, list[_Slot]] = defaultdict(list)
    for slot in found.slots:
        by_kind[f"{slot.owner.DESCRIPTOR.name}.{slot.field.name}"].append(slot)
    return chance.choice(by_kind[chance.choice(sorted(by_kind))])


def _change_list(slot: _Slot, found: Tree, chance: random.Random) -> str:
    values, name = slot.get(), f"{slot.owner.DESCRIPTOR.name}.{slot.field.name}"
    at = chance.randrange(len(values))
    match chance.choice(("drop", "double", "swap", "alter", "alter", "clear", "many")):
        case "drop":
            del values[at]
            return f"{name} dropped"
        case "double":
            _append(values, values[at])
            return f"{name} doubled"
        case "swap":
            other = chance.randrange(len(values))
            _swap(values, at, other)
            return f"{name} swapped"
        case "clear":
            slot.owner.ClearField(slot.field.name)
            return f"{name} cleared"
        case "many":
            for _ in range(chance.choice((2, 70))):
                _append(values, values[at])
            return f"{name} repeated"
        case _:
            if slot.field.type == FieldDescriptor.TYPE_MESSAGE:
                _copy(chance.choice(found.messages[values[at].DESCRIPTOR.name]), values[at])
            else:
                values[at] = _other(slot, values[at], found, chance)
            return f"{name} altered"


def _change(slot: _Slot, found: Tree, chance: random.Random) -> str:
    name = f"{slot.owner.DESCRIPTOR.name}.{slot.field.name}"
    if chance.random() < 0.2:
        slot.owner.ClearField(slot.field.name)
        return f"{name} cleared"
    if slot.field.type == FieldDescriptor.TYPE_MESSAGE:
        _copy(chance.choice(found.messages[slot.get().DESCRIPTOR.name]), slot.get())
    else:
        setattr(slot.owner, slot.field.name, _other(slot, slot.get(), found, chance))
    return f"{name} altered"


def _copy(source: Message, target: Message) -> None:
    """Copy a message, which may be a part of the one it is copied into: that is emptied first."""
    copy = type(source)()
    copy.CopyFrom(source)
    target.CopyFrom(copy)


def _add_field(found: Tree, chance: random.Random) -> str:
    """Fill a field that was empty."""
    kind = chance.choice(sorted(found.messages))
    owner = chance.choice(found.messages[kind])
    present = {descriptor.name for descriptor, _ in owner.ListFields()}
    empty = [f for f in owner.DESCRIPTOR.fields if f.name not in present]
    if not empty:
        return ""
    slot = _Slot(owner, chance.choice(empty))
    if slot.field.type == FieldDescriptor.TYPE_MESSAGE:
        known = found.messages.get(slot.field.message_type.name)
        if not known:
            return ""
        copy = type(known[0])()
        copy.CopyFrom(chance.choice(known))
        _append(slot.get(), copy) if slot.repeated else slot.get().CopyFrom(copy)
    elif slot.repeated:
        slot.get().append(_other(slot, _blank(slot), found, chance))
    else:
        setattr(owner, slot.field.name, _other(slot, _blank(slot), found, chance))
    return f"{kind}.{slot.field.name} added"


def _blank(slot: _Slot) -> Any:  # noqa: ANN401  (of the field's type)
    kinds: dict[int, Callable[[], Any]] = {
        FieldDescriptor.TYPE_STRING: str,
        FieldDescriptor.TYPE_BYTES: bytes,
        FieldDescriptor.TYPE_FLOAT: float,
        FieldDescriptor.TYPE_DOUBLE: float,
    }
    return kinds.get(slot.field.type, int)()


def _other(slot: _Slot, value: Any, found: Tree, chance: random.Random) -> Any:  # noqa: ANN401
    """Return another value of a field's type: an odd one, or one that stands elsewhere."""
    kind = slot.field.type
    if kind == FieldDescriptor.TYPE_STRING:
        elsewhere = chance.random() < 0.6 and found.strings
        return chance.choice(found.strings if elsewhere else _STRINGS)
    if kind == FieldDescriptor.TYPE_BYTES:
        return chance.choice((b"", value[:-1], value * 2, value + b"\xff", b"\xff\x00\x1b[31m"))
    if kind in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return chance.choice(_FLOATS)
    if kind == FieldDescriptor.TYPE_ENUM:
        return chance.choice([number.number for number in slot.field.enum_type.values])
    return _integer(kind, value, chance)


def _integer(kind: int, value: int, chance: random.Random) -> int:
    wide = kind in (FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_UINT64)
    near = [value + 1, value - 1, value * 2, -value, chance.randrange(30)]
    number = int(chance.choice([*_INTEGERS, *near]))
    if kind == FieldDescriptor.TYPE_UINT64:
        return abs(number) % 2**64
    bits = 63 if wide else 31
    return max(-(2**bits), min(2**bits - 1, number))


def _append(values: Any, value: Any) -> None:  # noqa: ANN401  (a repeated field)
    if isinstance(value, Message):
        copy = type(value)()
        copy.CopyFrom(value)
        values.append(copy)
    else:
        values.append(value)


def _swap(values: Any, one: int, other: int) -> None:  # noqa: ANN401  (a repeated field)
    if isinstance(values[one], Message):
        kept = type(values[one])()
        kept.CopyFrom(values[one])
        values[one].CopyFrom(values[other])
        values[other].CopyFrom(kept)
    else:
        values[one], values[other] = values[other], values[one]


def all_messages(root: Message) -> Iterator[Message]:
    """Yield a message and every message in it."""
    for group in tree(root).messages.values():
        yield from group
