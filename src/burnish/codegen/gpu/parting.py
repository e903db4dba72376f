"""Which outputs of a group its anchor's programs store, and which need a launch of their own."""

from __future__ import annotations

from collections.abc import Collection

from burnish.codegen.gpu.form import form, places_of, stored_place
from burnish.tile.graph import TileOp
from burnish.tile.group import Group


def apart(group: Group, order: tuple[int, ...] | None) -> tuple[str, ...]:
    """Return outputs that the anchor's programs cannot store; `order` is that of its dimensions.

    What is stored by itself is read from memory: of nests ahead of it the anchor's programs then
    know nothing, so that one of these may have to be stored by itself, too.
    """
    anchor, others = group.anchor, group.outputs[:-1]
    alone: tuple[str, ...] = ()
    while True:
        ops = needed(group, anchor.output, alone)
        places = places_of(ops, anchor)
        shape = form(ops, anchor, order, places)
        stored = {
            op.output for op in ops if stored_place(op, anchor, places, shape) is not None
        }  # fmt: skip
        found = tuple(name for name in others if name in alone or name not in stored)
        if found == alone:
            return alone
        alone = found


def needed(group: Group, name: str, done: Collection[str]) -> tuple[TileOp, ...]:
    """Return the nests that lead to a tensor, those before what is already in memory left out."""
    known = {op.output: op for op in group.ops}
    wanted, waiting = set(), [name]
    while waiting:
        current = waiting.pop()
        if current in wanted or current not in known:
            continue
        wanted.add(current)
        waiting += [each for each in known[current].inputs if each not in done]
    return tuple(op for op in group.ops if op.output in wanted)
