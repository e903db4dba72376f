from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.report.graph.layout import GAP_ACROSS, Edge, Layout, Size, layout


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Size], list[Edge]]:
    """Draw boxes of many sizes, and edges from earlier to later ones."""
    count = draw(st.integers(1, 24))
    size = st.tuples(st.integers(20, 200), st.integers(15, 60))
    sizes = [(float(w), float(h)) for w, h in draw(st.lists(size, min_size=count, max_size=count))]
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = {(a, b) for a, b in draw(st.lists(ends, max_size=50)) if a < b}
    return sizes, sorted(edges)


def overlapping(plan: Layout, gap: float) -> list[tuple[int, int]]:
    boxes = list(enumerate(plan.places))
    return [
        (i, j)
        for i, a in boxes
        for j, b in boxes[i + 1 :]
        if a.x < b.x + b.width + gap
        and b.x < a.x + a.width + gap
        and a.y < b.y + b.height
        and b.y < a.y + a.height
    ]


@given(graphs(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_boxes_stand_apart(graph: tuple[list[Size], list[Edge]], left_to_right: bool) -> None:
    plan = layout(*graph, left_to_right=left_to_right)
    # 1e-6: sums of many widths round
    gap = 0.0 if left_to_right else GAP_ACROSS - 1e-6
    assert not overlapping(plan, gap)


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_every_edge_goes_down_to_a_later_layer(graph: tuple[list[Size], list[Edge]]) -> None:
    sizes, edges = graph
    plan = layout(sizes, edges, whole=edges)
    for (source, target), route in zip(edges, plan.routes, strict=True):
        start, end = plan.places[source], plan.places[target]
        assert plan.layers[source] < plan.layers[target]
        assert start.y + start.height < end.y
        assert route[0] == pytest.approx((start.x + start.width / 2, start.y + start.height))
        assert route[-1][1] == end.y
        assert end.x <= route[-1][0] <= end.x + end.width
        assert [y for _, y in route] == sorted(y for _, y in route)


@given(graphs())
@settings(max_examples=80, deadline=None)
def test_lines_pass_through_no_box(graph: tuple[list[Size], list[Edge]]) -> None:
    sizes, edges = graph
    plan = layout(sizes, edges, whole=edges)
    for route in plan.routes:
        inner = route[1:-1]
        for (x, top), (_, bottom) in zip(inner[::2], inner[1::2], strict=True):
            for p in plan.places:
                assert not (p.x < x < p.x + p.width and top <= p.y and p.y + p.height <= bottom)


@given(graphs())
@settings(max_examples=50, deadline=None)
def test_equal_graphs_get_equal_plans_and_fit_their_frame(
    graph: tuple[list[Size], list[Edge]],
) -> None:
    plan = layout(*graph)
    assert plan == layout(*graph)
    assert all(p.x >= -1e-6 and p.x + p.width <= plan.width + 1e-6 for p in plan.places)
    assert all(p.y >= 0 and p.y + p.height <= plan.height for p in plan.places)


def test_a_chain_is_one_vertical() -> None:
    plan = layout([(100, 30), (60, 30), (140, 30)], [(0, 1), (1, 2)])
    assert {p.x + p.width / 2 for p in plan.places} == {70.0}


def test_a_graph_can_go_from_left_to_right() -> None:
    plan = layout([(100, 30), (60, 30)], [(0, 1)], left_to_right=True)
    assert plan.places[1].x == 130
    assert plan.routes[0] == ((100.0, 15.0), (130.0, 15.0))


def test_an_edge_against_the_flow_is_drawn_upwards() -> None:
    plan = layout([(50, 20)] * 3, [(0, 1), (1, 2), (2, 0)])
    assert plan.routes[2][0][1] > plan.routes[2][-1][1]
    assert plan.layers == (0, 1, 2)


def test_lines_from_one_box_share_their_way() -> None:
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]
    shared = layout([(50, 20)] * 4, edges)
    whole = layout([(50, 20)] * 4, edges, whole=[(0, 3)])
    first_bend_ends = 70.0
    assert shared.routes[2][0][1] == first_bend_ends
    assert whole.routes[2][0][1] == 20.0


def test_nothing_gives_an_empty_plan() -> None:
    assert layout([], []) == Layout((), (), (), 0.0, 0)


def test_a_source_stands_just_above_what_uses_it() -> None:
    plan = layout([(50, 20)] * 5, [(0, 1), (1, 2), (2, 4), (3, 4)])
    assert plan.layers[3] == 2


def test_a_plan_grows_with_the_graph_and_not_with_its_square() -> None:
    blocks = 200
    edges = [(0, 12 * b + 4) for b in range(1, blocks)]
    for block in range(blocks):
        first = 12 * block
        edges += [(first + k, first + k + 1) for k in range(12)]
        edges += [(first, first + 6), (first + 6, first + 11)]
    plan = layout([(100.0, 40.0)] * (12 * blocks + 1), edges)
    assert sum(map(len, plan.routes)) < 6 * len(edges)
