from __future__ import annotations

import pytest
from hypothesis import given

from burnish.analyze.event_graph import EventGraph, without
from burnish.analyze.simulate import simulate
from event_graphs import chain, diamond, event, graphs


def test_an_event_cannot_wait_for_one_that_comes_later() -> None:
    with pytest.raises(ValueError, match=r"event 0 \(a\) waits for one that is not before"):
        EventGraph((event("a", 1, 1), event("b", 1)))


def test_who_waited_for_an_event_that_is_gone_waits_for_what_it_waited_for() -> None:
    rest = without(chain(1, 2, 3), [1])
    assert [(one.name, one.after) for one in rest.events] == [("n0", ()), ("n2", (0,))]
    rest = without(diamond(1, 2, 3, 4), [1, 2])
    assert rest.events[1].after == (0,)


@given(graphs())
def test_less_to_do_never_takes_longer(graph: EventGraph) -> None:
    assert simulate(without(graph, [0])).wall_s <= simulate(graph).wall_s + 1e-12


def test_the_work_is_the_devices_where_it_does_any() -> None:
    graph = EventGraph((event("a", 1, kind="launch"), event("k", 2, 0, kind="kernel", launch=0)))
    assert graph.work == (1,)
    assert chain(1, 2).work == (0, 1)
