"""A group: the nests that one kernel runs, tile by tile."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from burnish.tile.graph import TileOp


@dataclass(frozen=True, slots=True)
class Group:
    """Nests in execution order; the last one is the anchor, whose output is cut into tiles."""

    ops: tuple[TileOp, ...]
    outputs: tuple[str, ...]
    """What is written to memory, the anchor's output last; the rest lives in scratch."""

    def __post_init__(self) -> None:
        if not self.ops or self.outputs[-1] != self.anchor.output:
            raise ValueError("the last output of a group is its last nest's")
        if missing := set(self.outputs) - self.written:
            raise ValueError(f"no nest of the group writes {', '.join(sorted(missing))}")

    def __str__(self) -> str:
        from burnish.tile.text import group_text

        return group_text(self)

    @property
    def anchor(self) -> TileOp:
        """Return the nest whose output is cut into tiles."""
        return self.ops[-1]

    @property
    def written(self) -> frozenset[str]:
        """Return the tensors that the nests of the group compute."""
        return frozenset(op.output for op in self.ops)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the tensors that come from outside, each once, in order of first use."""
        names = (name for op in self.ops for name in op.inputs)
        return tuple(dict.fromkeys(name for name in names if name not in self.written))

    def indices_among(self, names: Container[str]) -> dict[str, int]:
        """Return those of some tensors that hold indices, and how many there are of what."""
        found: dict[str, int] = {}
        for fetch in (fetch for op in self.ops for fetch in op.fetches):
            if fetch.tensor in names:
                found[fetch.tensor] = max(fetch.extent, found.get(fetch.tensor, 0))
        return found

    @property
    def scratch(self) -> tuple[str, ...]:
        """Return the tensors that never leave a thread's scratch memory, in order."""
        return tuple(op.output for op in self.ops if op.output not in self.outputs)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the ONNX nodes whose work the group does."""
        return tuple(dict.fromkeys(node for op in self.ops for node in op.nodes))
