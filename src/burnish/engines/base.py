"""What an engine is: it says whether it works here, and opens sessions that run a model.

`availability` only looks; it never imports the engine's library. `open` imports it, checks that
what was asked for was obtained (provider, precision, placement), and raises otherwise: there is
no silent fallback. A session's calls block until the result is complete, so that timing one
needs no knowledge of the device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self, runtime_checkable

from burnish.core.arrays import Array, Arrays
from burnish.core.registry import Registry
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace

GraphLevel = Literal["off", "basic", "extended", "all"]
LEVELS: tuple[GraphLevel, ...] = ("all", "extended", "basic", "off")
"""How far ONNX Runtime optimises a graph, from the most to nothing."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What is asked of an engine; None leaves the choice to it, and the placement tells."""

    threads: int | None = None
    graph_level: GraphLevel = "all"
    precision: str | None = None
    """None: the model's own types; an engine that would silently use less is told not to."""
    allow_fallback: bool = False
    cuda_graph: bool = False
    device_index: int = 0
    mode: str = ""
    """What stands behind the colon of `torch-compile:max-autotune`; empty: the engine's usual."""
    frugal: bool = False
    """Weights are used as they lie in their file, not copied into another order first, and none
    stay in memory between runs: for large models that are run a few times, and not timed."""
    arithmetic: str = ""
    """What most weights of the model are, from somebody who has read it: then an engine that needs
    nothing else of it reads nothing, and is measured without that. Empty: nobody has."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether an engine can be used here; if not, why, and the command that would mend it."""

    ok: bool
    reason: str = ""
    remedy: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """What an engine really did with a request."""

    device: str
    """`cpu`, `cuda:0` …"""
    precision: str
    """The element type that the model's arithmetic runs in."""
    nodes_by_provider: Mapping[str, int]
    """How many nodes each part of the engine runs; empty when the engine does not tell."""
    threads: int | None = None
    notes: tuple[str, ...] = ()
    """Each fallback that was allowed, and anything else a reader of the numbers must know."""


class Session(Protocol):
    """A loaded model; leaving it as a context frees the device."""

    @property
    def placement(self) -> Placement:
        """Return what was obtained."""

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once with inputs from, and outputs to, host memory; block until complete."""

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Put `feeds` and the outputs where the engine wants them; return one blocking run."""

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline of `runs` runs after `warmup` dropped ones; None: cannot."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


@runtime_checkable
class CardTimed(Protocol):
    """A session that can tell how long its runs take on a card's own clock."""

    def card_times_s(self, feeds: Arrays, *, warmup: int, runs: int) -> tuple[float, ...]:
        """Return the seconds between events around each run's work; empty: it is on no card."""


class Engine(Protocol):
    """Something that can run a model."""

    name: str
    needs_torch_source: bool
    """True for engines that run the PyTorch module, not the ONNX file."""

    def availability(self) -> Availability:
        """Say whether this engine can be used here, without importing it."""

    def open(self, model: StoredModel, options: EngineOptions) -> Session:
        """Load a model, and check that what was asked for was obtained."""


@runtime_checkable
class Moded(Protocol):
    """An engine that can be asked for in several ways."""

    def require_mode(self, mode: str) -> None:
        """Raise if there is no such mode; may leave it to `open` what only the library knows."""


ENGINES: Registry[Engine] = Registry("engine", package="burnish.engines")
