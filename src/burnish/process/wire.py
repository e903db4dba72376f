"""Records, with arrays and bytes in them, as messages on a stream.

A message is the length of its head, the head (JSON, with the sizes of what follows), and then the
bytes of every array, as they lie in memory. Nothing that is received is ever executed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from burnish.core import records

if TYPE_CHECKING:
    from burnish.core.arrays import Array

R = TypeVar("R")

_LENGTH = struct.Struct("<Q")
_LONGEST_HEAD = 1 << 30
"""What claims more is no message of ours."""


@dataclass(frozen=True, slots=True)
class Message:
    """What was received."""

    kind: str
    """What is asked for, or how it was answered."""
    body: Any
    pieces: tuple[Array, ...]

    def value(self, kind: Any) -> Any:  # noqa: ANN401  (as asked for)
        """Return the content, which is of this type."""
        return records.decode(kind, self.body, self._piece)

    def _piece(self, kind: Any, data: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if kind is bytes:
            return self.pieces[data["piece"]].tobytes()
        return _array(data, self.pieces)


def packed(kind: str, value: Any) -> list[memoryview]:  # noqa: ANN401  (any record)
    """Return a message, in pieces that share the memory of its arrays."""
    pieces: list[memoryview] = []

    def elsewhere(content: Any) -> dict[str, Any]:  # noqa: ANN401
        described, piece = _described(content)
        if piece is None:
            return described
        pieces.append(piece)
        return {**described, "piece": len(pieces) - 1}

    body = records.encode(value, elsewhere)
    head = {"kind": kind, "body": body, "sizes": [piece.nbytes for piece in pieces]}
    text = json.dumps(head, separators=(",", ":")).encode()
    return [memoryview(_LENGTH.pack(len(text)) + text), *pieces]


def written(value: Any) -> bytes:  # noqa: ANN401  (any record)
    """Return a record as the content of a file."""
    return b"".join(packed("file", value))


def read(kind: type[R], content: bytes) -> R:
    """Return the record of this type that a file holds; `ValueError`: it holds none."""
    incoming, rest = Incoming(), memoryview(content)
    message = None
    while rest.nbytes and message is None:
        count = min(rest.nbytes, incoming.room.nbytes)
        incoming.room[:count] = rest[:count]
        message, rest = incoming.advance(count), rest[count:]
    if message is None or rest.nbytes:
        raise ValueError(f"{len(content):,} bytes that are no message")
    found: R = message.value(kind)
    return found


class Incoming:
    """A message that is being received: `room` is where its next bytes go."""

    def __init__(self) -> None:
        self._parts = _parts()
        self.room = next(self._parts)

    def advance(self, count: int) -> Message | None:
        """Note that `count` bytes were put into the room; return the message if it is whole."""
        self.room = self.room[count:]
        while not self.room.nbytes:
            try:
                self.room = next(self._parts)
            except StopIteration as done:
                message: Message = done.value
                return message
        return None


def _parts() -> Generator[memoryview, None, Message]:
    """Yield one piece of memory after the other, each to be filled; return what they hold."""
    length = bytearray(_LENGTH.size)
    yield memoryview(length)
    size = _LENGTH.unpack(length)[0]
    if size > _LONGEST_HEAD:
        raise ValueError(f"a message cannot begin with {bytes(length)!r}")
    text = bytearray(size)
    yield memoryview(text)
    head = json.loads(text)
    pieces = []
    for count in head["sizes"]:
        import numpy as np  # here: most messages hold no array

        pieces.append(np.empty(count, np.uint8))
        yield pieces[-1].data
    return Message(head["kind"], head["body"], tuple(pieces))


def _described(content: Any) -> tuple[dict[str, Any], memoryview | None]:  # noqa: ANN401
    if isinstance(content, bytes):
        return {}, memoryview(content)
    import numpy as np

    if not isinstance(content, (np.ndarray, np.generic)):
        raise TypeError(f"{type(content).__name__} cannot be sent")
    shape = list(content.shape)
    if content.dtype == object:
        return {"shape": shape, "texts": content.reshape(-1).tolist()}, None
    kind = content.dtype
    # the types of ml_dtypes (bf16 …) are known by name only, which tells no byte order
    name = kind.str if kind.type.__module__ == "numpy" else kind.name
    flat = np.ascontiguousarray(content).reshape(-1)
    return {"shape": shape, "dtype": name}, flat.view(np.uint8).data


def _array(data: Mapping[str, Any], pieces: tuple[Array, ...]) -> Array:
    import ml_dtypes  # noqa: F401  (makes NumPy know bfloat16 and its kin by name)
    import numpy as np

    if "texts" in data:
        texts = np.empty(len(data["texts"]), object)
        texts[:] = data["texts"]
        return texts.reshape(data["shape"])
    found: Array = pieces[data["piece"]].view(np.dtype(data["dtype"])).reshape(data["shape"])
    return found
