"""Which nodes must stay in fp32 for a model in 16 bits to compute the same: found by few runs.

Two things go wrong in 16 bits. A value does not fit, because it is too large or too small: then all
nodes that make or read it are charged, first those of the worst. Or a node makes a large error of a
small one, as a difference of near numbers does: then what leads to it must be more exact, the
nearest first. The shortest head of such a list is looked for with which the outputs agree, by
doubling and halving: 2 log2(n) + 5 runs at most. The model in 16 bits is run as it is rounded,
whatever kernels this machine lacks.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_ir as ir

from burnish.closeness.tolerance import ARITHMETIC
from burnish.core.arrays import Array
from burnish.core.errors import BurnishError
from burnish.core.precisions import element_type
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.feeds.feed import Feeds
from burnish.infer.walk import is_standard
from burnish.parity.compare import compare
from burnish.parity.subject import JUDGE
from burnish.parity.tolerances import Tolerances
from burnish.process.scratch import scratch
from burnish.rewrite.options import PrecisionRequest, Target
from burnish.rewrite.passes.names import FixNames
from burnish.rewrite.precision import Converted, convert
from burnish.rewrite.precision.half import INNER
from burnish.rewrite.precision.half_types import HALVES
from burnish.rewrite.precision.widen import rounding
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.deviation import relative_error
from burnish.study.rounding_tail import MOST, is_tail

_NOISE = 2.0**-9
"""An error that a few roundings to 11 bits make; below, nobody is charged."""
_UNFIT = 2.0**-7
"""An error of a single rounding that says that a value does not fit."""
_SOURCES = 1
"""At how many nodes to begin, where small errors become large."""
_MOVING = ("Reshape", "Transpose", "Identity", "Squeeze", "Unsqueeze", "Gather")


@dataclass(frozen=True, slots=True)
class Repair:
    """Nodes that must stay in fp32, the cheapest set that was found."""

    keep: tuple[str, ...]
    reasons: Mapping[str, str]
    """By node, what was seen to happen there."""
    runs: int
    """How often a model was run to find them."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A model whose outputs in 16 bits are not what they are in f32."""

    model: ir.Model
    """In f32."""
    numbers: PrecisionRequest
    feeds: Sequence[Feeds]
    target: Target = "cpu"
    magnitudes: Mapping[str, float] | None = None
    of_tolerance: float = 1.0
    """How much of what is allowed outputs may be off: less, where an engine that rounds elsewhere
    is to agree as well."""


def repaired(broken: Broken) -> Repair:
    """Return what must stay in fp32 so that the outputs agree; nothing, where they do as it is."""
    with scratch("repair") as folder:
        work = _Search(broken, folder)
        if work.agrees(()):
            return Repair((), {}, work.runs)
        work.look_inside(())
        unfit = work.unfit()
        if unfit and work.agrees(list(unfit)):
            return work.shortest({}, unfit)
        if unfit:
            work.look_inside(list(unfit))
        return work.shortest(unfit, work.unstable(list(unfit)))


def fewest(total: int, agrees: Callable[[int], bool]) -> int:
    """Return the least head that agrees; all of it does, and what is longer than one that does."""
    head, below = 1, 0
    while head < total and not agrees(head):
        below, head = head, head * 2
    head = min(head, total)
    while head - below > 1:
        middle = (head + below) // 2
        if agrees(middle):
            head = middle
        else:
            below = middle
    return head


class _Search:
    """Runs of a model in 16 bits with more and more of it in f32."""

    def __init__(self, broken: Broken, folder: Path) -> None:
        self._broken = broken
        self._folder = folder
        half = HALVES[broken.numbers.precision]
        self._half = half.dtype.numpy()
        self._most = MOST[half.name]
        self._tolerances = _part(element_type(half.name), broken.of_tolerance)
        self._plain = broken.model.clone()
        FixNames()(self._plain)
        self.runs = 0
        self._changed = {one.node for one in self._converted(()).report.changed}
        self._outputs = [value.name or "" for value in self._plain.graph.outputs]
        self._expected = self._run(self._plain, self._outputs, broken.feeds)
        self._telling = broken.feeds[0]
        """The inputs on which outputs differed, when that was last looked at."""
        self._inside: dict[str, Array] = {}
        self._errors: dict[str, float] = {}

    def agrees(self, keep: Sequence[str]) -> bool:
        """Return whether the outputs agree with these nodes in f32, as far as 16 bits can."""
        try:
            found = rounding(self._converted(keep).model)
        except BurnishError:
            return True  # nothing is left to be in 16 bits: it is the original
        ran = self._run(found, self._outputs, self._broken.feeds)
        for fed, expected, given in zip(self._broken.feeds, self._expected, ran, strict=True):
            diffs = compare(expected, given, self._tolerances)
            near = (
                diff.passed
                or (
                    is_tail(diff)
                    and relative_error(expected[diff.name], given[diff.name]) <= self._most
                )
                for diff in diffs
            )
            if not all(near):
                self._telling = fed
                return False
        return True

    def look_inside(self, keep: Sequence[str]) -> None:
        """See what is inside of both models, on inputs on which their outputs differ."""
        found = self._converted(keep).model
        shared = _shared(found, self._plain)
        if not set(shared) <= set(self._inside):
            (self._inside,) = self._run(self._plain, list(shared), [self._telling])
        (given,) = self._run(rounding(found), list(shared.values()), [self._telling])
        self._errors = {
            name: relative_error(self._inside[name], given[other]) for name, other in shared.items()
        }

    def shortest(self, sure: Mapping[str, str], more: Mapping[str, str]) -> Repair:
        """Return the shortest head of `more` with which, and what is sure, the outputs agree.

        Nothing, where all would have to go back: that is no model in 16 bits.
        """
        names = list(more)
        count = fewest(len(names), lambda head: self.agrees([*sure, *names[:head]]))
        keep = [*sure, *names[:count]]
        if self._changed <= set(keep):
            return Repair((), {}, self.runs)
        return Repair(tuple(keep), {name: {**sure, **more}[name] for name in keep}, self.runs)

    def unfit(self) -> dict[str, str]:
        """Return the nodes at values that 16 bits cannot hold, the worst first, with that."""
        lost = {name: self._lost(array) for name, array in self._inside.items()}
        worst = sorted((name for name in lost if lost[name] > _UNFIT), key=lambda n: -lost[n])
        found: dict[str, str] = {}
        values = {value.name: value for node in self._plain.graph for value in node.outputs}
        for name in worst:
            top = float(np.abs(self._inside[name]).max(initial=0.0))
            producer = values[name].producer()
            readers = (reader for reader, _ in values[name].uses())
            for node in (producer, *readers):
                if node is not None and node.name in self._changed:
                    found.setdefault(
                        node.name or "", f"{name} reaches {top:.3g}, which 16 bits cannot hold"
                    )
        return found

    def unstable(self, keep: Sequence[str]) -> dict[str, str]:
        """Return the nodes that lead to where small errors become large, the nearest first."""
        nodes = [n for n in self._plain.graph if n.name in self._changed and n.name not in keep]
        growth = {node: _growth(node, self._errors) for node in nodes}
        ordered = sorted(nodes, key=lambda node: -growth[node])
        found: dict[str, str] = {}
        for node in _upstream(ordered[:_SOURCES]):
            if node.name in self._changed and node.name not in keep:
                source = ordered[0].name
                found.setdefault(node.name or "", f"{source} makes much of its error")
        return {**found, **{n.name or "": "others did not suffice" for n in ordered
                            if n.name not in found}}  # fmt: skip

    def _lost(self, array: Array) -> float:
        """Return the error that a value has from being rounded to 16 bits once."""
        with np.errstate(over="ignore", under="ignore"):
            return relative_error(array, array.astype(self._half).astype(np.float32))

    def _converted(self, keep: Sequence[str]) -> Converted:
        numbers = self._broken.numbers
        return convert(
            self._plain,
            numbers.precision,
            keep=(*numbers.keep, *keep),
            target=self._broken.target,
            edges="keep",
            magnitudes=self._broken.magnitudes or {},
        )

    def _run(
        self, model: ir.Model, names: Sequence[str], feeds: Sequence[Feeds]
    ) -> list[dict[str, Array]]:
        """Run a model for some of its values."""
        self.runs += 1
        copy = model.clone()
        graph = copy.graph
        made = {value.name: value for node in graph for value in node.outputs}
        every = {**{value.name: value for value in graph.inputs}, **made}
        graph.outputs.clear()
        graph.outputs.extend(every[name] for name in names)
        path = self._folder / f"{self.runs}.onnx"
        onnx_files.write(copy, path, history=History("", ()))
        options = EngineOptions(graph_level="off")
        with open_session(JUDGE, StoredModel(path, path.stem), options) as session:
            return [session.run(fed.arrays) for fed in feeds]


def _part(arithmetic: str, part: float) -> Tolerances:
    """Return a part of what a type of arithmetic allows."""
    if part == 1.0:
        return Tolerances(arithmetic=arithmetic)
    whole = ARITHMETIC[arithmetic]
    absolute, relative = part * whole.absolute, part * whole.relative
    return Tolerances(arithmetic=arithmetic, absolute=absolute, relative=relative)


def _shared(narrow: ir.Model, plain: ir.Model) -> dict[str, str]:
    """Return the values that the first model has in fewer bits: their names in the second.

    What is an output in f32 is called otherwise before it is made that.
    """
    kinds = {half.dtype for half in HALVES.values()}
    made = (value for node in narrow.graph for value in node.outputs)
    halves = {value.name or "" for value in made if value.dtype in kinds}
    known = (value.name or "" for node in plain.graph for value in node.outputs)
    found = ((name, name if name in halves else f"{name}{INNER}") for name in known)
    return {name: other for name, other in found if other in halves}


def _growth(node: ir.Node, errors: Mapping[str, float]) -> float:
    """Return how many times larger the error of what a node gives is than of what it takes."""
    given = max((errors.get(value.name or "", 0.0) for value in node.outputs), default=0.0)
    taken = [errors.get(value.name or "", 0.0) for value in node.inputs if value is not None]
    before = max(taken, default=0.0)
    if math.isinf(before) or is_standard(node, *_MOVING):
        return 0.0
    return given / max(before, _NOISE)


def _upstream(nodes: Sequence[ir.Node]) -> Iterator[ir.Node]:
    """Yield nodes, then those that they read from, and so on: the nearest first."""
    waiting, seen = deque(nodes), set(nodes)
    while waiting:
        node = waiting.popleft()
        yield node
        for value in node.inputs:
            producer = None if value is None else value.producer()
            if producer is not None and producer not in seen:
                seen.add(producer)
                waiting.append(producer)
