"""Shapes that no inference finds, seen by running the model once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress

from burnish.core.array_types import name_of
from burnish.core.errors import BurnishError
from burnish.core.tensors import TensorSpec
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import EngineCrashedError, EngineHungError, open_session
from burnish.feeds.feed import Feeds
from burnish.parity.exposed import Exposed
from burnish.process.scratch import scratch
from burnish.store.graph import GraphRecord
from burnish.store.stored import StoredModel

_AT_ONCE = 32
"""How many inner values one run gives out, which bounds the memory that it takes."""


def completed(record: GraphRecord, model: StoredModel, feeds: Feeds) -> GraphRecord:
    """Return the graph with the shapes that its tensors have on these inputs.

    What cannot be given out (a sequence, a value of a body) stays as it was.
    """
    made = (name for node in record.nodes for name in node.outputs if name)
    unknown = [name for name in made if record.static(name) is None]
    if not unknown:
        return record
    seen = {spec.name: spec for spec in _seen(unknown, model, feeds)}
    return dataclasses.replace(
        record,
        tensors={**record.tensors, **seen},
        outputs=tuple(seen.get(spec.name, spec) for spec in record.outputs),
    )


def _seen(names: list[str], model: StoredModel, feeds: Feeds) -> Iterator[TensorSpec]:
    with scratch("shapes") as folder:
        exposed = Exposed(model, folder)
        with suppress(EngineCrashedError, EngineHungError):  # it would again: what is seen is seen
            for first in range(0, len(names), _AT_ONCE):
                yield from _run(exposed, names[first : first + _AT_ONCE], feeds)


def _run(exposed: Exposed, names: list[str], feeds: Feeds) -> list[TensorSpec]:
    options = EngineOptions(graph_level="off")
    try:
        with exposed.giving(names) as one, open_session("onnxruntime-cpu", one, options) as session:
            values = session.run(feeds.arrays)
    except (EngineCrashedError, EngineHungError):
        raise
    except BurnishError:
        halves = (names[: len(names) // 2], names[len(names) // 2 :])
        return [] if len(names) == 1 else [s for half in halves for s in _run(exposed, half, feeds)]
    return [TensorSpec(name, name_of(array), array.shape) for name, array in values.items()]
