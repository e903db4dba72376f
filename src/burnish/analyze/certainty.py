"""How sure a prediction is: what changes of its kind turned out to be when they were made.

A what-if lets all that it does not change take as long as before. When 106 changes were made and
measured on two machines (`benchmarks/whatif.py`), that was not so: with less beside it, what was
left ran up to a third faster, most likely because weights that are no longer read no longer drive
it out of the caches; and where it had profited from what came before, a fifth slower. Either grows
with the part of the time that the change takes away.
"""

from __future__ import annotations

from collections.abc import Collection

_NOISE = 0.05
"""Two measurements of the same differ by so much."""
_REST_FASTER = 0.35
_REST_SLOWER = 0.20
"""By how much what is left differed, of its time, where next to all else was gone."""
_GRAPH = 0.15
"""The pauses inside of a CUDA graph, and a host whose launches take now more and now less."""
_NEVER_MEASURED = frozenset({"batch", "overlap"})


def believed(
    wall_s: float, baseline_s: float, kinds: Collection[str]
) -> tuple[float, float] | None:
    """Return between which times a predicted one lies after nine of ten changes of its kinds.

    None: changes of one of these kinds were never made and measured.
    """
    if _NEVER_MEASURED & set(kinds):
        return None
    if set(kinds) == {"cuda-graph"}:
        return wall_s * (1 - _GRAPH), wall_s * (1 + _GRAPH)
    taken = min(1.0, abs(1 - wall_s / baseline_s)) if baseline_s else 0.0
    faster, slower = _NOISE + _REST_FASTER * taken, _NOISE + _REST_SLOWER * taken
    return wall_s * (1 - faster), wall_s * (1 + slower)
