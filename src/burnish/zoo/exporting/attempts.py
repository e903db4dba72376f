"""Export as asked; where that fails, try what is known to help, and say so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from burnish.core.errors import BurnishError
from burnish.store.datasets import DataSet
from burnish.zoo.entry import MODELS, BuiltModel
from burnish.zoo.exporting import dynamo, torchscript
from burnish.zoo.exporting.graph import ExportedGraph, require_types
from burnish.zoo.exporting.last_lines import first_cause
from burnish.zoo.exporting.request import ExportRequest, ZooSource
from burnish.zoo.exporting.sources import BuiltModule, build, follows_attention
from burnish.zoo.exporting.stages import Workaround


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to export."""

    what: str
    prepare: Callable[[], BuiltModule]
    export: Callable[[BuiltModel], ExportedGraph]


@dataclass(frozen=True, slots=True)
class Success:
    """A graph, what it was made from, and what had to be done differently."""

    built: BuiltModule
    exported: ExportedGraph
    workarounds: tuple[Workaround, ...]


def export(request: ExportRequest, built: BuiltModule, data: Sequence[DataSet]) -> Success:
    """Return the first attempt that succeeds; if none does, the first one's error is raised."""
    return first_success(_attempts(request, built, data))


def first_success(attempts: Iterator[Attempt] | Sequence[Attempt]) -> Success:
    """Return the first attempt that succeeds, with a workaround for each that came after one."""
    errors: list[Exception] = []
    for attempt in attempts:
        try:
            built = attempt.prepare()
            exported = attempt.export(built.model)
        except BurnishError:
            raise
        except Exception as error:  # exporters raise anything
            errors.append(error)
            continue
        because = first_cause(errors[0])[0] if errors else ""
        done = (Workaround(attempt.what, because),) if errors else ()
        return Success(built, exported, done)
    raise errors[0]


def _attempts(
    request: ExportRequest, built: BuiltModule, data: Sequence[DataSet]
) -> Iterator[Attempt]:
    if isinstance(request.source, ZooSource):
        spelling = MODELS[request.source.name].spelling
        if spelling is not None:
            yield Attempt(spelling.style, lambda: built, lambda m: ExportedGraph(spelling.write(m)))
            return
    opset = request.chosen_opset
    shapes = [[array.shape for array in one.outputs.values()] for one in data[:2]]

    def traced(model: BuiltModel) -> ExportedGraph:
        exported = torchscript.export(model, opset=opset, shapes=shapes)
        require_types(exported.model, data[0].outputs)
        return exported

    def captured(model: BuiltModel) -> ExportedGraph:
        return dynamo.export(model, opset=opset)

    def inferred(model: BuiltModel) -> ExportedGraph:
        return dynamo.export(model, opset=opset, infer_axes=True)

    one = traced if request.exporter == "torchscript" else captured
    yield Attempt("as asked", lambda: built, one)
    if request.options.attention == "sdpa" and follows_attention(request.source):
        options = dataclasses.replace(request.options, attention="eager")
        eager = dataclasses.replace(request, options=options)
        yield Attempt("attention spelled out: --attention eager", lambda: build(eager), one)
    if request.exporter == "dynamo" and built.model.dynamic_axes:
        yield Attempt("relations between sizes left to torch.export", lambda: built, inferred)
