"""What a command writes never takes the place of what it reads."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from burnish.core.errors import UsageError
from burnish.study.requests.option import Option, Positional, RequestField, fields


def require_apart(asked: object) -> None:
    """Raise where a file that would be written is one that the same command reads."""
    known = [(field, getattr(asked, field.name)) for field in fields(type(asked))]
    read = [
        (path, _name(field)) for field, value in known if _reads(field) for path in _paths(value)
    ]
    maybe = [
        (path, _name(field))
        for field, value in known if _may_read(field) for path in _files(value)
    ]  # fmt: skip
    for field, value in known:
        if _writes(field):
            for target in _paths(value):
                require_other(target, [*read, *maybe], field.flags[-1])


def targets(asked: object) -> Iterator[Path]:
    """Yield where a command was asked to write."""
    for field in fields(type(asked)):
        if isinstance(field.said, Option) and field.said.writes:
            yield from _paths(getattr(asked, field.name))


def require_other(target: Path, read: Sequence[tuple[Path, str]], flag: str) -> None:
    """Raise if a place is that of one of these files, which are told by what they are."""
    for path, name in read:
        if _is_same(target, path):
            other = target.with_stem(f"{target.stem}_new")
            raise UsageError(
                f"{target}: is {name} itself, which would be lost",
                hint=f"choose another place: {flag} {shlex.quote(str(other))}",
            )


def _reads(field: RequestField) -> bool:
    said = field.said
    return isinstance(said, Positional) or (
        said.kind is Path and not said.writes and "--output" not in field.flags
    )


def _may_read(field: RequestField) -> bool:
    return isinstance(field.said, Option) and field.said.may_read


def _writes(field: RequestField) -> bool:
    said = field.said
    return isinstance(said, Option) and said.writes == "file"


def _name(field: RequestField) -> str:
    if isinstance(field.said, Positional):
        return field.said.metavar.strip("[]…")
    return f"the file of {field.flags[0]}"


def _paths(value: Any) -> Iterator[Path]:  # noqa: ANN401  (of any field)
    several = isinstance(value, Sequence) and not isinstance(value, str)
    for one in value if several else (value,):
        if isinstance(one, str | os.PathLike) and os.fspath(one):
            yield Path(one)


def _files(value: Any) -> Iterator[Path]:  # noqa: ANN401  (of any field)
    """Yield what is a file of what may be a name as well, with a function behind it or without."""
    for one in _paths(value):
        for place in (one, Path(str(one).rpartition(":")[0])):
            if place.is_file():
                yield place


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two names lead to one file; folders are looked at elsewhere."""
    try:
        if one.is_dir() or other.is_dir():
            return False
        return one.resolve() == other.resolve() or (
            one.exists() and other.exists() and one.samefile(other)
        )
    except (OSError, ValueError):
        return False
