"""What a call of an engine costs before and after the model's own work."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from burnish.bench import probe_models
from burnish.core.arrays import Arrays
from burnish.core.errors import BurnishError
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import IsolatedSession
from burnish.process.scratch import scratch
from burnish.store.stored import StoredModel
from burnish.timing.turns import Turns

_ENGINES = ("onnxruntime-cpu",)
"""Whose timelines begin and end inside the call, so that its cost is in none of them."""
_TURNS = Turns(rounds=5, calls=40, settling=5, for_s=0.1)
_BESIDE = Turns(rounds=5, calls=6, settling=2, for_s=0.3)


@functools.cache
def call_cost(engine: str, threads: int | None) -> float:
    """Return the seconds of a call that computes nothing; 0: it is not known for this engine."""
    return _timed(engine, threads, (), ())


def call_cost_beside(model: IsolatedSession, feeds: Arrays, took_s: float) -> float:
    """Return the same at the speed that the machine had when a call of `model` took so long.

    Both take turns: a processor that is now faster and now slower is so for the two of them.
    """
    return _timed(model.engine, model.threads, [model], [feeds], took_s)


def _timed(
    engine: str,
    threads: int | None,
    beside: Sequence[IsolatedSession],
    feeds: Sequence[Arrays],
    took_s: float = 0.0,
) -> float:
    if engine not in _ENGINES:
        return 0.0
    probe = probe_models.chain(1)
    with scratch("call") as folder:
        path = folder / "nothing.onnx"
        path.write_bytes(probe.content)
        options = EngineOptions(threads=threads, graph_level=probe.graph_level)
        try:
            with isolated.open_session(engine, StoredModel(path, "nothing"), options) as session:
                inputs, turns = [probe.feeds, *feeds], _BESIDE if beside else _TURNS
                found = isolated.take_turns([session, *beside], inputs, turns)
        except BurnishError:  # what it was asked for goes on without
            return 0.0
    call_s, *model_s = (sorted(seconds)[len(seconds) // 10] for seconds in found)
    return call_s * took_s / model_s[0] if model_s else call_s
