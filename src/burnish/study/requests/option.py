"""How a field of a request is said on a command line; knows no parser."""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

Writes = Literal["file", "folder", ""]
"""What is made at a path; who cannot write there is told before anything is done."""


@dataclass(frozen=True, slots=True)
class Positional:
    """A field that has its place on the command line and no name."""

    metavar: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """A field with a name: `--` and the field's, unless others are given."""

    help: str
    flags: tuple[str, ...] = ()
    """The first is printed, the others are understood as well."""
    metavar: str | None = None
    kind: Any = None
    """`int`, `float`, `bool`, `Path`, `str`, or a tuple of choices; None: as the field's type."""
    least: float | None = None
    repeated: bool = False
    read: Callable[[Any], Any] | None = None
    """From what was written to the field's value; None: it is the value."""
    unless: str | None = None
    """The value when the option is written without one; None: it needs one."""
    writes: Writes = ""
    may_read: bool = False
    """Whether text may name a file that is read, or FILE:FUNCTION, and may as well be a name."""


@dataclass(frozen=True, slots=True)
class Saying:
    """What one command adds to the help of an option that several have."""

    more: str


@dataclass(frozen=True, slots=True)
class RequestField:
    """One field of a request: its name, its default, and how it is said."""

    name: str
    said: Positional | Option
    default: Any
    """`dataclasses.MISSING` where it must be given."""
    may_be_none: bool = True

    @property
    def required(self) -> bool:
        """Return whether there is no default."""
        return self.default is MISSING

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the names of an option, that to print first."""
        own = self.said.flags if isinstance(self.said, Option) else ()
        return own or (f"--{self.name.replace('_', '-')}",)


def fields(request: type) -> tuple[RequestField, ...]:
    """Return the fields of a request, in order: what it says itself, then what others say, too."""
    hints = get_type_hints(request, include_extras=True)
    shared = {name for base in request.__mro__[1:] for name in inspect.get_annotations(base)}
    ordered = sorted(dataclasses.fields(request), key=lambda one: one.name in shared)
    return tuple(_field(one, hints[one.name], request) for one in ordered)


def _field(one: dataclasses.Field[Any], hint: Any, request: type) -> RequestField:  # noqa: ANN401
    marks = tuple(_marks(hint))
    said = next((mark for mark in marks if isinstance(mark, Positional | Option)), None)
    if said is None:
        raise TypeError(f"{request.__name__}.{one.name} does not say how it is written")
    more = [mark.more for mark in marks if isinstance(mark, Saying)]
    if isinstance(said, Option):
        kind = _kind(frozenset(_types(hint)), said) if said.kind is None else said.kind
        said = dataclasses.replace(said, kind=kind, help=" ".join((said.help, *more)))
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return RequestField(one.name, said, default, type(None) in _types(hint))


def _kind(types: Collection[Any], said: Option) -> Any:  # noqa: ANN401  (see Option.kind)
    """Return how a field of these types is written; what is read comes as text, or as a path."""
    if os.PathLike[str] in types:
        return Path
    if said.read is not None:
        return str
    choices = next((get_args(one) for one in types if get_origin(one) is Literal), None)
    return choices or next((kind for kind in (bool, int, float) if kind in types), str)


def _types(hint: Any) -> Iterator[Any]:  # noqa: ANN401  (a type)
    """Yield a type, or each of `X | Y` and `Sequence[X]`."""
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(plain) in (Union, UnionType, Sequence):
        yield from (one for part in get_args(plain) for one in _types(part))
    elif plain is not hint:
        yield from _types(plain)
    else:
        yield plain


def _marks(hint: Any) -> Iterator[Any]:  # noqa: ANN401  (a type)
    """Yield what annotates a type, or a part of `X | None`."""
    if get_origin(hint) is not None:
        yield from (mark for part in get_args(hint) for mark in _marks(part))
    yield from getattr(hint, "__metadata__", ())
