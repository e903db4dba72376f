"""How a field of a request is said on a command line; knows no parser."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

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
    kind: Any = str
    """`int`, `float`, `bool`, `Path`, `str`, or a tuple of choices."""
    least: float | None = None
    repeated: bool = False
    read: Callable[[Any], Any] | None = None
    """From what was written to the field's value; None: it is the value."""
    unless: str | None = None
    """The value when the option is written without one; None: it needs one."""
    writes: Writes = ""


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
    """Return the fields of a request, in order."""
    hints = get_type_hints(request, include_extras=True)
    return tuple(_field(one, hints[one.name], request) for one in dataclasses.fields(request))


def _field(one: dataclasses.Field[Any], hint: Any, request: type) -> RequestField:  # noqa: ANN401
    marks = tuple(_marks(hint))
    said = next((mark for mark in marks if isinstance(mark, Positional | Option)), None)
    if said is None:
        raise TypeError(f"{request.__name__}.{one.name} does not say how it is written")
    more = [mark.more for mark in marks if isinstance(mark, Saying)]
    if isinstance(said, Option) and more:
        said = dataclasses.replace(said, help=" ".join((said.help, *more)))
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return RequestField(one.name, said, default)


def _marks(hint: Any) -> Iterator[Any]:  # noqa: ANN401  (a type)
    """Yield what annotates a type, or a part of `X | None`."""
    if get_origin(hint) is not None:
        yield from (mark for part in get_args(hint) for mark in _marks(part))
    yield from getattr(hint, "__metadata__", ())
