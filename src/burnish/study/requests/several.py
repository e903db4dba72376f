"""How lists on the command line are read, by commands that take several and those that take one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.core.precisions import ELEMENT_TYPES, MODES, element_type, precision_named
from burnish.core.whole import whole

T = TypeVar("T")


def names(values: str | Sequence[str]) -> tuple[str, ...]:
    """Return `("a,b", "c")` as `("a", "b", "c")`, each once."""
    texts = (values,) if isinstance(values, str) else values
    return tuple(
        dict.fromkeys(part.strip() for text in texts for part in text.split(",") if part.strip())
    )


def numbers(texts: int | str | Sequence[int | str]) -> tuple[int, ...]:
    """Return `("1,8", "32")` as `(1, 8, 32)`, each once."""
    every = (texts,) if isinstance(texts, int | str) else texts
    return tuple(dict.fromkeys(_number(part) for part in names([str(text) for text in every])))


def _number(part: str) -> int:
    found = whole(part)
    if found is None:
        raise UsageError(
            f"{part!r} is not a whole number from 0 on", hint="write for instance 8, or 1,8,32"
        )
    return found


def counts(texts: int | str | Sequence[int | str]) -> tuple[int, ...]:
    """Return numbers that are all at least 1."""
    found = numbers(texts)
    if 0 in found:
        raise UsageError("0 is not a size: it is at least 1", hint="write for instance 1,8,32")
    return found


def only(found: Sequence[T], what: str, first: str) -> T:
    """Return what a command takes one of; `first` is how to write it."""
    if len(found) != 1:
        raise UsageError(
            f"one {what} is taken here, and {len(found)} were given",
            hint=f"give them one after the other: {first}",
        )
    return found[0]


def one_count(texts: Sequence[str]) -> int:
    """Return the number for a command that takes one."""
    found = counts(texts)
    return only(found, "number", str(found[0] if found else 1))


def element_types(texts: str | Sequence[str]) -> tuple[str, ...]:
    """Return burnish's names of types, each once; raise where one is none."""
    known = (*ELEMENT_TYPES, *MODES)
    for text in names(texts):
        if precision_named(text) not in known:
            raise UsageError(f"{text!r} is no type of numbers", hint=suggestion(text, known))
    return tuple(dict.fromkeys(element_type(text) for text in names(texts)))


def precisions(texts: str | Sequence[str]) -> tuple[str, ...]:
    """Return kinds of numbers by their one name, each once."""
    return tuple(dict.fromkeys(precision_named(text) for text in names(texts)))


def one_precision(texts: Sequence[str]) -> str:
    """Return the kind of number for a command that takes one."""
    found = precisions(texts)
    return only(found, "type", f"--precision {found[0] if found else 'fp32'}")
