"""Run a model whose inputs and outputs have other types than those it stands for.

The casts are made outside of the engine: within a graph ONNX Runtime joins them with its own,
and a number that the model's type cannot hold comes out as if it could.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array, Arrays
from burnish.engines.base import Placement, Session
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace


class RecastSession:
    """A session that takes and gives what another model takes and gives."""

    def __init__(self, session: Session, own: StoredModel, wanted: StoredModel) -> None:
        self._session = session
        self._inputs = _types(onnx_files.read(own.onnx).graph.inputs)
        self._outputs = _types(onnx_files.read(wanted.onnx).graph.outputs)

    @property
    def placement(self) -> Placement:
        """Return what was obtained."""
        return self._session.placement

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; what the narrower type cannot hold becomes infinite, as it does for users."""
        given = self._session.run(_cast(feeds, self._inputs))
        return _cast(given, self._outputs)

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one blocking run."""
        return self._session.prepare(_cast(feeds, self._inputs))

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline."""
        return self._session.trace(_cast(feeds, self._inputs), warmup=warmup, runs=runs)

    def __enter__(self) -> Self:
        self._session.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session.__exit__(kind, error, traceback)


def _types(values: Iterable[ir.Value]) -> dict[str, np.dtype[Any]]:
    return {value.name or "": value.dtype.numpy() for value in values if value.dtype is not None}


def _cast(arrays: Arrays, types: Mapping[str, np.dtype[Any]]) -> dict[str, Array]:
    with np.errstate(over="ignore"):
        return {
            name: array.astype(types[name], copy=False) if name in types else array
            for name, array in arrays.items()
        }
