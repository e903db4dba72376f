"""Conditions of reads over a kernel's own axes: those that need not be tested are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from burnish.tile.expr import Guard
from burnish.tile.graph import Read
from burnish.tile.index import Atom, Axis, Div, Index, Mod, axes_of, bounds, fetches_of, substitute

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


def run_of(offset: Index, guards: Iterable[Guard], dims: Iterable[Axis]) -> int:
    """Return how many neighbouring lanes one instruction loads: a power of two, up to `RUN`.

    Their elements lie side by side, each run of them begins at a multiple of its length in memory,
    and conditions hold for all of it or for none.
    """
    conditions, length = tuple(guards), RUN
    while length > 1 and not any(_in_runs(offset, conditions, axis, length) for axis in dims):
        length //= 2
    return length


def _in_runs(offset: Index, conditions: Iterable[Guard], axis: Axis, length: int) -> bool:
    along = [_walks(atom, axis, length) for atom, factor in offset.terms if factor == 1]
    rest = [(a, f) for a, f in offset.terms if f != 1 or not _walks(a, axis, length)]
    aligned = not any(factor % length for _, factor in rest) and not offset.constant % length
    steady = all(_stays(Index(((atom, 1),)), axis, length) for atom, _ in rest)
    return (
        sum(along) == 1
        and aligned
        and steady
        and all(_together(c, axis, length) for c in conditions)
    )


def _together(guard: Guard, axis: Axis, length: int) -> bool:
    """Say whether a condition holds for all of so many neighbours along an axis, or for none."""
    ends = (guard.index.constant - end for end in (guard.low, guard.high))
    return _stays(guard.index, axis, length) or (
        all(_divides(term, axis, length) for term in guard.index.terms)
        and not any(end % length for end in ends)
    )


def _walks(atom: Atom, axis: Axis, length: int) -> bool:
    """Say whether an index counts with an axis for so many steps, from a multiple of them on."""
    match atom:
        case Mod(Index(((Axis() as own, 1),), shift), by):
            return own == axis and by % length == 0 and shift % length == 0
    return atom == axis


def _stays(index: Index, axis: Axis, length: int) -> bool:
    """Say whether an index is the same for so many neighbours along an axis."""
    for atom, _ in index.terms:
        match atom:
            case Div(of, by):
                steps = by % length == 0 and of.constant % length == 0
                if not _stays(of, axis, length) and not (
                    steps and all(_divides(term, axis, length) for term in of.terms)
                ):
                    return False
            case Mod(of, _):
                if not _stays(of, axis, length):
                    return False
            case _:
                if axis in axes_of(Index(((atom, 1),))):
                    return False
    return True


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


def _divides(term: tuple[Atom, int], axis: Axis, length: int) -> bool:
    """Say whether what is divided counts with an axis, or is the same for runs of its steps."""
    atom, factor = term
    return term == (axis, 1) or (factor % length == 0 and axis not in axes_of(Index(((atom, 1),))))
