"""What was done to a model, kept in the model's own metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.core import records
from burnish.core.errors import ModelError
from burnish.version import __version__

_VERSION = "burnish.version"
_SOURCE = "burnish.source"
_STEPS = "burnish.steps"
PRUNED = "prune"
"""The step after which a model computes something else than its source, on purpose."""


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One thing that was done: its name, and how it was done."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class History:
    """Where a model came from, and everything done to it since, oldest first."""

    source_key: str
    """The content key of the model that the first step was given."""
    steps: tuple[HistoryStep, ...]


class Described(Protocol):
    """Anything with metadata, such as an `ir.Model`."""

    @property
    def metadata_props(self) -> Mapping[str, str]:
        """Return the metadata."""


def read(model: Described) -> History | None:
    """Return what burnish did to a model; None: nothing, or nothing it wrote down."""
    metadata = model.metadata_props
    if _STEPS not in metadata:
        return None
    try:
        steps = records.decode(tuple[HistoryStep, ...], json.loads(metadata[_STEPS]))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ModelError(
            f"the model's metadata entry {_STEPS} is not a list of steps ({error})",
            hint="remove the entry, or use the file as burnish wrote it",
        ) from error
    return History(metadata.get(_SOURCE, ""), steps)


def is_marked(proto: Any) -> bool:  # noqa: ANN401  (an `onnx.ModelProto`; onnx is not needed here)
    """Say whether a model tells what burnish did to it."""
    return any(entry.key == _STEPS for entry in proto.metadata_props)


def appended(model: Described, history: History) -> History:
    """Return the history a model has, followed by `history`."""
    before = read(model)
    if before is None:
        return history
    return History(before.source_key, (*before.steps, *history.steps))


def metadata(history: History) -> dict[str, str]:
    """Return the metadata entries that hold a history."""
    steps = json.dumps(records.encode(history.steps), separators=(",", ":"))
    return {_VERSION: __version__, _SOURCE: history.source_key, _STEPS: steps}
