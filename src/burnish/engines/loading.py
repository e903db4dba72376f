"""Whether an engine loads a model at every level of its own optimisations."""

from __future__ import annotations

from pathlib import Path

from burnish.core.errors import ModelError
from burnish.engines import isolated
from burnish.engines.base import LEVELS, EngineOptions, GraphLevel
from burnish.engines.isolated import EngineCrashedError
from burnish.store.stored import StoredModel

_LARGE_BYTES = 1 << 30
"""Models with more beside them than this are loaded at the highest level only: each takes long."""


def refusal(engine: str, model: StoredModel, original: StoredModel) -> str:
    """Return why an engine does not load a model at a level at which it loads the original.

    Empty: it loads it at each. What the engine does to a graph differs from level to level, and
    may fail at one alone.
    """
    for level in LEVELS[:1] if _bytes(model) > _LARGE_BYTES else LEVELS:
        problem = _problem(engine, model, level)
        if problem and not _problem(engine, original, level):
            return problem
    return ""


def highest_level(engine: str, model: StoredModel) -> GraphLevel | None:
    """Return the highest level at which an engine loads a model; None: it loads it at none."""
    return next((level for level in LEVELS if not _problem(engine, model, level)), None)


_KNOWN: dict[tuple[str, Path, GraphLevel, int], str] = {}


def _problem(engine: str, model: StoredModel, level: GraphLevel) -> str:
    key = (engine, model.onnx.absolute(), level, model.onnx.stat().st_mtime_ns)
    if key not in _KNOWN:
        _KNOWN[key] = _tried(engine, model, level)
    return _KNOWN[key]


def _tried(engine: str, model: StoredModel, level: GraphLevel) -> str:
    try:
        with isolated.open_session(engine, model, EngineOptions(graph_level=level)):
            return ""
    except EngineCrashedError as error:
        return error.problem
    except ModelError as error:
        return f"{engine} does not load it at level {level} ({error.problem})"


def _bytes(model: StoredModel) -> int:
    """Return the size of a model and of what lies beside it under its name."""
    beside = (file for file in model.onnx.parent.iterdir() if file.name.startswith(model.onnx.stem))
    return sum(file.stat().st_size for file in beside)
