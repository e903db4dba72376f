"""Equal work is compared: what differs was disturbed, and is said or set right."""

from __future__ import annotations

import pytest

from burnish.analyze.breakdown import by_origin
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.twins import kinds, steadied, uneven
from event_graphs import US, event, node, record
from timelines import run, span, trace

NAMES = [f"g{number}" for number in range(5)]
GRAPH = record(*(node(name, "Gemm", f"x{name} w", f"y{name}") for name in NAMES))


def test_nodes_are_alike_if_operator_attributes_and_shapes_are() -> None:
    graph = record(
        node("a", "Gemm", "x w", "y"), node("b", "Gemm", "y w", "z"),
        node("c", "Gemm", "z w", "u", transB=1),
    )  # fmt: skip
    found = kinds(graph)
    assert found["a"] == found["b"] != found["c"]


def test_equal_work_that_takes_different_times_is_told() -> None:
    lengths = [29, 30, 31, 33, 61]
    spans = [
        span(name, 100 * at, length, op="Gemm", nodes=(name,))
        for at, (name, length) in enumerate(zip(NAMES, lengths, strict=True))
    ]
    (note,) = uneven(by_origin(trace(run(0, 600), *spans)), GRAPH)
    assert note == (
        "5 nodes with equal work (Gemm) took 29.0 µs to 61.0 µs, the longest g4: they differ in how"
        " they were run, not in what they do; compare with their median, 31.0 µs"
    )
    even = [span(name, 100 * at, 30, op="Gemm", nodes=(name,)) for at, name in enumerate(NAMES)]
    assert uneven(by_origin(trace(run(0, 600), *even)), GRAPH) == ()


@pytest.mark.parametrize("runs", [1, 2])
def test_one_of_equal_nodes_that_was_interrupted_is_drawn_with_the_others_median(
    runs: int,
) -> None:
    lengths = [720, 730, 21_800, 710, 725]
    events = EventGraph(tuple(event(n, t) for n, t in zip(NAMES, lengths, strict=True)))
    found, notes = steadied(events, GRAPH, runs=runs)
    assert found.events[2].duration_s == pytest.approx(725 * US)
    assert notes[0].startswith("g2 took 21.8 ms in the only inference")
    assert "taken as interrupted, and drawn with their median" in notes[0]


def test_medians_of_several_inferences_are_left_as_they_are() -> None:
    events = EventGraph(tuple(event(name, 1 if name != "g2" else 99) for name in NAMES))
    assert steadied(events, GRAPH, runs=5) == (events, ())
    few = EventGraph(tuple(event(name, 1 if name != "g1" else 99) for name in NAMES[:2]))
    assert steadied(few, GRAPH, runs=1) == (few, ())
