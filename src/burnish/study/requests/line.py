"""A request as the command line that asks the same."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from burnish.study.requests.option import Option, Positional, RequestField, fields

_LISTS = ("NAME,…", "TYPE,…", "SIZE,…", "NUMBER,…")


def line(request: Any, *more: str) -> str:  # noqa: ANN401  (any request)
    """Return the command that asks this, with `more` words, ready to be pasted into a shell."""
    command = type(request).__name__.removesuffix("Command").lower()
    asked = [(field, getattr(request, field.name)) for field in fields(type(request))]
    words = [
        word for field, value in asked if _is_given(field, value) for word in _said(field, value)
    ]
    return shlex.join(["burnish", command, *words, *more])


def _is_given(field: RequestField, value: Any) -> bool:  # noqa: ANN401
    """Return whether a value is not the default; one nothing is as good as another."""
    empty = isinstance(value, Mapping | Sequence) and not value and not field.default
    return value != field.default and not empty


def joined(*words: Any) -> str:  # noqa: ANN401  (models, places and words)
    """Return a command of words, models and places; what is None is left out."""
    flat = [one for word in words for one in _each(word) if one is not None]
    return shlex.join(["burnish", *map(_word, flat)])


def _said(field: RequestField, value: Any) -> Iterator[str]:  # noqa: ANN401  (of any field)
    match field.said:
        case Positional():
            yield from (_word(one) for one in _each(value) if one is not None)
        case Option(kind=kind) if kind is bool:
            yes, _, no = field.flags[0].partition("/")
            yield yes if value else no
        case Option() as said:
            for text in _texts(said, value):
                yield from (field.flags[0], text)


def _texts(said: Option, value: Any) -> Iterator[str]:  # noqa: ANN401
    if said.metavar == "TIME":
        yield f"{value:g}s"
    elif isinstance(value, Mapping):
        yield ",".join(f"{name}={size}" for name, size in value.items())
    elif said.metavar in _LISTS and not isinstance(value, str):
        yield ",".join(map(_word, _each(value)))
    else:
        for one in _each(value):
            yield from _texts(said, one) if isinstance(one, Mapping) else (_word(one),)


def _each(value: Any) -> Sequence[Any]:  # noqa: ANN401
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _word(value: Any) -> str:  # noqa: ANN401
    """Return a model or a place as it is named; a model in memory has only its kind."""
    if isinstance(value, str | int | float | os.PathLike):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    found = getattr(value, "compiled", None) or getattr(value, "onnx", None)
    return type(value).__name__ if found is None else str(found)
