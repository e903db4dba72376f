"""How long each span took without the spans inside it: an `If` is not its branch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from burnish.trace.events import Span


def own_seconds(spans: Sequence[Span]) -> tuple[float, ...]:
    """Return, in the given order, how long each span was the last one begun on its track.

    For properly nested spans that is a span's duration less that of the spans directly inside
    it. The own times of a track add up to the time during which anything ran on it, also where
    spans overlap without nesting (clocks are cut to whole microseconds).
    """
    result = [0.0] * len(spans)
    order = sorted(
        range(len(spans)), key=lambda i: (spans[i].track, spans[i].start_s, -spans[i].duration_s)
    )
    running: list[int] = []
    for index in order:
        span = spans[index]
        running = [i for i in running if _goes_on(spans[i], span)]
        result[index] = span.duration_s
        taken_until = span.start_s
        for outer in reversed(running):
            until = min(spans[outer].end_s, span.end_s)
            if until > taken_until:
                result[outer] -= until - taken_until
                taken_until = until
        running.append(index)
    return tuple(max(0.0, seconds) for seconds in result)


def _goes_on(outer: Span, span: Span) -> bool:
    return outer.track == span.track and outer.end_s > span.start_s


def busy_seconds(spans: Iterable[Span]) -> float:
    """Return for how long at least one of the spans was going on."""
    busy, until = 0.0, float("-inf")
    for span in sorted(spans, key=lambda span: span.start_s):
        busy += max(0.0, span.end_s - max(until, span.start_s))
        until = max(until, span.end_s)
    return busy
