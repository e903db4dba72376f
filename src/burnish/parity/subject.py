"""A model on an engine: what is run, and what it is compared with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array, Arrays
from burnish.core.closing import Closing
from burnish.engines import isolated, sizes
from burnish.engines.base import EngineOptions, Placement, Session
from burnish.engines.loading import is_large
from burnish.process.scratch import scratch
from burnish.rewrite.precision.widen import HALVES, ROUNDED, computes_in, rounding
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace

JUDGE = sizes.JUDGE
"""The engine that every installation has; it runs references with nothing optimised."""

_WITH_GRAPH_LEVELS = "onnxruntime-"
"""How the names begin of engines that can be told to optimise less."""


@dataclass(frozen=True, slots=True)
class JudgedSubject:
    """A model on an engine."""

    model: StoredModel
    engine: str = JUDGE
    options: EngineOptions = field(default_factory=EngineOptions)
    runs: StoredModel | None = None
    """What is run in the model's place, between casts of what it takes and gives; None: itself."""

    def open(self) -> Session:
        """Return a session that runs the model, in a process of its own."""
        if self._is_rounded:
            return RoundedSession(*_twin(self), (ROUNDED,))
        own = self.runs or self.model
        options = dataclasses.replace(self.options, frugal=is_large(own))
        session = isolated.open_session(self.engine, own, options)
        return session if self.runs is None else RecastSession(session, own, self.model)

    @property
    def _is_rounded(self) -> bool:
        """Return whether it is a reference in bf16, for which the judge has no kernels."""
        judges = self.engine == JUDGE and self.options.graph_level == "off" and self.runs is None
        return judges and computes_in(onnx_files.look(self.model.onnx))


def open_rounded(model: StoredModel) -> Session | None:
    """Return a session that rounds each value to the 16 bits it has; None: the model has none.

    That is what devices do. ONNX Runtime's CPU provider computes such a model in f32, and rounds
    little of it.
    """
    if not computes_in(onnx_files.read(model.onnx), HALVES):
        return None
    return RoundedSession(*_twin(judge(model)))


def _twin(subject: JudgedSubject) -> tuple[Session, ExitStack]:
    """Return a session that computes in f32 and rounds each value, and what is let go with it."""
    owned = ExitStack()
    try:
        twin = owned.enter_context(scratch("rounded")) / "rounded.onnx"
        written = rounding(onnx_files.read(subject.model.onnx))
        onnx_files.write(written, twin, history=History("", ()))
        runs = dataclasses.replace(subject.model, onnx=twin)
        return owned.enter_context(dataclasses.replace(subject, runs=runs).open()), owned
    except BaseException:
        owned.close()
        raise


def judge(
    model: StoredModel, engine: str = JUDGE, options: EngineOptions | None = None
) -> JudgedSubject:
    """Return a reference: the model as it is written, with nothing optimised by the engine."""
    return unoptimised(JudgedSubject(model, engine, options or EngineOptions()))


def unoptimised(subject: JudgedSubject) -> JudgedSubject:
    """Return the same with nothing optimised, where the engine can be told so."""
    if not subject.engine.startswith(_WITH_GRAPH_LEVELS):
        return subject
    options = dataclasses.replace(subject.options, graph_level="off")
    return dataclasses.replace(subject, options=options)


class RecastSession(Closing):
    """A session that takes and gives what another model takes and gives.

    The casts are made outside of the engine: within a graph ONNX Runtime joins them with its own,
    and a number that the model's type cannot hold comes out as if it could.
    """

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

    def close(self) -> None:
        """Close the session that it runs."""
        self._session.__exit__(None, None, None)


class RoundedSession(Closing):
    """A session of a model's twin, whose files go with it."""

    def __init__(self, session: Session, owned: ExitStack, notes: tuple[str, ...] = ()) -> None:
        self._session, self._owned, self._notes = session, owned, notes
        self.run, self.prepare, self.trace = session.run, session.prepare, session.trace

    @property
    def placement(self) -> Placement:
        """Return what was obtained, and what is to be said of the twin."""
        found = self._session.placement
        return dataclasses.replace(found, notes=(*found.notes, *self._notes))

    def close(self) -> None:
        """Close the session, and remove what it ran."""
        self._owned.close()


def _types(values: Iterable[ir.Value]) -> dict[str, np.dtype[Any]]:
    return {value.name or "": value.dtype.numpy() for value in values if value.dtype is not None}


def _cast(arrays: Arrays, types: Mapping[str, np.dtype[Any]]) -> dict[str, Array]:
    with np.errstate(over="ignore"):
        return {
            name: array.astype(types[name], copy=False) if name in types else array
            for name, array in arrays.items()
        }
