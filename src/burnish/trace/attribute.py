"""Which spans belong to nodes that the model itself names."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from burnish.trace.events import Trace


def attribute(trace: Trace, nodes: Collection[str]) -> Trace:
    """Return the trace with `node` only on spans whose node is one of the model's, by exact name.

    Engines rename what they fuse (`MatMul_Add_fusion`, `…_nchwc`): such a span keeps the name and
    the operator that the engine gave it, and has no node of the model.
    """
    names = frozenset(nodes)
    spans = tuple(s if s.node in names else replace(s, node=None) for s in trace.spans)
    return replace(trace, spans=spans)
