"""Conditions of reads over a kernel's own axes: those that need not be tested are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from burnish.tile.expr import Guard
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Div, Index, Mod, axes_of, bounds, fetches_of, substitute

Bind = Mapping[Axis, Index]
"""What the axes of a nest are, over the blocks of the kernel."""


def bound_guards(guards: Iterable[Guard], bind: Bind) -> tuple[Guard, ...] | None:
    """Return guards over the kernel's axes, but those that always hold; None: one never does."""
    result = []
    for guard in guards:
        index = substitute(guard.index, bind)
        low, high = bounds(index)
        if high < guard.low or low >= guard.high:
            return None
        if low < guard.low or high >= guard.high:
            result.append(Guard(index, guard.low, guard.high))
    return tuple(result)


def ranges(
    read: Read, shape: tuple[int, ...], known: Mapping[Axis, tuple[int, int]] | None = None
) -> Iterator[Guard]:
    """Yield the conditions that keep an index inside of its tensor, where nothing else does.

    Of some axes it may be known that they do not run from their beginning to their end.
    """
    for index, extent in zip(read.index, shape, strict=True):
        low, high = bounds(index, known)
        if (low < 0 or high >= extent) and not any(
            _holds(guard, index, extent) for guard in read.guards
        ):
            yield Guard(index, 0, extent)


def bounded(text: str, offset: Index, guards: Iterable[Guard], size: int) -> str:
    """Return the text of an offset that is inside of a tensor whatever places guards ask for.

    Guards keep it there, but of places that are fetched nobody who looks at a kernel sees that.
    """
    low, high = bounds(offset)
    if not any(fetches_of(guard.index) for guard in guards) or (low >= 0 and high < size):
        return text
    return f"tl.minimum(tl.maximum({text}, 0), {size - 1})"


def _holds(guard: Guard, index: Index, extent: int) -> bool:
    """Say whether a guard keeps an index inside of a dimension."""
    shift = index - guard.index
    low, high = guard.low + shift.constant, guard.high + shift.constant
    return not shift.terms and low >= 0 and high <= extent


def implied(wanted: Iterable[Guard], given: Iterable[Guard]) -> bool:
    """Say whether some conditions hold wherever others do, each because of one of these."""
    known = [(each.index.terms, *_bare(each)) for each in given]
    return all(
        any(
            terms == each.index.terms and _bare(each)[0] <= low and high <= _bare(each)[1]
            for terms, low, high in known
        )
        for each in wanted
    )


def _bare(guard: Guard) -> tuple[int, int]:
    """Return the bounds of what a condition asks of an index without its constant."""
    return guard.low - guard.index.constant, guard.high - guard.index.constant


RUN = 8
"""Neighbouring elements that one instruction loads."""


def scattered(offset: Index, guards: Iterable[Guard], dims: Iterable[Axis]) -> bool:
    """Say whether each lane is loaded by itself.

    Lanes are loaded together along an axis on which elements lie side by side, unless conditions
    hold for some of them only.
    """
    conditions = [guard.index for guard in guards]
    for axis in dims:
        steady = any(
            factor == 1 and _runs(Index(((atom, 1),)), axis) for atom, factor in offset.terms
        )
        if steady and not any(_changes(index, axis) for index in conditions):
            return False
    return True


def narrow(offset: Index, bits: int, dims: Iterable[Axis]) -> bool:
    """Say whether no four bytes of what lanes load lie side by side, where one load could begin.

    Triton fetches nothing ahead of a loop's turn that is loaded in fewer.
    """
    together = 32 // bits
    if together <= 1 or not dims:
        return False
    if offset.constant % together:
        return True
    odd = [term for term in offset.terms if term[1] % together]
    return (
        not any(
            factor == 1 and any(_runs(Index(((atom, 1),)), axis) for axis in dims)
            for atom, factor in odd
        )
        or len(odd) > 1
    )


def _runs(index: Index, axis: Axis) -> bool:
    match index:
        case Index(((Axis() as own, 1),), _):
            return own == axis
        case Index(((Mod(of, by), 1),), _):
            return by >= RUN and _runs(of, axis)
    return False


def _changes(index: Index, axis: Axis) -> bool:
    """Say whether an index differs between neighbours along an axis."""
    for atom, _ in index.terms:
        match atom:
            case Div(of, by):
                changes = by < RUN and _changes(of, axis)
            case Mod(of, _):
                changes = _changes(of, axis)
            case _:
                changes = axis in axes_of(Index(((atom, 1),)))
        if changes:
            return True
    return False
