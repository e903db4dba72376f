"""Engines with a mode, as people write them: `torch-compile:max-autotune`."""

from __future__ import annotations

from burnish.core.errors import UsageError
from burnish.engines.base import ENGINES, Moded


def name_and_mode(spec: str) -> tuple[str, str]:
    """Return the name of an engine and the mode that it is asked for; empty: its usual one."""
    name, _, mode = spec.partition(":")
    engine = ENGINES[name]
    if not mode:
        return name, mode
    if not isinstance(engine, Moded):
        raise UsageError(
            f"engine {name} has no modes, and {mode!r} was asked for", hint=f"write --engine {name}"
        )
    engine.require_mode(mode)
    return name, mode
