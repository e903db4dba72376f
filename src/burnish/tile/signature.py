"""What a group computes, in words without names: equal for repeated layers, so tuned once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from burnish.tile.expr import Accumulated, Argument, Call, Constant, Coordinate, Expr, Guard, Inside
from burnish.tile.graph import Read, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Atom, Axis, Div, Fetch, Index, Mod


def signature(group: Group, graph: TileGraph) -> str:
    """Return the SHA-256 of a group's canonical text, in hexadecimal."""
    return hashlib.sha256(canonical(group, graph).encode()).hexdigest()


def canonical(group: Group, graph: TileGraph) -> str:
    """Return a text that two groups share exactly when one kernel can run both.

    Tensors are numbered in order of first use, axes by their place in the nest; names, ONNX nodes
    and the values of constant tensors do not matter, types, shapes, indices and expressions do.
    """
    names = tensor_order(group)
    numbers = {name: f"t{position}" for position, name in enumerate(names)}
    lines = [_declared(name, numbers[name], graph) for name in names]
    lines += [_nest(op, numbers) for op in group.ops]
    lines.append("out " + " ".join(numbers[name] for name in group.outputs))
    return "\n".join(lines)


def tensor_order(group: Group) -> tuple[str, ...]:
    """Return the tensors of a group in the order in which its signature numbers them.

    The tensors at the same position of two groups with one signature play the same part.
    """
    found = (name for op in group.ops for name in (*op.inputs, op.output))
    return tuple(dict.fromkeys(found))


def _declared(name: str, number: str, graph: TileGraph) -> str:
    kind = graph.tensors[name]
    word = "constant" if name in graph.constants else "tensor"
    apart = f" strides {','.join(map(str, kind.strides))}" if kind.strides else ""
    return f"{word} {number} {kind.dtype}[{','.join(map(str, kind.shape))}]{apart}"


def _nest(op: TileOp, tensors: Mapping[str, str]) -> str:
    writer = _Writer(op, tensors)
    parts = [
        f"nest {tensors[op.output]}",
        "spatial " + " ".join(f"{writer.axes[axis]}:{axis.extent}" for axis in op.spatial),
        f"{op.combine} " + " ".join(f"{writer.axes[axis]}:{axis.extent}" for axis in op.reduced),
        *(writer.read(read) for read in op.reads),
        "body " + writer.expr(op.body),
        "finish " + (writer.expr(op.finish) if op.finish else ""),
    ]
    return "; ".join(parts)


class _Writer:
    """Writes the parts of one nest with its own numbers for axes."""

    def __init__(self, op: TileOp, tensors: Mapping[str, str]) -> None:
        self.axes = {axis: f"s{position}" for position, axis in enumerate(op.spatial)}
        self.axes |= {axis: f"r{position}" for position, axis in enumerate(op.reduced)}
        self._tensors = tensors

    def read(self, read: Read) -> str:
        guards = self._guards(read.guards)
        place = ", ".join(map(self._index, read.index))
        text = f"read {self._tensors[read.tensor]}[{place}]"
        return f"{text} if {guards} else {read.otherwise!r}" if guards else text

    def expr(self, expr: Expr) -> str:
        match expr:
            case Constant(value, dtype):
                return f"{value!r}:{dtype}"
            case Argument(position, dtype):
                return f"#{position}:{dtype}"
            case Accumulated(dtype):
                return f"acc:{dtype}"
            case Coordinate(index, dtype):
                return f"at({self._index(index)}):{dtype}"
            case Inside(guards, _):
                return f"inside({self._guards(guards)})"
            case Call(function, arguments, dtype):
                return f"{function}({', '.join(map(self.expr, arguments))}):{dtype}"

    def _guards(self, guards: Iterable[Guard]) -> str:
        return " & ".join(f"{each.low}<={self._index(each.index)}<{each.high}" for each in guards)

    def _index(self, index: Index) -> str:
        # sorted by what is written, as the order in the index follows the names of the axes
        terms = sorted(f"{factor}*{self._atom(atom)}" for atom, factor in index.terms)
        return "+".join([*terms, str(index.constant)])

    def _atom(self, atom: Atom) -> str:
        match atom:
            case Axis():
                return self.axes[atom]
            case Div(of, by):
                return f"({self._index(of)})//{by}"
            case Mod(of, by):
                return f"({self._index(of)})%{by}"
            case Fetch(tensor, inner, extent):
                place = ", ".join(map(self._index, inner))
                return f"{self._tensors[tensor]}[{place}]<{extent}"
