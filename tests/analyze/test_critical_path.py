from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.critical_path import critical_path
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.simulate import simulate
from event_graphs import US, chain, diamond, event, graphs

LENGTHS = st.integers(0, 100)


@given(st.lists(LENGTHS, min_size=1, max_size=12))
def test_of_a_chain_the_path_is_the_sum(lengths: list[int]) -> None:
    path = critical_path(chain(*lengths))
    assert path.length_s == pytest.approx(sum(lengths) * US)
    assert path.branches == ()


@given(LENGTHS, LENGTHS, LENGTHS, LENGTHS)
def test_of_a_diamond_the_slowest_branch_counts(a: int, b: int, c: int, d: int) -> None:
    assert critical_path(diamond(a, b, c, d)).length_s == pytest.approx((a + max(b, c) + d) * US)


def _all_paths(graph: EventGraph, place: int) -> list[float]:
    one = graph.events[place]
    own = one.duration_s + one.gap_s
    before = [length for other in one.after for length in _all_paths(graph, other)]
    return [own + length for length in before or [0.0]]


@given(graphs(most=7))
def test_it_is_the_longest_of_all_chains_there_are(graph: EventGraph) -> None:
    every = itertools.chain.from_iterable(
        _all_paths(graph, place) for place in range(len(graph.events))
    )
    path = critical_path(graph)
    assert path.length_s == pytest.approx(max(every))
    assert path.length_s == pytest.approx(simulate(graph).wall_s)
    along = [graph.events[place] for place in path.places]
    assert sum(one.duration_s + one.gap_s for one in along) == pytest.approx(path.length_s)


def test_every_branch_has_its_length_also_off_the_path() -> None:
    path = critical_path(diamond(10, 5, 20, 5))
    assert path.places == (0, 2, 3)
    assert [(one.fork, one.last, one.join) for one in path.branches] == [(0, 1, 3), (0, 2, 3)]
    assert [path.share(one) for one in path.branches] == pytest.approx([5 / 35, 20 / 35])


def test_branches_that_begin_with_the_inference_have_no_fork() -> None:
    graph = EventGraph((event("a", 3), event("b", 4), event("c", 1, 0, 1)))
    path = critical_path(graph)
    assert [one.fork for one in path.branches] == [None, None]
    assert [one.length_s for one in path.branches] == pytest.approx([3 * US, 4 * US])


def test_nested_forks_are_told_apart() -> None:
    graph = EventGraph(
        (
            event("a", 1),
            event("b", 2, 0),
            event("c", 3, 1),
            event("d", 4, 1),
            event("e", 1, 2, 3),
            event("f", 9, 0),
            event("g", 1, 4, 5),
        )
    )
    forks = {(one.join, one.last): one.fork for one in critical_path(graph).branches}
    assert forks == {(4, 2): 1, (4, 3): 1, (6, 4): 0, (6, 5): 0}


def test_nothing_has_an_empty_path() -> None:
    assert critical_path(EventGraph(())).places == ()
