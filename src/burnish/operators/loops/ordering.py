"""Which elements of long rows come first: of parts of a row, then of those that came first there.

Whoever is among the first k of a row is among the first k of its part, so pairs are compared inside
of parts, and then of what is left of them: of 19,200 elements whose first 64 are wanted, 10 million
instead of 369. Equals stay as they were: parts are in order, and so are the first of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.tile.expr import (
    Accumulated,
    Argument,
    Constant,
    Coordinate,
    Expr,
    Guard,
    Inside,
    call,
    cast,
)
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, floor_divide, remainder
from burnish.tile.pointwise import wide
from burnish.tile.semantics import NestBuilder, Reduction, axes_for

PARTS = (128, 256, 512, 1024)
"""Elements of a part that are tried."""
WORTH_PAIRS = 1 << 23
"""That are saved: about what two more kernels take."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A row of so many elements in parts of so many, of each of which so many are kept."""

    length: int
    part: int
    kept: int

    @property
    def parts(self) -> int:
        """Return how many parts there are; the last may reach beyond the row."""
        return -(-self.length // self.part)

    @property
    def candidates(self) -> int:
        """Return how many elements are kept, with what lies beyond the row."""
        return self.parts * self.kept

    @property
    def pairs(self) -> int:
        """Return how many pairs are compared for a row, ranks that are looked for included."""
        inside = self.parts * self.part * self.part
        return inside + 2 * self.candidates * self.part + self.candidates**2


def cut(length: int, count: int, rows: int) -> Cut | None:
    """Return how rows are best cut, of which so many come first; None: they are best left whole."""
    every = [Cut(length, part, min(count, part)) for part in PARTS if 2 * part <= length]
    best = min(every, key=lambda each: each.pairs, default=None)
    if best is None or rows * (length * length - best.pairs) < WORTH_PAIRS:
        return None
    return best


def candidates(
    builder: NestBuilder, source: str, axis: int, how: Cut, *, largest: bool
) -> tuple[str, str]:
    """Add, for what is kept of rows, how many come before each, and where in its row it is."""
    ranks = _inside(builder, source, axis, how, largest=largest)
    place = _kept(builder, source, ranks, axis, how)
    value = _values(builder, source, ranks, axis, how)
    return _among(builder, value, axis, how, largest=largest), place


def _inside(builder: NestBuilder, source: str, axis: int, how: Cut, *, largest: bool) -> str:
    """Add for each element how many of its part come before it; what is none comes last."""
    shape = builder.type(source).shape
    axes = axes_for((*shape[:axis], how.parts, how.part, *shape[axis + 1 :]))
    part, own = at(axes[axis]) * how.part, at(axes[axis + 1])
    other = Axis("r", how.part)
    outside = [at(one) for k, one in enumerate(axes) if k not in (axis, axis + 1)]
    guards = [Guard(part + each, 0, how.length) for each in (own, at(other))]
    reads = [
        Read(source, (*outside[:axis], part + each, *outside[axis:]), (guard,), 0)
        for each, guard in zip((own, at(other)), guards, strict=True)
    ]
    kind = builder.type(source).dtype
    before = earlier(wide(Argument(0, kind)), wide(Argument(1, kind)), largest=largest,
                     behind=Inside((Guard(own - at(other), 1, how.part),)))  # fmt: skip
    before = call("and", Inside((guards[1],)), before)
    none = cast(Coordinate(own), "i32")
    finish = call("where", Inside((guards[0],)), Accumulated("i32"), none)
    over = Reduction((other,), "sum", finish)
    return builder.add(builder.fresh(f"{source}.inside"), axes, reads, _one_if(before), over)


def _kept(builder: NestBuilder, source: str, ranks: str, axis: int, how: Cut) -> str:
    """Add where in its row each of those that are kept is."""
    axes, each, read, here = _picking(builder, source, ranks, axis, how)
    position = floor_divide(at(axes[axis]), how.kept) * how.part + at(each)
    # places are sure to exist: nobody has to look at them
    inside = call("minimum", Coordinate(position), Constant(how.length - 1, "i64"))
    body = call("where", here, inside, Constant(0, "i64"))
    name = builder.fresh(f"{source}.kept")
    return builder.add(name, axes, [read], body, Reduction((each,), "max"))


def _values(builder: NestBuilder, source: str, ranks: str, axis: int, how: Cut) -> str:
    """Add the elements that are kept."""
    axes, each, read, here = _picking(builder, source, ranks, axis, how)
    position = floor_divide(at(axes[axis]), how.kept) * how.part + at(each)
    index = with_index(axes, axis, position)
    given = Read(source, index, (Guard(position, 0, how.length),), 0)
    kind = builder.type(source).dtype
    value = wide(Argument(1, kind))
    body = call("where", here, value, Constant(0.0 if kind[0] == "f" else 0, value.dtype))
    over = Reduction((each,), "sum", cast(Accumulated(value.dtype), kind))
    return builder.add(builder.fresh(f"{source}.first"), axes, [read, given], body, over)


def _picking(
    builder: NestBuilder, source: str, ranks: str, axis: int, how: Cut
) -> tuple[tuple[Axis, ...], Axis, Read, Expr]:
    """Return axes of what is kept, one along a part, its ranks, and which of these is the one."""
    shape = builder.type(source).shape
    axes = axes_for((*shape[:axis], how.candidates, *shape[axis + 1 :]))
    each = Axis("r", how.part)
    part, rank = floor_divide(at(axes[axis]), how.kept), remainder(at(axes[axis]), how.kept)
    outside = tuple(map(at, axes))
    read = Read(ranks, (*outside[:axis], part, at(each), *outside[axis + 1 :]))
    here = call("equal", Argument(0, "i32"), cast(Coordinate(rank), "i32"))
    return axes, each, read, here


def _among(builder: NestBuilder, values: str, axis: int, how: Cut, *, largest: bool) -> str:
    """Add for what is kept how many of it come before; what lies beyond the row comes last."""
    kind = builder.type(values)
    axes, other = axes_for(kind.shape), Axis("r", how.candidates)
    own = at(axes[axis])
    reads = [Read(values, with_index(axes, axis, each)) for each in (own, at(other))]

    def exists(each: Index) -> Expr:
        position = floor_divide(each, how.kept) * how.part + remainder(each, how.kept)
        return Inside((Guard(position, 0, how.length),))

    first, second = (wide(Argument(number, kind.dtype)) for number in (0, 1))
    before = earlier(first, second, largest=largest,
                     behind=Inside((Guard(own - at(other), 1, how.candidates),)))  # fmt: skip
    before = call("and", exists(at(other)), before)
    last = Constant(how.candidates, "i32")
    over = Reduction((other,), "sum", call("where", exists(own), Accumulated("i32"), last))
    return builder.add(builder.fresh(f"{values}.ranks"), axes, reads, _one_if(before), over)


def _one_if(condition: Expr) -> Expr:
    return call("where", condition, Constant(1, "i32"), Constant(0, "i32"))


def earlier(own: Expr, rival: Expr, *, largest: bool, behind: Expr) -> Expr:
    """Return whether a rival comes first; of equals it does where the other is behind it.

    What is no number counts as the largest of all, as PyTorch has it: each place is taken once.
    """
    alike = call("equal", own, rival)
    pair = (own, rival) if largest else (rival, own)
    if own.dtype[0] != "f":
        return call("or", call("less", *pair), call("and", alike, behind))
    low, high = pair
    none = [call("not", call("equal", each, each)) for each in pair]
    first = call("and", call("not", none[0]), call("not", call("less_equal", high, low)))
    alike = call("or", alike, call("and", *none))
    return call("or", first, call("and", alike, behind))


def with_index(axes: Sequence[Axis], place: int, index: Index) -> tuple[Index, ...]:
    """Return the index of a point of axes, with another one at a place."""
    return tuple(index if k == place else at(axis) for k, axis in enumerate(axes))
