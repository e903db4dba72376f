"""Whether a kernel stays inside of its tensors: its own source, run over indices alone.

An emitted module is executed with stand-ins for Triton, many programs at once. What is loaded is
nobody's concern, unless it becomes an index: then it is all that it was clamped to. Every address
that a lane may use must lie in its tensor, and must not have been cut off at 32 bits on the way.
Neither a device nor Triton nor memory for the tensors is needed.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from burnish.codegen.gpu.lanes import (
    DATA,
    BlockLanes,
    Data,
    IndexType,
    Whole,
    aligned,
    between,
    chosen,
    known,
    lanes_of,
    larger,
    smaller,
)
from burnish.codegen.gpu.launch import Launch
from burnish.codegen.gpu.sequence import Sequenced
from burnish.core.tensors import BITS

AT_ONCE = 16
"""Programs that are looked at together."""
SOME = 96
"""Programs of a launch that are looked at where not all are asked for."""


@dataclass(frozen=True, slots=True)
class Breach:
    """An access outside of a tensor, or at an address that 32 bits cut off."""

    kernel: str
    statement: str
    program: int
    tensor: str
    elements: int
    low: int
    high: int
    """Where it may access the tensor, in elements."""

    def __str__(self) -> str:
        return (
            f"{self.kernel}, program {self.program}: {self.tensor!r} has {self.elements:,} "
            f"elements, and {self.low:,} to {self.high:,} are accessed by: {self.statement}"
        )


def plan_breaches(plan: Sequenced, *, all_programs: bool = False) -> tuple[Breach, ...]:
    """Return what the launches of a model access outside of its tensors; equal ones once."""
    elements = {name: kind.size for name, kind in plan.graph.tensors.items()}
    unique = {launch.name: launch for launches in plan.launches for launch in launches}
    return tuple(
        found
        for launch in unique.values()
        for found in breaches(launch, elements, all_programs=all_programs)
    )


def breaches(
    launch: Launch, elements: Mapping[str, int], *, all_programs: bool = False
) -> tuple[Breach, ...]:
    """Return the statements of a kernel that leave their tensors, each with one program.

    `elements` says how large the tensors are; scratch is as large as the launch says. Unless all
    programs are asked for, those at both ends and some between are looked at.
    """
    names = (*launch.arguments, *launch.scratch)
    bits = dict(zip(names, (BITS[dtype] for dtype in launch.dtypes), strict=True))
    sizes = {name: elements[name] for name in launch.arguments}
    sizes |= {name: size * 8 // bits[name] for name, size in launch.scratch.items()}
    code = compile(launch.source, launch.name, "exec")
    found: dict[str, Breach] = {}
    for programs in _programs(launch.grid[0], all_programs=all_programs):
        watch = _Watch(launch, programs, found)
        scope: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": watch.imported}}
        exec(code, scope)
        scope[launch.name](*(_Place(name, sizes[name]) for name in names))
    return tuple(found.values())


def _programs(count: int, *, all_programs: bool) -> Sequence[Whole]:
    """Return the programs to look at, in lots."""
    wanted = np.arange(count)
    if not all_programs and count > SOME:
        ends = SOME // 3
        between = np.linspace(ends, count - ends - 1, SOME - 2 * ends).astype(np.int64)
        wanted = np.unique(np.concatenate([wanted[:ends], between, wanted[-ends:]]))
    return np.array_split(wanted, -(-len(wanted) // AT_ONCE))


@dataclass(frozen=True, slots=True)
class _Place:
    """A pointer to elements of a tensor."""

    tensor: str
    elements: int
    offset: BlockLanes = field(default_factory=lambda: known(np.zeros(1, np.int64)))

    def __sub__(self, other: object) -> _Place:
        back: object = 0 - other  # type: ignore[operator]
        return self + back

    def __add__(self, other: object) -> _Place:
        step = lanes_of(other)
        if step is None:
            raise TypeError(f"an address of {self.tensor!r} depends on data that nothing bounds")
        first, second = aligned(self.offset, step)
        # addresses have 64 bits, whatever the offset has that is added to them
        wide = BlockLanes(first.low, first.high, 64, first.wrapped)
        total: Any = wide + second  # type: ignore[operator]
        return _Place(self.tensor, self.elements, total)


@dataclass(frozen=True, slots=True)
class _Watch:
    """Stands in for Triton, and looks at every access of some programs of a kernel."""

    launch: Launch
    programs: Whole
    found: dict[str, Breach]

    def imported(self, *_: object) -> object:
        """Return what a kernel's module imports: `triton`, whose only function marks kernels."""
        return SimpleNamespace(jit=lambda function: function, language=_Language(self))

    def access(self, place: _Place, mask: object) -> None:
        """Note what an access may reach that the tensor does not have."""
        # of a mask that depends on data nothing is known: it may let every lane through
        offset, allowed = aligned(place.offset, lanes_of(mask) or between(0, 1, 1))
        wrong = (offset.low < 0) | (offset.high >= place.elements) | offset.wrapped
        bad = wrong & ((allowed.high != 0) | allowed.wrapped)
        if not bad.any():
            return
        statement = self.launch.source.splitlines()[sys._getframe(2).f_lineno - 1].strip()
        lot = int(np.argwhere(bad)[0][0]) if len(bad) > 1 else 0
        low, high = (np.broadcast_to(each, bad.shape)[bad] for each in (offset.low, offset.high))
        breach = Breach(
            self.launch.name, statement, int(self.programs[lot]), place.tensor, place.elements,
            int(low.min()), int(high.max()),
        )  # fmt: skip
        self.found.setdefault(statement, breach)


class _Language:
    """Stands in for `triton.language`; functions that are not here make data of data."""

    int32, int64 = IndexType(32), IndexType(64)
    where, maximum, minimum = staticmethod(chosen), staticmethod(larger), staticmethod(smaller)

    def __init__(self, watch: _Watch) -> None:
        self._watch = watch

    def __getattr__(self, _: str) -> Data:
        return DATA

    def program_id(self, _: int) -> BlockLanes:
        """Return the numbers of the programs."""
        return known(self._watch.programs)

    def arange(self, start: int, end: int) -> BlockLanes:
        """Return neighbouring numbers."""
        return known(np.arange(start, end)[None])

    def full(self, _: object, value: object, dtype: object) -> BlockLanes | Data:
        """Return one number for all lanes."""
        number = lanes_of(value)
        return DATA if number is None else number.to(dtype)

    def cast(self, value: object, dtype: object) -> BlockLanes | Data:
        """Return a value in another type."""
        return self.full((), value, dtype)

    def broadcast_to(self, value: object, _: object) -> object:
        """Return the same value for more lanes."""
        return value

    def inline_asm_elementwise(
        self, _code: str, _kinds: str, given: Sequence[object], **_: object
    ) -> Data:
        """Look at what is asked for ahead of its use."""
        for place in given:
            if isinstance(place, _Place):
                self._watch.access(place, True)
        return DATA

    def load(self, place: _Place, mask: object = True, other: object = None) -> Data:
        """Look at what is loaded."""
        self._watch.access(place, mask)
        return DATA

    def store(self, place: _Place, value: object, mask: object = True) -> None:
        """Look at what is written."""
        self._watch.access(place, mask)
