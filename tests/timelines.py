"""Timelines for tests: made by hand, and drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from burnish.trace.events import Span, Trace
from burnish.trace.runs import with_runs

US = 1e-6


def span(
    name: str, start: int, length: int, *, op: str | None = "Add", track: str = "t", **more: object
) -> Span:
    facts = {"category": "node", "node": name, **more}
    return Span(
        name=name, start_s=start * US, duration_s=length * US, track=track, run=-1, op_type=op,
        **facts,  # type: ignore[arg-type]
    )  # fmt: skip


def run(start: int, length: int) -> Span:
    return span("model_run", start, length, op=None, category="run", node=None)


def trace(*spans: Span) -> Trace:
    placed = with_runs(spans)
    return Trace(spans=placed, source="by hand", runs=sum(s.category == "run" for s in placed))


@st.composite
def traces(
    draw: st.DrawFn,
    *,
    runs: st.SearchStrategy[int] = st.integers(1, 6),  # noqa: B008
    tracks: tuple[str, ...] = ("t", "u"),
) -> Trace:
    """Draw inferences of nodes that nest, overlap, lack a node, and lie on several tracks."""
    spans: list[Span] = []
    begin = 0
    for _ in range(draw(runs)):
        length = draw(st.integers(20, 200))
        spans.append(run(begin, length))
        for number in range(draw(st.integers(0, 8))):
            start = draw(st.integers(0, length - 1))
            name = draw(st.sampled_from(["a", "b", "c", "d"]))
            made = span(
                name,
                begin + start,
                draw(st.integers(0, length - start)),
                op=draw(st.sampled_from(["Add", "Mul", "If", None])),
                track=draw(st.sampled_from(tracks)),
                node=draw(st.sampled_from([name, f"{name}{number}", None])),
            )
            spans.append(made)
        begin += length + draw(st.integers(1, 20))
    return trace(*spans)
