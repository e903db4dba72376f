"""Which span lies directly inside which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from burnish.trace.events import Span

_OUTERMOST_FIRST = {"run": 0, "module": 1, "node": 2, "launch": 3, "sync": 3}
"""Of spans that cover the same time, the one of the coarser kind is around the other."""
_OTHER = 4


def in_order(spans: Sequence[Span]) -> list[int]:
    """Return where the spans are, ordered so that each comes after the spans around it."""
    return sorted(
        range(len(spans)),
        key=lambda i: (
            spans[i].start_s,
            -spans[i].duration_s,
            _OUTERMOST_FIRST.get(spans[i].category, _OTHER),
        ),
    )


def parents(spans: Sequence[Span]) -> list[int | None]:
    """Return, for spans that are in order, where the innermost one around each of them is.

    Only a span on the same track that is still going on when another begins is around it.
    """
    around: dict[str, list[int]] = defaultdict(list)
    result: list[int | None] = []
    for index, span in enumerate(spans):
        open_spans = around[span.track]
        while open_spans and not _goes_on(spans[open_spans[-1]], span):
            open_spans.pop()
        result.append(open_spans[-1] if open_spans else None)
        open_spans.append(index)
    return result


def _goes_on(outer: Span, inner: Span) -> bool:
    # clocks may be cut to whole microseconds, in which a child of no length ends its parent
    return outer.end_s > inner.start_s or (
        outer.end_s == inner.start_s == inner.end_s and outer.start_s == inner.start_s
    )
