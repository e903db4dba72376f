"""What is computed along a sequence: nests that run once per time step, each from the last.

A graph of nests has no cycles. A recurrence is three of them: what can be done for all steps at
once, what one step does, and what is made of all steps. The tensors of the graph of one step are
strips of tensors outside: `TimeStrip` says where each lies in the first step, and how far on in the
next. Chains (the directions of an LSTM) know nothing of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from burnish.core.arrays import Arrays
from burnish.core.registry import Registry
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.semantics import Meaning, NestBuilder, Node


@dataclass(frozen=True, slots=True)
class TimeStrip:
    """Where a tensor of one step lies in a tensor outside; places are counted in elements."""

    tensor: str
    start: int
    """Where it begins in the first step."""
    step: int
    """How much further it begins in each next one; below zero: it runs backwards."""
    initial: str = ""
    """The tensor that stands for it in the first step; empty: there is no other."""
    initial_start: int = 0


@dataclass(frozen=True, slots=True)
class Chain:
    """One step, and where its tensors lie; those that are no strips are its own, or whole."""

    body: TileGraph
    strips: Mapping[str, TimeStrip]
    lengths: str = ""
    """The tensor that says how many steps each row has; empty: all have all."""
    condition: str = ""
    """The tensor that says whether this runs at all; empty: it does."""
    holds: bool = True
    """What that tensor must hold."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """What comes before all steps, the steps, and what comes behind them."""

    before: TileGraph
    chains: tuple[Chain, ...]
    times: int
    after: TileGraph | None
    tensors: Mapping[str, TensorType]
    """What steps write strips of."""
    constants: Arrays = field(default_factory=dict)
    """What steps read strips of, and no nest makes."""


@dataclass(frozen=True, slots=True)
class Body:
    """The graph in a node's attribute, as the nests of one turn; names are the graph's own."""

    graph: TileGraph
    """It also takes what it reads from outside."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    types: Mapping[str, TensorType]
    """Of all that is taken and given, whether nests have to do with it or not."""
    constants: Arrays
    """Those that nests read, and outputs that are known."""


Unrolling = Callable[[NestBuilder, Node], Recurrence]
"""Returns the steps of a node; its nests before them are added to the builder, too."""

RECURRENCES: Registry[Unrolling] = Registry("operator", package="burnish.operators.families")
"""By operator name, as `SEMANTICS`: the column `steps` of the records in `burnish.operators`."""

WRITTEN: Registry[Meaning] = Registry("operator", package="burnish.operators.families")
"""The same with all steps written out, for where many small kernels are cheap: the column `written`
of the records."""

TURN = "$turn"
"""In the names of constants that say which element of a sequence a step reads. They are read there,
and not written into its nests: so nests of all steps are alike, and have one kernel."""
