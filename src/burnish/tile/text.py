"""Tile-graphs as text, one nest per line; `burnish.tile.parse` reads it back.

    y: f32[i=4, j=8] = sum(k=16) a[i, k] * b[k, j] then maximum(acc, 0.0)  # node, another

A tensor's name stands before its element type and its axes with their sizes. Guards of a read
follow a bar, and what is read where they do not hold follows `else`. Numbers have the nest's
element type unless another is told (`1:i64`). Names that are no plain words are in back-quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from burnish.tile.expr import Accumulated, Argument, Call, Constant, Coordinate, Expr, Guard, Inside
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Atom, Axis, Div, Fetch, Index, Mod

INFIX: Mapping[str, tuple[str, int]] = {
    "equal": ("==", 1),
    "less": ("<", 1),
    "less_equal": ("<=", 1),
    "add": ("+", 2),
    "subtract": ("-", 2),
    "multiply": ("*", 3),
    "divide": ("/", 3),
}
"""Functions that are written between their arguments, with how strongly they bind."""

WORD = re.compile(r"[A-Za-z_][\w.$]*")


def graph_text(graph: TileGraph) -> str:
    """Return a graph: what it takes and gives, then its nests."""
    lines = [f"in {typed(name, graph.tensors[name])}" for name in graph.inputs]
    lines += [f"const {typed(name, graph.tensors[name])}" for name in graph.constants]
    lines += [f"out {quoted(name)}" for name in graph.outputs]
    return "\n".join([*lines, *map(nest_text, graph.ops)])


def group_text(group: Group) -> str:
    """Return a group: what it reads and writes, then its nests."""
    taken, given = _list(map(quoted, group.inputs)), _list(map(quoted, group.outputs))
    return "\n  ".join([f"group of {taken} → {given}", *map(nest_text, group.ops)])


def nest_text(op: TileOp) -> str:
    """Return a nest as one line."""
    said = _Said(op)
    value = said.text(op.body)
    if op.combine is not None:
        value = f"{op.combine}({_axes(op.reduced)}) {value}"
    if op.finish is not None:
        value += f" then {said.text(op.finish)}"
    nodes = f"  # {', '.join(map(quoted, op.nodes))}" if op.nodes else ""
    return f"{quoted(op.output)}: {op.dtype}[{_axes(op.spatial)}] = {value}{nodes}"


def typed(name: str, kind: TensorType) -> str:
    """Return a tensor with its element type and shape."""
    return f"{quoted(name)}: {kind.dtype}[{', '.join(map(str, kind.shape))}]"


def quoted(name: str) -> str:
    """Return a name as text has it."""
    if WORD.fullmatch(name):
        return name
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def index_text(index: Index) -> str:
    """Return an index."""
    parts = [
        _atom(atom) if factor == 1 else f"{factor}*{_atom(atom)}" for atom, factor in index.terms
    ]
    if index.constant or not parts:
        parts.append(str(index.constant))
    return " + ".join(parts).replace("+ -", "- ")


def _atom(atom: Atom) -> str:
    match atom:
        case Axis(name, _):
            return quoted(name)
        case Div(of, by):
            return f"({index_text(of)}) // {by}"
        case Mod(of, by):
            return f"({index_text(of)}) % {by}"
        case Fetch(tensor, inner, extent):
            return f"fetch({quoted(tensor)}[{_list(map(index_text, inner))}], {extent})"


class _Said:
    """Expressions of one nest."""

    def __init__(self, op: TileOp) -> None:
        self._op = op

    def text(self, expr: Expr, binds: int = 0) -> str:
        """Return an expression, in brackets where it binds less than what is around it."""
        match expr:
            case Constant(value, dtype):
                return repr(value) + ("" if dtype == self._op.dtype else f":{dtype}")
            case Argument(position, _):
                return _read(self._op.reads[position])
            case Accumulated():
                return "acc"
            case Coordinate(index, _):
                return f"coordinate({index_text(index)})"
            case Inside(guards, _):
                return f"inside({_guards(guards)})"
            case Call("cast", (argument,), dtype):
                return f"{dtype}({self.text(argument)})"
            case Call(function, (left, right), _) if function in INFIX:
                sign, own = INFIX[function]
                found = f"{self.text(left, own)} {sign} {self.text(right, own + 1)}"
                return f"({found})" if own < binds else found
            case Call(function, arguments, _):
                return f"{function}({_list(map(self.text, arguments))})"


def _read(read: Read) -> str:
    place = _list(map(index_text, read.index))
    if read.guards:
        place += f" | {_guards(read.guards)} else {read.otherwise!r}"
    return f"{quoted(read.tensor)}[{place}]"


def _guards(guards: Iterable[Guard]) -> str:
    return _list(f"{each.low} <= {index_text(each.index)} < {each.high}" for each in guards)


def _axes(axes: Iterable[Axis]) -> str:
    return _list(f"{quoted(axis.name)}={axis.extent}" for axis in axes)


_list: Callable[[Iterable[str]], str] = ", ".join
