"""Shares of a sum of powers: multiplied by one over it, which is divided once for many of them.

A vector of sixteen quotients takes sixteen clocks on some cores, a product half a clock, and an
attention has as many shares as scores. `exp` gives normal numbers or zero, so that one over a sum
of them overflows for zero only, where a share is NaN both ways; over the largest sum it is a
subnormal number of 22 bits. Rounding twice is 1.5 units in the last place at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from burnish.tile.expr import Accumulated, Argument, Call, call
from burnish.tile.graph import TileOp
from burnish.tile.group import Group

Known = Mapping[str, TileOp]
"""The nest that computes each tensor."""


def by_reciprocals(group: Group) -> Group:
    """Return a group whose shares of sums of powers are products."""
    known = {op.output: op for op in group.ops}
    return replace(group, ops=tuple(_by_reciprocal(op, known) for op in group.ops))


def _by_reciprocal(op: TileOp, known: Known) -> TileOp:
    match op.body:
        case Call("divide", (Argument(above, "f32") as power, Argument(below, "f32") as whole), _):
            element, total = op.reads[above].tensor, known.get(op.reads[below].tensor)
        case _:
            return op
    if op.reduced or total is None or not _sums_powers(total, element, known):
        return op
    return replace(op, body=call("multiply", power, call("reciprocal", whole)))


def _sums_powers(total: TileOp, element: str, known: Known) -> bool:
    """Say whether a nest sums a tensor of powers, and nothing else."""
    powers = known.get(element)
    return (
        total.combine == "sum"
        and isinstance(total.body, Argument)
        and total.finish in (None, Accumulated("f32"))
        and total.inputs == (element,)
        and powers is not None
        and isinstance(powers.body, Call)
        and powers.body.function == "exp"
        and not powers.reduced
    )
