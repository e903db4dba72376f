"""A model on an engine: what is run, and what it is compared with."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from burnish.engines import isolated
from burnish.engines.base import EngineOptions, Session
from burnish.parity.recast import RecastSession
from burnish.store.stored import StoredModel

JUDGE = "onnxruntime-cpu"
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
        own = self.runs or self.model
        session = isolated.open_session(self.engine, own, self.options)
        return session if self.runs is None else RecastSession(session, own, self.model)


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
