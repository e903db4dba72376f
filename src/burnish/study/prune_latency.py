"""A table of latencies measured here: what each kind of axis costs at several widths."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Arrays
from burnish.core.progress import Progress
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import IsolatedSession, open_session, take_turns
from burnish.feeds.feed import Feeds
from burnish.infer.constants import constant_tensor
from burnish.parity.exposed import Exposed
from burnish.process.scratch import scratch
from burnish.prune.axes import CoupledAxis, coupled_axes
from burnish.prune.choose import step_of
from burnish.prune.cut import cut
from burnish.prune.dims import Dim, leaves
from burnish.prune.flow import Flow
from burnish.rewrite import extract
from burnish.store import onnx_files
from burnish.store.element_types import DATA_TYPES
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.prune_cut import Prunable
from burnish.study.prune_inputs import ENGINE
from burnish.study.prune_report import MeasuredLatency
from burnish.timing.turns import Turns, ratio

_WIDTHS = (1.0, 0.75, 0.5, 0.25)
_TURNS = Turns(rounds=9, warmup=2, block_s=0.01)
_WHOLE_TURNS = Turns(rounds=9, warmup=2)


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """What one kind of axis costs."""

    kind: str
    size: int
    dims: frozenset[Dim]
    widths: tuple[int, ...]
    """Units left, from all of them on."""
    seconds_s: tuple[float, ...]

    def saved_s(self, left: int) -> float:
        """Return what is saved with so many units left; below the last width, no more."""
        found = np.interp(left, self.widths[::-1], self.seconds_s[::-1])
        return max(self.seconds_s[0] - float(found), 0.0)


@dataclass(frozen=True, slots=True)
class LatencyTable:
    """The whole model's latency, and what its axes cost at several widths."""

    whole_s: float
    rows: tuple[LatencyRow, ...]

    def seconds(self, left: Mapping[Dim, int]) -> float:
        """Return how long an inference should take with these dims shorter."""
        saved = sum(row.saved_s(left[dim]) for row in self.rows for dim in row.dims if dim in left)
        return max(self.whole_s - saved, self.whole_s / 1000)


def latency_table(
    one: Prunable, feeds: Feeds, *, threads: int | None, progress: Progress
) -> LatencyTable:
    """Return what is measured on ONNX Runtime: the whole, and each kind of axis as its own part.

    Axes whose weights have the same shapes cost the same, and are measured once.
    """
    options = EngineOptions(threads=threads)
    kinds: dict[object, list[CoupledAxis]] = defaultdict(list)
    for axis in one.found.axes:
        kinds[_likeness(axis)].append(axis)
    rows = []
    with scratch("latency") as folder:
        for number, alike in enumerate(kinds.values(), start=1):
            rows.append(_row(one, alike, feeds, folder, options))
            progress.step("measure", number, len(kinds), f"{alike[0].kind} {alike[0].size}")
        with open_session(ENGINE, one.model, options) as session:
            whole = take_turns([session], [feeds.arrays], _WHOLE_TURNS)[0]
    return LatencyTable(statistics.median(whole), tuple(rows))


def side_by_side(
    before: StoredModel, after: StoredModel, feeds: Feeds, *, threads: int | None, predicted: float
) -> MeasuredLatency:
    """Return how long two models take on ONNX Runtime when they take turns."""
    options = EngineOptions(threads=threads)
    with ExitStack() as stack:
        sessions = [
            stack.enter_context(open_session(ENGINE, model, options)) for model in (before, after)
        ]
        old, new = take_turns(sessions, [feeds.arrays] * 2, _WHOLE_TURNS)
    return MeasuredLatency(
        statistics.median(old), statistics.median(new), ratio(new, old), predicted
    )


def _likeness(axis: CoupledAxis) -> object:
    shapes = sorted((tuple(value.shape or ()), index) for value, index in axis.weights)
    return (axis.kind, axis.size, str(shapes))


def _row(
    one: Prunable, alike: Sequence[CoupledAxis], feeds: Feeds, folder: Path, options: EngineOptions
) -> LatencyRow:
    axis = alike[0]
    flow, part = _part(one, axis)
    own = next(a for a in coupled_axes(flow).axes if a.name == axis.name)
    step = step_of(axis)
    widths = tuple(
        dict.fromkeys(max(step, round(axis.size * share / step) * step) for share in _WIDTHS)
    )
    arrays = _read(one.model, part, feeds)
    with ExitStack() as stack:
        sessions: list[IsolatedSession] = []
        for width in widths:
            small = cut(flow, {own.dim: tuple(range(width))}, {})
            target = folder / f"{width}.onnx"
            onnx_files.write(small, target, history=History("", ()))
            session = open_session(ENGINE, StoredModel(target, "a part"), options)
            sessions.append(stack.enter_context(session))
        samples = take_turns(sessions, [arrays] * len(sessions), _TURNS)
    seconds = tuple(statistics.median(sample) for sample in samples)
    return LatencyRow(axis.kind, axis.size, frozenset(a.dim for a in alike), widths, seconds)


def _part(one: Prunable, axis: CoupledAxis) -> tuple[Flow, extract.Part]:
    """Return all nodes that an axis passes through, as a model of their own that was followed."""
    nodes = [node for node in one.flow.model.graph if _passes(one.flow, node, axis.dim)]
    made = {value for node in nodes for value in node.outputs}
    read = [value for node in nodes for value in node.inputs if value is not None]
    stops = [v for v in dict.fromkeys(read) if v not in made and constant_tensor(v) is None]
    outside = [
        value
        for value in made
        if value.is_graph_output() or any(user not in set(nodes) for user, _ in value.uses())
    ]
    found = extract.with_weights(extract.part(outside, stops))
    model = extract.as_model(found, one.flow.model, "part")
    for value in model.graph.inputs:
        spec = one.graph.tensors[value.name or ""]
        value.type = ir.TensorType(DATA_TYPES[spec.dtype])
        value.shape = ir.Shape(one.flow.shape(value) or ())
    return Flow(model, one.graph), found


def _passes(flow: Flow, node: ir.Node, dim: Dim) -> bool:
    values = [value for value in (*node.inputs, *node.outputs) if value is not None]
    return any(dim in leaves(axis) for value in values for axis in flow.values.get(value) or ())


def _read(model: StoredModel, part: extract.Part, feeds: Feeds) -> Arrays:
    """Return what a part is fed inside of the whole model."""
    names = [value.name or "" for value in part.inputs]
    given = {name: feeds.arrays[name] for name in names if name in feeds.arrays}
    inner = [name for name in names if name not in given]
    if not inner:
        return given
    options = EngineOptions(graph_level="off")
    with (
        scratch("part") as folder,
        Exposed(model, folder).giving(inner) as exposed,
        open_session(ENGINE, exposed, options) as session,
    ):
        return {**given, **session.run(feeds.arrays)}
