"""Tile-graphs from text, as `burnish.tile.text` writes it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from burnish.core.arrays import Arrays
from burnish.core.errors import ModelError
from burnish.tile import expr as expressions
from burnish.tile.expr import (
    Accumulated,
    Argument,
    Constant,
    Coordinate,
    Expr,
    Guard,
    Inside,
    Number,
)
from burnish.tile.functions import FUNCTIONS
from burnish.tile.graph import Combine, Read, TensorType, TileGraph, TileOp
from burnish.tile.index import Axis, Index, at, fetched, floor_divide, number, remainder
from burnish.tile.text import INFIX

_TOKENS = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`\\]|\\.)*`)|(?P<number>\d+(?:\.\d*)?(?:e[+-]?\d+)?)"
    r"|(?P<word>[A-Za-z_][\w.$]*)|(?P<sign>//|<=|==|[-+*/%<>=:,|()\[\]#]))"
)
_SIGNS = {sign: (name, binds) for name, (sign, binds) in INFIX.items()}
_NUMBERS = {"inf": math.inf, "nan": math.nan, "True": True, "False": False}

T = TypeVar("T")


def parse(text: str, constants: Arrays) -> TileGraph:
    """Return the graph that a text describes, with the values of its constants."""
    tensors: dict[str, TensorType] = {}
    names: dict[str, list[str]] = {"in": [], "const": [], "out": []}
    ops: list[TileOp] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        role, _, rest = line.partition(" ")
        if role == "out":
            names[role].append(_Line(rest, tensors).name())
        elif role in names:
            name, kind = _Line(rest, tensors).declared()
            tensors[name] = kind
            names[role].append(name)
        else:
            ops.append(parse_nest(line, tensors))
            tensors[ops[-1].output] = TensorType(ops[-1].dtype, ops[-1].shape)
    values = {name: constants[name] for name in names["const"]}
    return TileGraph(tensors, tuple(names["in"]), tuple(names["out"]), tuple(ops), values)


def parse_nest(line: str, tensors: Mapping[str, TensorType]) -> TileOp:
    """Return the nest that a line describes, given the types of what it reads."""
    return _Line(line, tensors).nest()


class _Line:
    """A line, read from left to right."""

    def __init__(self, line: str, tensors: Mapping[str, TensorType]) -> None:
        self._line = line
        self._tensors = tensors
        self._tokens = list(_tokens(line))
        self._at = 0
        self._axes: dict[str, Axis] = {}
        self._dtype = ""
        self._reads: list[Read] = []
        self._accumulated = ""

    def declared(self) -> tuple[str, TensorType]:
        """Return a tensor's name and type."""
        name = self.name()
        self._take(":")
        dtype = self.name()
        shape = self._listed("[", "]", self._integer)
        return name, TensorType(dtype, tuple(shape))

    def nest(self) -> TileOp:
        """Return the whole line as a nest."""
        output = self.name()
        self._take(":")
        self._dtype = self.name()
        spatial = tuple(self._listed("[", "]", self._axis))
        self._take("=")
        combine: Combine | None = None
        reduced: tuple[Axis, ...] = ()
        if self._peek() in ("sum", "max", "min", "prod") and self._peek(1) == "(":
            combine = cast("Combine", self.name())
            reduced = tuple(self._listed("(", ")", self._axis))
        body = self._expression()
        self._accumulated = body.dtype
        finish = self._expression() if self._skip("then") else None
        nodes = self._nodes() if self._skip("#") else ()
        if self._at < len(self._tokens):
            raise self._wrong("the line goes on")
        reads = tuple(self._reads)
        return TileOp(output, spatial, reads, body, reduced, combine, finish, nodes)

    def name(self) -> str:
        """Return a name."""
        token = self._next()
        if token.startswith("`"):
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if not re.match(r"[A-Za-z_]", token):
            raise self._wrong("a name is missing")
        return token

    def _nodes(self) -> tuple[str, ...]:
        names = [self.name()]
        while self._skip(","):
            names.append(self.name())
        return tuple(names)

    def _axis(self) -> Axis:
        name = self.name()
        self._take("=")
        self._axes[name] = Axis(name, self._integer())
        return self._axes[name]

    def _expression(self, binds: int = 1) -> Expr:
        found = self._primary()
        while self._peek() in _SIGNS and _SIGNS[self._peek()][1] >= binds:
            name, own = _SIGNS[self._next()]
            found = expressions.call(name, found, self._expression(own + 1))
        return found

    def _primary(self) -> Expr:
        if self._skip("("):
            found = self._expression()
            self._take(")")
            return found
        if self._peek(1) == "[":
            return self._argument()
        if self._peek() == "acc":
            self._next()
            return Accumulated(self._accumulated)
        if self._peek(1) == "(":
            return self._call()
        value = self._number()
        return Constant(value, self.name() if self._skip(":") else self._dtype)

    def _call(self) -> Expr:
        name = self.name()
        if name == "coordinate":
            return Coordinate(self._listed("(", ")", self._index)[0])
        if name == "inside":
            return Inside(tuple(self._listed("(", ")", self._guard)))
        arguments = self._listed("(", ")", self._expression)
        if name not in FUNCTIONS:
            return expressions.Call("cast", tuple(arguments), name)
        return expressions.call(name, *arguments)

    def _argument(self) -> Expr:
        tensor = self.name()
        self._take("[")
        index: list[Index] = []
        guards: list[Guard] = []
        otherwise: Number = 0
        while self._peek() not in ("]", "|"):
            index.append(self._index())
            self._skip(",")
        if self._skip("|"):
            while not self._skip("else"):
                guards.append(self._guard())
                self._skip(",")
            otherwise = self._number()
        self._take("]")
        read = Read(tensor, tuple(index), tuple(guards), otherwise)
        if read not in self._reads:
            self._reads.append(read)
        return Argument(self._reads.index(read), self._tensors[tensor].dtype)

    def _guard(self) -> Guard:
        low = self._integer()
        self._take("<=")
        index = self._index()
        self._take("<")
        return Guard(index, low, self._integer())

    def _index(self) -> Index:
        found = self._term(-1 if self._skip("-") else 1)
        while self._peek() in ("+", "-"):
            found = found + self._term(1 if self._next() == "+" else -1)
        return found

    def _term(self, factor: int) -> Index:
        if self._peek().isdigit():
            value = self._integer()
            return self._atom() * (factor * value) if self._skip("*") else number(factor * value)
        return self._atom() * factor

    def _atom(self) -> Index:
        if self._skip("("):
            inner = self._index()
            self._take(")")
            by = floor_divide if self._next() == "//" else remainder
            return by(inner, self._integer())
        if self._peek() == "fetch" and self._peek(1) == "(":
            self._at += 2
            tensor = self.name()
            index = self._listed("[", "]", self._index)
            self._take(",")
            extent = self._integer()
            self._take(")")
            return fetched(tensor, index, extent)
        name = self.name()
        if name not in self._axes:
            raise self._wrong(f"{name!r} is no axis")
        return at(self._axes[name])

    def _integer(self) -> int:
        sign = -1 if self._skip("-") else 1
        token = self._next()
        if not token.isdigit():
            raise self._wrong("a whole number is missing")
        return sign * int(token)

    def _number(self) -> Number:
        sign = -1 if self._skip("-") else 1
        token = self._next()
        if token in _NUMBERS:
            value = _NUMBERS[token]
            return value if sign == 1 else -value
        if not token[:1].isdigit():
            raise self._wrong("a number is missing")
        return sign * (int(token) if token.isdigit() else float(token))

    def _listed(self, begin: str, end: str, each: Callable[[], T]) -> list[T]:
        self._take(begin)
        found: list[T] = []
        while not self._skip(end):
            found.append(each())
            self._skip(",")
        return found

    def _peek(self, further: int = 0) -> str:
        place = self._at + further
        return self._tokens[place] if place < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        if not token:
            raise self._wrong("the line ends too early")
        self._at += 1
        return token

    def _skip(self, token: str) -> bool:
        found = self._peek() == token
        self._at += found
        return found

    def _take(self, token: str) -> None:
        if not self._skip(token):
            raise self._wrong(f"{token!r} is missing")

    def _wrong(self, problem: str) -> ModelError:
        place = " ".join(self._tokens[max(self._at - 4, 0) : self._at + 1])
        return ModelError(
            f"a line of a tile-graph cannot be read: {problem} (at {place!r} of {self._line!r})",
            hint="docs/tile-graph.md shows how tile-graphs are written",
        )


def _tokens(line: str) -> list[str]:
    found: list[str] = []
    place = 0
    while match := _TOKENS.match(line, place):
        found.append(match[match.lastgroup or ""])
        place = match.end()
    if line[place:].strip():
        found.append(line[place:].strip()[:1])
    return found
