"""What the values inside a model were seen to be, on some inputs: two numbers for each.

The engine reduces each value to its least and its largest element before it gives them out, so
that the memory this takes does not grow with the values.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import onnx_ir as ir

from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.feeds.feed import Feeds
from burnish.parity.exposed import home_of
from burnish.parity.subject import JUDGE
from burnish.process.scratch import file_beside, scratch
from burnish.store.stored import StoredModel

_LEAST, _LARGEST = "least", "largest"


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The least and the largest finite element that a value was seen to have."""

    least: float
    largest: float

    @property
    def magnitude(self) -> float:
        """Return the largest absolute value."""
        return max(abs(self.least), abs(self.largest))

    def joined(self, other: ValueRange) -> ValueRange:
        """Return what holds for both."""
        return ValueRange(min(self.least, other.least), max(self.largest, other.largest))


def ranges_of(
    model: ir.Model, feeds: Sequence[Feeds], wanted: Collection[str] | None = None
) -> dict[str, ValueRange]:
    """Return the range of f32 values of the main graph, by their names, over all inputs.

    Of all of them, or of those that are wanted.
    """
    watched, names = _watching(model, wanted)
    found: dict[str, ValueRange] = {}
    if not names:
        return found
    with (
        _written(watched) as stored,
        open_session(JUDGE, stored, EngineOptions(graph_level="off", frugal=True)) as session,
    ):
        for fed in feeds:
            given = session.run(fed.arrays)
            for number, name in enumerate(names):
                seen = ValueRange(
                    float(given[f"{_LEAST}/{number}"]), float(given[f"{_LARGEST}/{number}"])
                )
                found[name] = seen.joined(found[name]) if name in found else seen
    return {name: seen for name, seen in found.items() if math.isfinite(seen.magnitude)}


@contextmanager
def _written(model: ir.Model) -> Iterator[StoredModel]:
    """Yield the model as a file; weights that lie in files of their own stay where they are."""
    with scratch("ranges") as folder:
        home = home_of(model, folder)
        with file_beside(home, prefix=".watched.", suffix=".exposed") as path:
            path.write_bytes(ir.to_proto(model).SerializeToString())
            yield StoredModel(path, "watched")


def _watching(model: ir.Model, wanted: Collection[str] | None) -> tuple[ir.Model, list[str]]:
    """Return a copy that gives out the ends of its values, and the names of these."""
    copy = model.clone()
    graph = copy.graph
    values = [one for one in _floats(graph) if wanted is None or one.name in wanted]
    graph.outputs.clear()
    for number, value in enumerate(values):
        for op_type, kind in (("ReduceMin", _LEAST), ("ReduceMax", _LARGEST)):
            made = ir.node(op_type, [value], attributes={"keepdims": 0})
            end = made.outputs[0]
            made.name = end.name = f"{kind}/{number}"
            end.type, end.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape([])
            graph.append(made)
            graph.outputs.append(end)
    return copy, [value.name or "" for value in values]


def _floats(graph: ir.Graph) -> Iterator[ir.Value]:
    made = (value for node in graph for value in node.outputs)
    for value in (*graph.inputs, *made):
        floats = value.dtype == ir.DataType.FLOAT and isinstance(value.type, ir.TensorType)
        # one axis of none has no least element, which is an error
        empty = value.shape is not None and 0 in value.shape.dims
        if value.name and floats and not empty:
            yield value
