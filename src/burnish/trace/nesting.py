"""Which span lies directly inside which, from columns of times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

_OUTERMOST_FIRST = {"run": 0, "module": 1, "node": 2, "launch": 3, "sync": 3}
"""Of spans that cover the same time, the one of the coarser kind is around the other."""
_OTHER = 4


def in_order(starts: Numbers, lengths: Numbers, categories: Sequence[str]) -> Numbers:
    """Return where the spans are, ordered so that each comes after the spans around it."""
    ranks = np.fromiter(
        (_OUTERMOST_FIRST.get(category, _OTHER) for category in categories), np.int8, len(starts)
    )
    return np.lexsort((ranks, -lengths, starts))


def parents(starts: Sequence[int], ends: Sequence[int], tracks: Sequence[str]) -> list[int | None]:
    """Return, for spans that are in order, where the innermost one around each of them is.

    Only a span on the same track that is still going on when another begins is around it.
    """
    around: dict[str, list[int]] = defaultdict(list)
    result: list[int | None] = []
    for index, (start, end, track) in enumerate(zip(starts, ends, tracks, strict=True)):
        open_spans = around[track]
        while open_spans:
            outer = open_spans[-1]
            # clocks may be cut to whole microseconds, in which a child of no length ends its parent
            if ends[outer] > start or ends[outer] == start == end == starts[outer]:
                break
            open_spans.pop()
        result.append(open_spans[-1] if open_spans else None)
        open_spans.append(index)
    return result
