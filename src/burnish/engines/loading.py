"""Whether an engine loads a model at every level of its own optimisations."""

from __future__ import annotations

from pathlib import Path

from burnish.core.errors import ModelError
from burnish.engines import isolated
from burnish.engines.base import LEVELS, EngineOptions, GraphLevel
from burnish.engines.isolated import EngineCrashedError
from burnish.store.stored import StoredModel

_LARGE_BYTES = 1 << 30
"""Models with more beside them than this are loaded at the highest level only, as each takes long;
and without copies of their weights, which would take as much memory again."""


def refusal(engine: str, model: StoredModel, original: StoredModel) -> str:
    """Return why an engine does not load a model at a level at which it loads the original.

    Empty: it loads it at each. What the engine does to a graph differs from level to level, and
    may fail at one alone.
    """
    for level in LEVELS[:1] if is_large(model) else LEVELS:
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
        options = EngineOptions(graph_level=level, frugal=is_large(model))
        with isolated.open_session(engine, model, options):
            return ""
    except EngineCrashedError as error:
        return error.problem
    except ModelError as error:
        return f"{engine} does not load it at level {level} ({error.problem})"


def is_large(model: StoredModel) -> bool:
    """Return whether a model, with what lies beside it under its name, is one of gigabytes."""
    if not model.onnx.is_file():
        return False
    beside = (file for file in model.onnx.parent.iterdir() if file.name.startswith(model.onnx.stem))
    return sum(file.stat().st_size for file in beside if file.is_file()) > _LARGE_BYTES
