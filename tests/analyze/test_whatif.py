from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
from hypothesis import given

from burnish.analyze.event_graph import EventGraph
from burnish.analyze.scenario import Scenario, action, option
from burnish.analyze.selector import Scene
from burnish.analyze.transform import Setting
from burnish.analyze.whatif import Checked, attributed, outcome, paths, sweep
from burnish.store import layout
from burnish.study.timeline import TimelineRequest, recorded
from devices import LAPTOP
from event_graphs import US, chain, diamond, event, graphs, node, record


def asked(*options: tuple[str, str]) -> Scenario:
    return Scenario("s", tuple(option(do, text) for do, text in options))


def test_an_outcome_is_against_the_whole() -> None:
    found = outcome(asked(("scale", "n0=2")), Setting(Scene(chain(60, 40))))
    assert found.gain == pytest.approx(100 / 70)
    assert (found.events, found.events_s) == (1, pytest.approx(60 * US))
    assert found.ceiling is not None
    assert found.ceiling.against_wall == pytest.approx(2.5)
    assert found.error is None


@given(graphs())
def test_no_scenario_of_faster_events_gives_more_than_their_ceiling(graph: EventGraph) -> None:
    setting = Setting(Scene(graph))
    for do in (("scale", "n0=inf"), ("remove", "n0")):
        found = outcome(asked(do), setting)
        assert found.ceiling is not None
        assert found.gain <= found.ceiling.against_wall * (1 + 1e-9)


def test_a_change_of_waiting_has_no_ceiling() -> None:
    graph = record(node("first", "Relu", "x", "a"), node("left", "Relu", "a", "b"))
    setting = Setting(Scene(diamond(1, 2, 3, 4), graph))
    assert outcome(Scenario("s", (action("overlap"),)), setting).ceiling is None


def test_what_was_measured_is_held_against_what_was_believed() -> None:
    found = outcome(asked(("scale", "n0=2")), Setting(Scene(chain(60, 40))))
    assert found.gains is not None
    assert found.gains[0] < found.gain < found.gains[1]
    assert found.is_as_believed is None
    for after_s, wanted in ((0.7, True), (0.2, False), (1.4, False)):
        made = dataclasses.replace(found, checked=Checked("a", 1.0, after_s, verdict=""))
        assert made.is_as_believed is wanted


def test_of_a_cuda_graph_as_much_is_believed_as_was_measured_of_one() -> None:
    launched = [event("l", 5, kind="launch"), event("k", 1, 0, kind="kernel", launch=0)]
    found = outcome(
        Scenario("s", (action("cuda-graph"),)), Setting(Scene(EventGraph(tuple(launched))))
    )
    assert found.between_s == pytest.approx((0.85 * found.wall_s, 1.15 * found.wall_s))


def test_the_error_is_of_the_total_at_the_speed_of_the_machine_that_measured() -> None:
    found = outcome(asked(("scale", "n0=2")), Setting(Scene(chain(100))))
    checked = dataclasses.replace(found, checked=Checked("a", 200 * US, 80 * US, "faster"))
    assert checked.gain == pytest.approx(2.0)
    assert checked.checked is not None
    assert checked.checked.ratio == pytest.approx(2.5)
    assert checked.error == pytest.approx(100 / 80 - 1)


def test_a_sweep_has_every_operator_with_the_largest_gain_first() -> None:
    events = (
        event("a", 10, op_type="Add"),
        event("b", 70, 0, op_type="MatMul"),
        event("c", 20, 1, op_type="Add"),
    )
    rows = sweep(Setting(Scene(EventGraph(events))))
    assert [(row.op_type, row.events) for row in rows] == [("MatMul", 1), ("Add", 2)]
    assert rows[0].gain_at_2 == pytest.approx(100 / 65)
    assert rows[0].gain_at_1_5 == pytest.approx(1 / (0.3 + 0.7 / 1.5))
    assert rows[0].gain_at_infinity == pytest.approx(100 / 30)
    assert rows[0].gain_at_roofline is None


def test_a_sweep_tells_the_gain_at_the_limit_of_a_known_device() -> None:
    graph = record(node("n0", "Relu", "x", "a"), node("n1", "Relu", "a", "y"))
    (row,) = sweep(Setting(Scene(chain(10, 10), graph), LAPTOP))
    assert row.gain_at_roofline is not None
    assert 1 < row.gain_at_roofline < math.inf


def test_what_belongs_to_no_node_is_a_row_of_its_own() -> None:
    rows = sweep(Setting(Scene(EventGraph((event("?", 5, nodes=(), op_type=None),)))))
    assert [row.op_type for row in rows] == ["unattributed"]


def test_paths_need_the_graph_to_tell_what_could_be_parallel() -> None:
    graph = record(node("n0", "Relu", "x", "a"), node("n1", "Relu", "x", "b"))
    events = chain(10, 30, gap=1)
    assert paths(Setting(Scene(events))).if_parallel_s is None
    found = paths(Setting(Scene(events, graph)))
    assert found.as_executed_s == pytest.approx(42 * US)
    assert found.if_parallel_s == pytest.approx(30 * US)
    assert attributed(events, Setting(Scene(events, graph))) == 1.0
    assert attributed(events, Setting(Scene(events, record(graph.nodes[0])))) == pytest.approx(0.25)


def test_the_longest_product_of_the_published_layer_is_bounded_by_wall(shared: Path) -> None:
    folder = shared / "data" / "traces"
    model = layout.stored(folder / "bert-mini_layer.onnx")
    found = recorded(TimelineRequest(model=model, trace=folder / "trace_dense_layer.json"))
    result = outcome(asked(("scale", "top:1=inf")), found.setting)
    assert result.events_s == pytest.approx(15 * US)
    assert result.ceiling is not None
    assert result.ceiling.against_wall == pytest.approx(1.005, abs=5e-4)
    assert result.ceiling.against_busy == pytest.approx(1.181, abs=5e-4)
    assert result.gain <= result.ceiling.against_wall
    assert paths(found.setting).if_parallel_s == pytest.approx(79 * US)
