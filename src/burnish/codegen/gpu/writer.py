"""The text of a kernel in the making: nests evaluated where they are needed.

A nest of the group is never a buffer: whoever reads it gets its expression with the indices put in,
written once per place and index. Statements stand in the outermost loop in which all that they
depend on is known, so that what is shared is computed once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.blocks import AxisBlock, Frame, FrameArithmetic, ProgramStart, power_of_two
from burnish.codegen.gpu.guards import bound_guards, bounded, implied, ranges
from burnish.codegen.gpu.loads import LoadedBlock, count_load
from burnish.codegen.gpu.peepholes import at_once, simpler
from burnish.codegen.gpu.sectors import Sectors
from burnish.codegen.gpu.tally import Tally
from burnish.codegen.gpu.values import Point, Scope, Value
from burnish.tile.connect import NoGroupError
from burnish.tile.expr import (
    Accumulated,
    Argument,
    Call,
    Constant,
    Coordinate,
    Expr,
    Guard,
    Inside,
)
from burnish.tile.graph import Read, TensorType, TileOp
from burnish.tile.index import Axis, Fetch, Index, axes_of, flatten, substitute

LONGEST = 88
"""Characters of an expression that is written in place; longer ones get a name."""
LARGEST = 2**31
"""Elements of a tensor beyond which 32 bits do not hold every offset."""
MOST_LINES = 400
"""Statements of a kernel: beyond, compiling it takes minutes."""


class KernelWriter:
    """Writes statements; `value` is the way in."""

    def __init__(
        self,
        ops: Iterable[TileOp],
        types: Mapping[str, TensorType],
        orders: Mapping[str, tuple[int, ...]],
        depth: int = 32,
        precision: str = spelling.IEEE,
    ) -> None:
        self.ops = {op.output: op for op in ops}
        used = {name for op in self.ops.values() for name in (op.output, *op.inputs)}
        self._large = any(types[name].size >= LARGEST for name in used if name in types)
        self.types, self.orders = types, orders
        self.blocks: dict[Axis, AxisBlock] = {}
        self.sectors, self.warps = Sectors(), 4
        self.pointers: dict[str, str] = {}
        self.loaded: dict[str, bool] = {}  # by name; whether it is zero outside of its tensor
        # elements and turns of what is loaded one by one, and whether its place is loaded
        self.apart: dict[str, tuple[tuple[int, int], bool]] = {}
        self.guarded: dict[str, tuple[Guard, ...]] = {}
        """Conditions without which what is loaded is zero, by the names of these."""
        self.narrow: dict[str, int] = {}  # elements of what is loaded in fewer than four bytes each
        self.helpers: set[str] = set()
        self.constants: frozenset[str] = frozenset()  # tensors that no kernel writes
        self.constant_loads, self.late_loads = list[tuple[str, Index]](), list[tuple[str, Index]]()
        # what is loaded of constants outside of loops, its offset and bytes, by name
        self.constant_names: dict[str, tuple[str, Index, int]] = {}
        self.starts: dict[Axis, ProgramStart] = {}
        self.sums: dict[str, Callable[[Point], Value]] = {}  # of nests that have a way of their own
        self.tally = Tally()
        self.scopes = [Scope(set(), 1)]
        self.precision, self.own_functions, self.rounds_late = precision, False, False
        self.halves = False
        """Whether all that it writes are 16-bit floats, and need not be exact to the last bit."""
        self.multiplying = self.beside = False
        self._depth, self._lines, self.looping = depth, 0, 0
        self._names: dict[str, int] = {}
        self.held = False  # what is reduced for columns of the frame is, once for all of its rows
        self.counted = list[Axis]()  # that run over the terms of a sum, all at once
        self.whole_terms: tuple[Axis, ...] = ()  # that count all terms of a product at once
        self.moved: dict[str, str] = {}  # names of what is moved to where it is multiplied

    def fresh(self, stem: str) -> str:
        """Return a variable that is not used yet."""
        short = re.sub(r"\W+", "_", stem).strip("_")[-24:].strip("_") or "v"
        short = short if not short[0].isdigit() else f"v{short}"
        self._names[short] = count = self._names.get(short, 0) + 1
        return f"{short}_{count}"

    def depth(self, extent: int) -> int:
        """Return how many terms of a product one step multiplies, of so many in all."""
        return min(power_of_two(extent, 16), self._depth)

    def pointer(self, tensor: str) -> str:
        """Return the parameter that holds a tensor's address."""
        return self.pointers.setdefault(tensor, f"t{len(self.pointers)}")

    def lanes(self, size: int) -> str:
        """Return neighbouring indices, so many and as wide as offsets must be."""
        return self.wide(f"tl.arange(0, {size})")

    def wide(self, index: str) -> str:
        """Return an index in the type whose products with strides hold every offset."""
        return f"tl.cast({index}, tl.int64)" if self._large else index

    def line(self, text: str) -> None:
        """Add a statement to the innermost scope."""
        self.scopes[-1].lines.append(text)
        self._lines += 1
        if self._lines > MOST_LINES:
            raise NoGroupError(f"its kernel would have more than {MOST_LINES} lines")

    @contextmanager
    def at(self, depends: frozenset[Axis]) -> Iterator[None]:
        """Write in the outermost scope where all these axes are known."""
        depth = max((self._depth_of(axis) for axis in depends), default=0)
        inner, self.scopes = self.scopes, self.scopes[: depth + 1]
        try:
            yield
        finally:
            self.scopes = inner

    @contextmanager
    def loop(self, head: str, axes: Iterable[Axis], trips: int) -> Iterator[None]:
        """Write a loop that gives these axes a value."""
        outer = self.scopes[-1]
        self.tally.turns += outer.trips * max(trips, 1)
        self.scopes = [
            *self.scopes,
            Scope(set(axes), outer.trips * max(trips, 1)),
        ]
        body = self.scopes[-1]
        self.looping += 1
        try:
            yield
        finally:
            self.looping -= 1
            self.scopes = self.scopes[:-1]
            outer.lines.append(head)
            outer.lines += [f"    {line}" for line in body.lines]

    @contextmanager
    def multiplied(self, *, beside: bool) -> Iterator[None]:
        """Write a side of a product; `beside`: its right one."""
        before = self.multiplying, self.beside
        self.multiplying, self.beside = True, self.beside or beside
        try:
            yield
        finally:
            self.multiplying, self.beside = before

    def know(self, *axes: Axis) -> None:
        """Say that the innermost scope has given these axes a value."""
        self.scopes[-1].axes |= set(axes)

    def count(self, block: AxisBlock) -> None:
        """Write the indices of an axis that one block covers, where everybody sees them."""
        self.blocks[block.axis] = block
        with self.at(frozenset()):
            self.line(f"{block.name} = {self.lanes(block.size) if block.size > 1 else '0'}")
            self.know(block.axis)

    def knows(self, axis: Axis) -> bool:
        """Say whether an axis has a value where statements are written now."""
        return any(axis in scope.axes for scope in self.scopes)

    def _depth_of(self, axis: Axis) -> int:
        return next(k for k, scope in enumerate(self.scopes) if axis in scope.axes)

    def arithmetic(self, frame: Frame) -> FrameArithmetic:
        """Return how indices are written in a frame."""
        return FrameArithmetic(self.blocks, frame, lambda fetch: self._fetched(fetch, frame).text)

    def dims(self, depends: Iterable[Axis], frame: Frame) -> frozenset[Axis]:
        """Return the dimensions of a frame among some axes."""
        return frozenset(axis for axis in depends if axis in frame)

    def shape(self, dims: Iterable[Axis], frame: Frame) -> str:
        """Return the shape of what varies along these dimensions of a frame."""
        found = set(dims)
        sizes = [str(self.blocks[axis].size if axis in found else 1) for axis in frame]
        return f"[{', '.join(sizes)}]"

    def elements(self, dims: Iterable[Axis]) -> int:
        """Return how many lanes these dimensions have."""
        return math.prod(self.blocks[axis].size for axis in dims)

    def named(self, value: Value, stem: str) -> Value:
        """Return the value under a name of its own."""
        name = self.fresh(stem)
        self.line(f"{name} = {value.text}")
        return Value(name, value.dtype, value.dims, value.depends)

    def value(self, tensor: str, index: tuple[Index, ...], frame: Frame) -> Value:
        """Return an element of a tensor for every lane: loaded, or computed by its nest."""
        depends = frozenset(axis for part in index for axis in axes_of(part))
        place = tuple(axis if axis in depends else None for axis in frame)
        key = (tensor, index, place if any(place) else ())
        for scope in self.scopes:
            if key in scope.values:
                return scope.values[key]
        flat = tuple(axis for axis in place if axis)
        reduced = tensor in self.ops and self.ops[tensor].reduced and len(place) > len(flat) == 1
        for scope in self.scopes if reduced else ():
            if (tensor, index, flat) in scope.values:
                return scope.values[tensor, index, flat].spread(place)
        with self.at(depends):
            if tensor in self.ops:
                found = self._computed(self.ops[tensor], index, frame)
            else:
                found = self.load(Read(tensor, index), frame)
            self.scopes[-1].values[key] = found
        return found

    def load(self, read: Read, frame: Frame) -> Value:
        """Return what a read gives whose index is over the kernel's own axes."""
        kind, offset = self.types[read.tensor], self.offset(read.tensor, read.index)
        guards = [*read.guards, *ranges(read, kind.shape)]
        used = [offset, *(guard.index for guard in guards)]
        depends = frozenset(axis for each in used for axis in axes_of(each))
        dims = self.dims(depends, frame)
        with self.at(depends):
            mask = self.mask(depends, guards, frame)
            text = f"{self.pointer(read.tensor)} + "
            text += bounded(self.arithmetic(frame).index(offset), offset, guards, kind.size)
            if mask:
                if dims - axes_of(offset):
                    text = f"{text} + tl.full({self.shape(dims, frame)}, 0, tl.int32)"
                text += f", mask={mask}, other={spelling.otherwise(read.otherwise, kind.dtype)}"
            loaded = f"tl.load({text})" + (" != 0" if kind.dtype == "bool" else "")
            if read.tensor in self.constants:
                self.constant_loads.append((read.tensor, offset))
            elif self.tally.turns and not self.looping:
                self.late_loads.append((read.tensor, offset))
            found = self.named(Value(loaded, kind.dtype, dims, depends), self.pointer(read.tensor))
            count_load(self, found.text, LoadedBlock(read.tensor, offset, tuple(guards), dims))
            self.loaded[found.text] = not read.guards or read.otherwise == 0
            if read.otherwise == 0:
                self.guarded[found.text] = tuple(guards)
            return found

    def offset(self, tensor: str, index: Sequence[Index]) -> Index:
        """Return how far an element lies behind a tensor's beginning."""
        shape = self.types[tensor].shape
        order = self.orders.get(tensor) or range(len(shape))
        return flatten([index[d] for d in order], [shape[d] for d in order])

    def mask(self, depends: Iterable[Axis], guards: Sequence[Guard], frame: Frame) -> str:
        """Return the condition that lanes lie inside of their axes, and that guards hold."""
        arithmetic = self.arithmetic(frame)
        ordered = sorted(depends, key=lambda axis: axis.name)
        parts = [arithmetic.inside(axis) for axis in ordered if self.blocks[axis].padded]
        parts += [found for guard in guards if (found := arithmetic.condition(guard))]
        return " & ".join(dict.fromkeys(parts))

    def expression(self, expr: Expr, point: Point) -> Value:
        """Return an expression of a nest, evaluated at a point."""
        if id(expr) not in point.done:
            plain = simpler(expr, exact=not self.rounds_late)
            point.done[id(expr)] = expr, self._expression(plain, point)
        return point.done[id(expr)][1]

    def _expression(self, expr: Expr, point: Point) -> Value:
        match expr:
            case Constant(value, dtype):
                return Value(spelling.number(value, dtype), dtype)
            case Argument(position, _):
                return self._read(point.op.reads[position], point)
            case Accumulated():
                assert point.accumulated is not None
                return point.accumulated
            case Coordinate(index, dtype):
                return self._coordinate(substitute(index, point.bind), dtype, point.frame)
            case Inside(guards, _):
                return self._inside(bound_guards(guards, point.bind), point.frame)
            case Call("cast", (Constant(value, _),), dtype):
                return Value(spelling.number(value, dtype), dtype)
            case Call("cast", (inner,), dtype):
                given = self.expression(inner, point)
                text = spelling.casted(given.text, given.dtype, dtype)
                return Value(text, dtype, given.dims, given.depends)
            case Call("where", (condition, yes, no), _) if (
                found := self._settled(condition, yes, no, point)
            ) is not None:
                return found
            case Call():
                near = self.own_functions and point.op.dtype in spelling.HALVES
                called = at_once(expr, exact=not self.rounds_late, near=near)
                return self._call(*called, point)

    def _settled(self, condition: Expr, yes: Expr, no: Expr, point: Point) -> Value | None:
        """Return which of two a condition chooses where that is known; None: it is not.

        What is loaded may be zero wherever the condition does not hold: it then runs ahead.
        """
        from burnish.codegen.gpu.picked import picked

        if (found := picked(self, condition, yes, no, point)) or not isinstance(condition, Inside):
            return found
        guards = bound_guards(condition.guards, point.bind)
        if not guards:
            return self.expression(no if guards is None else yes, point)
        if no != Constant(0, no.dtype):
            return None
        value = self.expression(yes, point)
        return value if implied(guards, self.guarded.get(value.text, ())) else None

    def _call(self, function: str, arguments: Sequence[Expr], dtype: str, point: Point) -> Value:
        given = [self.expression(each, point) for each in arguments]
        depends = frozenset(axis for each in given for axis in each.depends)
        dims = frozenset(axis for each in given for axis in each.dims)
        texts = [each.text for each in given]
        if not depends or spelling.is_helper(function, arguments[-1].dtype):
            texts = [e.text if e.depends else spelling.tensor(e.text, e.dtype) for e in given]
        near = self.own_functions and point.op.dtype in spelling.HALVES
        text = spelling.called(
            function, texts, arguments[-1].dtype, self.helpers,
            near=near, rounded=not (near or self.halves),
        )  # fmt: skip
        result = Value(text, dtype, dims, depends)
        with self.at(depends):
            self.tally.work(function, self.elements(dims), self.scopes[-1].trips)
            many = spelling.called(function, ["#"] * len(given), arguments[-1].dtype, set())
            if len(text) > LONGEST or many.count("#") > len(given) or len(given[0].text) > 40:
                return self.named(result, function)
        return result

    def _read(self, read: Read, point: Point) -> Value:
        index = tuple(substitute(part, point.bind) for part in read.index)
        guards = bound_guards(read.guards, point.bind)
        kind = self.types[read.tensor]
        if guards is None or 0 in kind.shape:
            return Value(spelling.number(read.otherwise, kind.dtype), kind.dtype)
        if not guards:
            return self.value(read.tensor, index, point.frame)
        if read.tensor not in self.ops:
            key = (read.tensor, index, guards, read.otherwise, point.frame)
            for scope in self.scopes:
                if key in scope.values:
                    return scope.values[key]
            loaded = self.load(Read(read.tensor, index, guards, read.otherwise), point.frame)
            with self.at(loaded.depends):
                self.scopes[-1].values[key] = loaded
            return loaded
        inner = self.value(read.tensor, index, point.frame)
        inside = self._inside(guards, point.frame)
        text = (
            f"tl.where({inside.text}, {inner.text}, {spelling.number(read.otherwise, kind.dtype)})"
        )
        depends = inner.depends | inside.depends
        with self.at(depends):
            chosen = Value(text, kind.dtype, inner.dims | inside.dims, depends)
            return self.named(chosen, "chosen")

    def _inside(self, guards: tuple[Guard, ...] | None, frame: Frame) -> Value:
        if not guards:
            return Value(spelling.number(guards is not None, "bool"), "bool")
        depends = frozenset(axis for guard in guards for axis in axes_of(guard.index))
        parts = [self.arithmetic(frame).condition(guard) for guard in guards]
        text = " & ".join(part for part in parts if part)
        return Value(f"({text})", "bool", self.dims(depends, frame), depends)

    def _coordinate(self, index: Index, dtype: str, frame: Frame) -> Value:
        if not index.terms:
            return Value(spelling.number(index.constant, dtype), dtype)
        depends = axes_of(index)  # none where a place is fetched from where nothing varies
        text = f"tl.cast({self.arithmetic(frame).index(index)}, {spelling.TYPES[dtype]})"
        return Value(text, dtype, self.dims(depends, frame), depends)

    def _fetched(self, fetch: Fetch, frame: Frame) -> Value:
        key = (fetch, frame)
        for scope in self.scopes:
            if key in scope.values:
                return scope.values[key]
        found = self.value(fetch.tensor, fetch.index, frame)
        with self.at(found.depends):
            last = fetch.extent - 1
            up = f"tl.where({found.text} < 0, {found.text} + {fetch.extent}, {found.text})"
            text = f"tl.minimum(tl.maximum({up}, 0), {last}).to(tl.int64)"
            place = Value(text, "i64", found.dims, found.depends)
            result = self.scopes[-1].values[key] = self.named(place, "place")
        return result

    def _computed(self, op: TileOp, index: tuple[Index, ...], frame: Frame) -> Value:
        from burnish.codegen.gpu.reduction import reduced

        bind = dict(zip(op.spatial, index, strict=True))
        point = Point(op, bind, frame)
        if op.reduced:
            total = reduced(self, point)
            point = Point(op, bind, frame, accumulated=total)
        whole = (op.finish or Accumulated(op.body.dtype)) if op.reduced else op.body
        found = self.expression(whole, point)
        return found if found.text.isidentifier() else self.named(found, "nest")
