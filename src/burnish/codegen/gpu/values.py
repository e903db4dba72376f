"""What a kernel in the making has computed, where, and in which loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from burnish.codegen.gpu.blocks import Frame
from burnish.codegen.gpu.guards import Bind
from burnish.tile.expr import Expr
from burnish.tile.graph import TileOp
from burnish.tile.index import Axis


@dataclass(frozen=True, slots=True)
class Value:
    """Something that a kernel has computed: a name or an expression, its type and its shape."""

    text: str
    dtype: str
    dims: frozenset[Axis] = frozenset()
    """The dimensions of the frame along which it varies; none: it is a number."""
    depends: frozenset[Axis] = frozenset()
    """Every axis that it depends on."""

    def spread(self, place: Sequence[Axis | None]) -> Value:
        """Return what varies along one dimension in a frame that has more."""
        dims = ", ".join(":" if axis else "None" for axis in place)
        return Value(f"{self.text}[{dims}]", self.dtype, self.dims, self.depends)


@dataclass(slots=True)
class Scope:
    """A loop's body, or the kernel's own."""

    axes: set[Axis]
    """The axes that get a value here, and have it in the loops inside too."""
    trips: int
    """How often it is run by one program."""
    lines: list[str] = field(default_factory=list)
    values: dict[object, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Point:
    """Where an expression of a nest is evaluated."""

    op: TileOp
    bind: Bind
    frame: Frame
    accumulated: Value | None = None
    done: dict[int, tuple[Expr, Value]] = field(default_factory=dict)
    """By identity; expressions are kept, so that no other can be where one was."""
