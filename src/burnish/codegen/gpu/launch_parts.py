"""What is launched for a group: one kernel, or two where sums are formed in parts."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from burnish.codegen.gpu.beginning import BEGUN, BlockMoments, block_moments
from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.operands import contracts
from burnish.codegen.gpu.parting import apart, needed
from burnish.codegen.gpu.summing import (
    SUMMED,
    ProgramSums,
    added_up,
    adding,
    image_sum,
    sums_of,
)
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TileOp
from burnish.tile.group import Group
from burnish.tile.steps.parts import cut
from burnish.tile.steps.unused import free_name

LONG = 2048
"""Terms of a sum of rows that is worth forming in parts."""
LANES = 1024
"""Elements of a block, unless its schedule says more."""
PROGRAMS = 256
"""Of a launch that adds up parts; there are 78 to 148 multiprocessors."""


@dataclass(frozen=True, slots=True)
class LaunchPart:
    """What one launch computes: nests, the one whose output is cut, and what is written."""

    ops: tuple[TileOp, ...]
    outputs: tuple[str, ...]
    """The anchor's last."""
    scratch: frozenset[str] = frozenset()
    """Tensors that only launches of the same group see."""
    sums: ProgramSums | None = None
    """What its programs give of the sums over what they write."""
    blocks: Mapping[str, int] | None = None
    """Its own, where they are not those of the group."""
    moments: BlockMoments | None = None
    """What its programs give of the rows that they write."""

    @property
    def stored(self) -> tuple[str, ...]:
        """Return the outputs that its nests compute."""
        own = {op.output for op in self.ops}
        return tuple(name for name in self.outputs if name in own)

    @property
    def anchor(self) -> TileOp:
        """Return the nest whose output is cut into blocks."""
        return next(op for op in self.ops if op.output == self.outputs[-1])


def parts(
    group: Group,
    orders: Mapping[str, tuple[int, ...]],
    settings: Mapping[str, int] = MappingProxyType({}),
    taken: Collection[str] = (),
) -> tuple[LaunchPart, ...]:
    """Return what is launched for a group: outputs that the anchor's programs cannot store first.

    With `split`, the sums of its only product are formed in so many parts, and added up by a
    launch of their own: few rows keep few programs busy otherwise. Likewise with `summed`, where
    programs begin the sums over what they write. What one hands to the other is called by none of
    the names `taken`.
    """
    if SUMMED in settings:
        return _begun_sums(group, orders, settings, taken)
    if BEGUN in settings and (found := block_moments(group, orders)) is not None:
        image = found.ops[-1].output
        return (LaunchPart(found.ops, (*found.outputs, image), moments=found),)
    if (split := settings.get("split", 1)) > 1:
        product = splittable(group)
        assert product is not None
        first, second = cut(product, split, taken)
        ops = tuple(second if op is product else op for op in group.ops)
        before = needed(Group((*_before(group, product), first), (first.output,)), first.output, ())
        scratch = frozenset({first.output})
        after = LaunchPart(
            needed(Group(ops, group.outputs), group.outputs[-1], ()),
            group.outputs, scratch, blocks=_adding(ops[-1]),
        )  # fmt: skip
        return LaunchPart(before, (first.output,), scratch), after
    alone = apart(group, orders.get(group.anchor.output))
    together = tuple(name for name in group.outputs if name not in alone)
    result: list[LaunchPart] = []
    for number, name in enumerate((*alone, group.anchor.output)):
        own = together if number == len(alone) else (name,)
        result.append(LaunchPart(needed(group, name, alone[:number]), own))
    return tuple(result)


def _begun_sums(
    group: Group,
    orders: Mapping[str, tuple[int, ...]],
    settings: Mapping[str, int],
    taken: Collection[str],
) -> tuple[LaunchPart, ...]:
    """Return what writes an image and begins the sums over it, and what adds these up."""
    found = image_sum(group)
    sums = sums_of(found, orders, settings) if found else None
    if found is None or sums is None:
        raise NoGroupError("its programs have no whole parts of the sums over what they write")
    sums = replace(sums, tensor=free_name(sums.tensor, {*taken}))
    scratch = frozenset({sums.tensor})
    image, count = found.image.output, math.prod(found.total.shape)
    total = LaunchPart(
        (added_up(found, sums),), group.outputs[1:], scratch, blocks=adding(sums, count)
    )
    return LaunchPart(found.ops, (image,), scratch, sums), total


def splittable(group: Group) -> TileOp | None:
    """Return the product, or else the long sum, that can be formed in parts; None: neither."""
    products = [op for op in group.ops if contracts(op)]
    sums = [op for op in group.ops if op.combine == "sum" and op.terms >= LONG]
    found = products or sums
    if len(found) != 1 or len(group.outputs) > 1:
        return None
    return found[0]


def _before(group: Group, op: TileOp) -> tuple[TileOp, ...]:
    return group.ops[: group.ops.index(op)]


def _adding(anchor: TileOp) -> Mapping[str, int]:
    """Return blocks for what adds up parts: so many programs that no multiprocessor is idle."""
    fits = power_of_two(math.prod(anchor.shape) // PROGRAMS)
    return {"lanes": min(max(fits, 128), LANES)}
