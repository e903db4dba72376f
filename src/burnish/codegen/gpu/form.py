"""How the output of a kernel is cut into blocks: rows, columns, and what programs count singly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.codegen.gpu.operands import contracts
from burnish.tile.graph import TileOp
from burnish.tile.index import Axis, Index, at, axes_of, substitute
from burnish.tile.vectors import is_sum_of_products

Places = Mapping[str, tuple[tuple[Index, ...], ...]]
"""Where each tensor is read when the anchor is computed, over the anchor's axes."""

ALONG = "along"
"""The setting of blocks whose lanes run along another dimension than the output's last one."""
MOST_TAPS = 64
"""Terms of a window that one thread adds up, where neighbours share none of them."""
LEAST_SHARING = 16
"""Averages with the same weights that a block has to itself."""
_MOST_PLACES = 64
"""Different places of one tensor that are followed further."""


@dataclass(frozen=True, slots=True)
class Form:
    """The axes of an anchor by their part in a program's block; each list is walked as one."""

    rows: tuple[Axis, ...]
    columns: tuple[Axis, ...] = ()
    batch: tuple[Axis, ...] = ()
    whole: bool = False
    """Whether a block must have all columns, as something is reduced over them."""
    multiplies: bool = False
    """Whether tensor cores work on it."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return how many rows, columns and single steps there are."""
        rows, columns, batch = (
            math.prod(axis.extent for axis in axes)
            for axes in (self.rows, self.columns, self.batch)
        )
        return rows, columns, batch


def form(
    ops: Sequence[TileOp], anchor: TileOp, order: Sequence[int] | None, places: Places
) -> Form:
    """Return how the anchor's output is cut; `order` is how its dimensions lie in memory."""
    ordered = tuple(anchor.spatial[d] for d in order or range(len(anchor.spatial)))
    inside = [op for op in ops if op.output in places]
    multiplies = any(contracts(op) for op in inside)

    def made(rows: Iterable[Axis], columns: Iterable[Axis], *, whole: bool) -> Form:
        r, c = set(rows), set(columns)
        batch = tuple(axis for axis in ordered if axis not in r | c and axis.extent > 1)
        return Form(
            tuple(a for a in ordered if a in r), tuple(a for a in ordered if a in c), batch,
            whole, multiplies,
        )  # fmt: skip

    roles = contracts(anchor)
    if roles is not None:
        return made(*roles, whole=False)
    if (columns := _reduced_over(inside, anchor, places)) is not None:
        return made([axis for axis in ordered if axis not in columns], columns, whole=True)
    for op in reversed(inside):
        found = _roles_of(op, anchor, places)
        if found is not None:
            return made(*found, whole=False)
    return made(_sharing_weights(inside, anchor, places) or ordered, (), whole=False)


def walked(
    anchor: TileOp, orders: Mapping[str, tuple[int, ...]], settings: Mapping[str, int]
) -> tuple[int, ...]:
    """Return an output's dimensions as lanes run over them: as in memory, or along another one."""
    own = orders.get(anchor.output) or tuple(range(len(anchor.spatial)))
    along = settings.get(ALONG)
    # an output that a launch of its own stores may not have it
    return (*(d for d in own if d != along), along) if along in own else own


def read_along(
    ops: Sequence[TileOp], anchor: TileOp, orders: Mapping[str, tuple[int, ...]]
) -> int | None:
    """Return the dimension along which what is summed up lies side by side; None: the output does.

    Where terms are many, lanes that load side by side are worth that what they store is scattered.
    """
    long = max((op for op in ops if op.reduced), key=lambda op: op.terms)
    if not long.reads:
        return None
    tensor = long.reads[0].tensor
    outer = walked(anchor, orders, {})
    last = next((d for d in reversed(outer) if anchor.shape[d] > 1), None)
    for place in places_of(ops, anchor).get(tensor, ())[:1]:
        order = orders.get(tensor) or range(len(place))
        inner = next((place[d] for d in reversed(order) if axes_of(place[d])), Index())
        for dim, axis in enumerate(anchor.spatial):
            if (axis, 1) in inner.terms and dim != last:
                return dim
    return None


def places_of(ops: Sequence[TileOp], anchor: TileOp) -> dict[str, tuple[tuple[Index, ...], ...]]:
    """Return where every tensor is read, the anchor's own output at its own axes."""
    known = {op.output: op for op in ops}
    found: dict[str, dict[tuple[Index, ...], None]] = {}
    waiting = [(anchor.output, tuple(at(axis) for axis in anchor.spatial))]
    while waiting:
        tensor, index = waiting.pop()
        seen = found.setdefault(tensor, {})
        if index in seen or len(seen) >= _MOST_PLACES:
            continue
        seen[index] = None
        op = known.get(tensor)
        if op is None:
            continue
        bind = dict(zip(op.spatial, index, strict=True))
        bind |= {a: at(Axis(f"{op.output}.{a.name}", a.extent)) for a in op.reduced}
        accesses = [(each.tensor, each.index) for each in op.reads]
        accesses += [(each.tensor, each.index) for each in op.fetches]
        waiting += [
            (name, tuple(substitute(part, bind) for part in place)) for name, place in accesses
        ]
    return {name: tuple(indices) for name, indices in found.items()}


def stored_place(
    op: TileOp, anchor: TileOp, places: Places, kept: Form
) -> tuple[Index, ...] | None:
    """Return where a nest's output can be stored by the anchor's programs; None: nowhere.

    Each program must have just its own part of it: one axis of the anchor per dimension.
    """
    axes = set(anchor.spatial)
    for index in places.get(op.output, ()):
        used = [axis for part in index for axis in axes_of(part)]
        plain = all(
            part == at(next(iter(axes_of(part)))) if axes_of(part) else extent == 1
            for part, extent in zip(index, op.shape, strict=True)
        )
        if not plain or len(set(used)) != len(used) or not set(used) <= axes:
            continue
        fits = all(
            a.extent == e for a, e in zip(used, [e for e in op.shape if e > 1], strict=False)
        )
        left = {axis for axis in axes - set(used) if axis.extent > 1}
        if fits and (not left or (kept.whole and left <= set(kept.columns))):
            return index
    return None


def window_axes(ops: Sequence[TileOp], anchor: TileOp, places: Places) -> tuple[Axis, ...]:
    """Return the anchor's axes along which windows slide, the innermost first.

    Neighbours along them read mostly the same: written side by side, they share by name.
    """
    found: dict[Axis, None] = {}
    for op in ops:
        if op.combine is None or contracts(op) or op.output not in places or _parts_of_rows(op):
            continue
        parts = [part for read in op.reads for part in read.index]
        slid = [axes_of(part) for part in parts if axes_of(part) & set(op.reduced)]
        for axis, index in zip(op.spatial, places[op.output][0], strict=True):
            own = next(iter(axes_of(index)), None)
            if any(axis in axes for axes in slid) and own in anchor.spatial and index == at(own):
                found[own] = None
    return tuple(axis for axis in reversed(anchor.spatial) if axis in found)


def _parts_of_rows(op: TileOp) -> bool:
    """Say whether windows have nothing in common, and more terms than one thread should add up."""
    own, inner = set(op.spatial), set(op.reduced)
    if op.terms <= MOST_TAPS:
        return False
    for part in (part for read in op.reads for part in read.index):
        steps = [abs(step) for atom, step in part.terms if own & axes_of(Index(((atom, 1),)))]
        taps = [
            atom.extent * abs(step)
            for atom, step in part.terms
            if isinstance(atom, Axis) and atom in inner
        ]
        if steps and taps and min(steps) < max(taps):
            return False
    return True


def phased(shape: Form, counts: Mapping[Axis, int]) -> tuple[Form, dict[Axis, Axis]]:
    """Return the form whose steps along some axes are several elements long, and its axes."""
    axes = {
        axis: Axis(f"{axis.name}s", -(-axis.extent // counts.get(axis, 1)))
        for axis in (*shape.rows, *shape.columns, *shape.batch)
    }

    def renamed(old: Sequence[Axis]) -> tuple[Axis, ...]:
        return tuple(axes[axis] for axis in old)

    rows, columns, batch = map(renamed, (shape.rows, shape.columns, shape.batch))
    return replace(shape, rows=rows, columns=columns, batch=batch), axes


def _reduced_over(ops: Sequence[TileOp], anchor: TileOp, places: Places) -> frozenset[Axis] | None:
    """Return the anchor's axes along which something that it needs is reduced."""
    own = {axis for axis in anchor.spatial if axis.extent > 1}
    for op in reversed(ops):
        if not op.reduced or op is anchor:
            continue
        terms = op.terms
        for index in places[op.output]:
            used = {axis for part in index for axis in axes_of(part)}
            missing = own - used
            if used <= own and missing and math.prod(a.extent for a in missing) == terms:
                return frozenset(missing)
    return None


def _sharing_weights(
    ops: Sequence[TileOp], anchor: TileOp, places: Places
) -> tuple[Axis, ...] | None:
    """Return the axes of what is averaged with the same weights; None: there are no such.

    Weights of a single row, as a softmax gives them to each head of a decoder, are computed once
    for a block of such axes, and by every lane where a block also runs along others.
    """
    if not is_sum_of_products(anchor):
        return None
    inner = [op for op in ops if op is not anchor and op.reduced and op.terms == anchor.terms]
    found = [index for op in inner for place in places[op.output] for index in place]
    used = {axis for index in found for axis in axes_of(index)} & set(anchor.spatial)
    left = tuple(axis for axis in anchor.spatial if axis.extent > 1 and axis not in used)
    heads = math.prod(axis.extent for axis in used)
    return left if heads > 1 and math.prod(a.extent for a in left) >= LEAST_SHARING else None


def _roles_of(
    op: TileOp, anchor: TileOp, places: Places
) -> tuple[frozenset[Axis], frozenset[Axis]] | None:
    """Return the anchor's axes that are rows and columns of a product inside of the kernel."""
    roles = contracts(op)
    if roles is None:
        return None
    own = set(anchor.spatial)
    for index in places[op.output]:
        parts = dict(zip(op.spatial, index, strict=True))
        rows, columns = (
            frozenset(axis for each in axes for axis in axes_of(parts[each]) if axis in own)
            for axes in roles
        )
        if rows and columns and not rows & columns:
            return rows, columns
    return None
