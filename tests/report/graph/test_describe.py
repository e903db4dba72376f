from __future__ import annotations

import dataclasses

import pytest

from burnish.report.graph import groups
from burnish.report.graph.describe import Describer, describer
from burnish.report.graph.picture import overlay
from sample_picture import changed_picture, diamond, sample_picture


def described(view: groups.View, *, timed: bool = True) -> Describer:
    picture = sample_picture()
    return describer(picture.graph, overlay(picture) if timed else None, view)


def box(view: groups.View, key: str) -> groups.Box:
    return next(box for box in view.boxes if box.key == key)


def test_a_box_says_its_operator_and_its_time() -> None:
    view = groups.full(diamond())
    assert described(view).lines(box(view, "query")) == ["MatMul", "10.0 µs · 13.3 %"]
    assert described(view).lines(box(view, "input x")) == ["x"]


def test_what_took_no_longer_than_recording_it_is_not_said_to_take_nothing() -> None:
    picture = sample_picture()
    seen = overlay(picture)
    assert seen is not None
    costs = tuple(dataclasses.replace(one, seconds_s=0.0, after_s=0.0) for one in seen.costs)
    view = groups.full(diamond())
    found = describer(picture.graph, dataclasses.replace(seen, costs=costs), view)
    assert found.lines(box(view, "query")) == ["MatMul", "too short to tell"]
    assert "too short to tell\nattributed" in found.details(box(view, "query"))


def test_without_times_a_box_says_what_it_gives() -> None:
    view = groups.full(diamond())
    assert described(view, timed=False).lines(box(view, "query")) == ["MatMul", "f32[8, 8]"]


def test_after_a_change_a_box_says_both_times() -> None:
    picture = changed_picture()
    view = groups.full(picture.graph)
    found = describer(picture.graph, overlay(picture), view)
    assert found.lines(box(view, "query")) == ["MatMul", "10.0 µs → 5.00 µs"]


def test_the_pointer_reads_all_that_is_known() -> None:
    view = groups.full(diamond())
    assert described(view).details(box(view, "soft")) == (
        "soft\nSoftmax\ntakes flat_out: f32[8, 8]\ngives soft_out: f32[8, 8]\naxis = -1\n"
        "5.00 µs, 6.7 % of the time\nattributed: exact"
    )


def test_a_node_whose_time_is_elsewhere_says_where() -> None:
    view = groups.full(diamond())
    said = described(view).details(box(view, "bias"))
    assert said.endswith("its time is in value_fused, shown on value")
    assert described(view).details(box(view, "flat")).endswith("no time was recorded for it")


def test_a_module_says_how_many_nodes_it_has_and_their_time() -> None:
    view = groups.folded(diamond(), dict.fromkeys(("query", "value", "bias"), "layer.0/attention"))
    module = box(view, "layer.0/attention")
    assert described(view).lines(module) == ["layer.0/attention", "40.0 µs · 53.3 %"]
    assert described(view).details(module).startswith("layer.0/attention\n3 nodes\nquery\nvalue")


def test_the_path_goes_through_boxes_that_take_no_time() -> None:
    view = groups.simplified(diamond())
    keys = [each.key for each in view.boxes]
    path = {(keys[a], keys[b]) for a, b in described(view).critical_edges(view)}
    assert path == {("value", "bias"), ("bias", "score"), ("score", "flat"), ("flat", "soft")}


def test_shares_of_branches_stand_at_the_lines_that_meet() -> None:
    view = groups.simplified(diamond())
    keys = [each.key for each in view.boxes]
    shares = described(view).branch_shares(view)
    assert {(keys[a], keys[b]) for a, b in shares} >= {("query", "score"), ("bias", "score")}


def test_colours_reach_to_the_most_expensive_box() -> None:
    view = groups.full(diamond())
    found = described(view)
    assert found.look(box(view, "value")) == "h5 critical"
    assert found.look(box(view, "flat")) == "h0"
    assert found.legend()[-1] == "≤ 30.0 µs"
    assert described(view, timed=False).legend() == []


def test_what_is_not_drawn_is_said() -> None:
    view = groups.simplified(diamond())
    assert described(view).left_out(view) == ["1 node of constants and sizes not drawn"]
    assert described(groups.full(diamond())).left_out(groups.full(diamond())) == []


@pytest.mark.parametrize("name", ["query", "value"])
def test_every_cost_is_on_one_box_of_every_view(name: str) -> None:
    for view in (groups.full(diamond()), groups.simplified(diamond()), groups.by_module(diamond())):
        found = described(view)
        assert sum(cost.nodes[0] == name for b in view.boxes for cost in found.costs(b)) == 1
