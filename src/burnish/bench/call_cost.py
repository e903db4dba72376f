"""What a call of an engine costs before and after the model's own work."""

from __future__ import annotations

import functools

from burnish.bench import probe_models
from burnish.core.errors import BurnishError
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.process.scratch import scratch
from burnish.store.stored import StoredModel
from burnish.timing.turns import Turns

_ENGINES = ("onnxruntime-cpu",)
"""Whose timelines begin and end inside the call, so that its cost is in none of them."""
_TURNS = Turns(rounds=5, calls=40, settling=5, for_s=0.1)


@functools.cache
def call_cost(engine: str, threads: int | None) -> float:
    """Return the seconds of a call that computes nothing; 0: it is not known for this engine."""
    if engine not in _ENGINES:
        return 0.0
    probe = probe_models.chain(1)
    with scratch("call") as folder:
        path = folder / "nothing.onnx"
        path.write_bytes(probe.content)
        options = EngineOptions(threads=threads, graph_level=probe.graph_level)
        try:
            with isolated.open_session(engine, StoredModel(path, "nothing"), options) as session:
                ((*seconds,),) = isolated.take_turns([session], [probe.feeds], _TURNS)
        except BurnishError:  # what it was asked for goes on without
            return 0.0
    return sorted(seconds)[len(seconds) // 10]
