"""Event graphs for tests: made by hand, and drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from burnish.analyze.event_graph import Event, EventGraph
from burnish.core.tensors import TensorSpec
from burnish.store.graph import GraphNode, GraphRecord

US = 1e-6


def event(name: str, length: float, *after: int, gap: float = 0.0, **facts: object) -> Event:
    given = {"kind": "node", "resource": "t", "nodes": (name,), "op_type": "Add", **facts}
    return Event(
        name=name, duration_s=length * US, gap_s=gap * US, after=after,
        **given,  # type: ignore[arg-type]
    )  # fmt: skip


def chain(*lengths: float, gap: float = 0.0) -> EventGraph:
    return EventGraph(
        tuple(
            event(f"n{i}", length, *((i - 1,) if i else ()), gap=gap)
            for i, length in enumerate(lengths)
        )
    )


def ended(graph: EventGraph) -> EventGraph:
    """Return a graph with the end of the call, as a recorded one has it."""
    last = event("end", 0, len(graph.events) - 1, kind="end", nodes=(), op_type=None)
    return EventGraph((*graph.events, last))


def diamond(first: float, left: float, right: float, last: float) -> EventGraph:
    return EventGraph(
        (
            event("first", first),
            event("left", left, 0),
            event("right", right, 0),
            event("last", last, 1, 2),
        )
    )


@st.composite
def graphs(draw: st.DrawFn, *, most: int = 8) -> EventGraph:
    """Draw any graph: several beginnings, several ends, gaps, events that take no time."""
    events = []
    for place in range(draw(st.integers(1, most))):
        after = draw(st.sets(st.integers(0, place - 1), max_size=3)) if place else set[int]()
        made = event(
            f"n{place}",
            draw(st.integers(0, 50)),
            *sorted(after),
            gap=draw(st.integers(0, 5)),
            op_type=draw(st.sampled_from(["Add", "Mul", "MatMul"])),
        )
        events.append(made)
    return EventGraph(tuple(events))


def record(*nodes: GraphNode, shape: tuple[int, ...] = (64, 64)) -> GraphRecord:
    """Return a graph in which every tensor has the same shape."""
    names = {name for node in nodes for name in (*node.inputs, *node.outputs) if name}
    made = {name for node in nodes for name in node.outputs}
    tensors = {name: TensorSpec(name, "f32", shape) for name in names}
    read = {name for node in nodes for name in node.inputs if name}
    return GraphRecord(
        name="g",
        nodes=nodes,
        inputs=tuple(tensors[name] for name in sorted(read - made)),
        outputs=tuple(tensors[name] for name in sorted(made - read)),
        tensors=tensors,
        constants=frozenset(),
    )


def node(name: str, op_type: str, reads: str, writes: str, **attributes: int) -> GraphNode:
    return GraphNode(
        name, op_type, "", tuple(reads.split()), tuple(writes.split()), attributes, ("net", name)
    )
