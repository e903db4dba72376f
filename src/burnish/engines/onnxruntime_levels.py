"""ONNX Runtime's modes: how far it optimises a graph, as in `onnxruntime-cpu:off`."""

from __future__ import annotations

import dataclasses

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.engines.base import LEVELS, EngineOptions


def require_level(engine: str, mode: str) -> None:
    """Raise if there is no such level of optimisation."""
    if mode not in LEVELS:
        raise UsageError(
            f"engine {engine} has no mode {mode!r}: its modes are levels of optimisation",
            hint=suggestion(mode, LEVELS),
        )


def leveled(options: EngineOptions) -> EngineOptions:
    """Return options whose level is what their mode says."""
    levels = {level: level for level in LEVELS}
    if options.mode not in levels:
        return options
    return dataclasses.replace(options, graph_level=levels[options.mode])
