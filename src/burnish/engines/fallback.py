"""There is no silent fallback: what was not obtained is an error, or a note if it is allowed."""

from __future__ import annotations

from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.engines.base import Engine, EngineOptions

ACCEPT = "accept it with --allow-fallback"
GRAPH = "graph"
"""The mode in which runs replay a CUDA graph, as `--cuda-graph` asks of all engines."""


def require(engine: Engine) -> None:
    """Raise what is missing if the engine cannot be used here."""
    available = engine.availability()
    if not available.ok:
        raise MissingCapabilityError(
            f"engine {engine.name} cannot be used: {available.reason}", hint=available.remedy
        )


def accepted(problem: str, options: EngineOptions, *, hint: str = "") -> tuple[str, ...]:
    """Return the problem as a note if fallbacks are allowed, and raise otherwise."""
    if options.allow_fallback:
        return (problem,)
    raise MissingCapabilityError(problem, hint=f"{hint}, or {ACCEPT}" if hint else ACCEPT)


def precision_notes(options: EngineOptions, obtained: str) -> tuple[str, ...]:
    """Return what to know of the precision; raise if it is not the one that was asked for."""
    asked = options.precision
    if asked is None or asked == obtained:
        return ()
    return accepted(
        f"precision {asked} was asked for, the arithmetic is {obtained}",
        options,
        hint=f"give it a model in {asked}",
    )


def no_cuda_graph(options: EngineOptions, engine: str) -> tuple[str, ...]:
    """Return nothing unless a CUDA graph was asked of an engine that captures none."""
    if not options.cuda_graph:
        return ()
    return accepted(
        f"engine {engine} captures no CUDA graph", options, hint="use --engine onnxruntime-cuda"
    )


def require_graph(engine: str, mode: str) -> None:
    """Raise if a mode is not that of CUDA graphs, the only one that some engines have."""
    if mode != GRAPH:
        raise UsageError(
            f"engine {engine} has no mode {mode!r}",
            hint=f"{engine}:{GRAPH} replays a CUDA graph",
        )


def level_notes(options: EngineOptions, engine: str) -> tuple[str, ...]:
    """Return a note if a graph level was asked of an engine that always optimises fully.

    It is never an error: the numbers are the same at every level, and the reference of a
    comparison asks for none wherever there is a choice.
    """
    if options.graph_level == "all":
        return ()
    return (f"graph level {options.graph_level} was asked for, {engine} always optimises fully",)
