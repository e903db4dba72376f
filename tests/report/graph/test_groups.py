from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.tensors import TensorSpec
from burnish.report.graph import groups
from burnish.store.graph import GraphNode, GraphRecord
from sample_picture import diamond, node, tensor


def labels(view: groups.View) -> list[str]:
    return [box.label for box in view.boxes]


def test_the_full_graph_has_every_node_and_both_ends() -> None:
    view = groups.full(diamond())
    assert len(view.boxes) == 7 + 2
    assert view.hidden == ()
    assert [box.kind for box in view.boxes if box.kind != "node"] == ["input", "output"]


def test_the_simplified_graph_leaves_out_arithmetic_on_sizes() -> None:
    view = groups.simplified(diamond())
    assert view.hidden == ("size",)
    assert "Shape" not in labels(view)


def test_floating_point_numbers_made_from_sizes_are_work() -> None:
    nodes = (
        node("size", "Shape", ("x",)),
        node("range", "Range", ("size_out",)),
        node("look", "Gather", ("table", "range_out")),
        node("sum", "Add", ("x", "look_out")),
    )
    tensors = {"range_out": tensor("range_out", 4, dtype="i64"), "look_out": tensor("look_out", 4)}
    record = GraphRecord(
        "g", nodes, (tensor("x", 4),), (tensor("sum_out", 4),), tensors, frozenset({"table"})
    )
    assert groups.arithmetic_on_sizes(record) == {"size", "range"}


def test_a_size_that_the_model_returns_is_drawn() -> None:
    record = GraphRecord(
        "g", (node("size", "Shape", ("x",)),), (tensor("x", 4),),
        (tensor("size_out", 1, dtype="i64"),), {}, frozenset(),
    )  # fmt: skip
    assert not groups.arithmetic_on_sizes(record)


def test_modules_fold_as_deep_as_there_is_room() -> None:
    assert "layer.0" in labels(groups.folded(diamond(), {"query": "layer.0"}))
    many = _stack(30)
    view = groups.by_module(many, most=40)
    assert len([box for box in view.boxes if box.kind == "group"]) == 30
    assert len(view.boxes) == 32
    assert view.boxes[1].members == ("n0_0", "n0_1", "n0_2")


def test_a_single_module_around_everything_opens() -> None:
    assert len(groups.by_module(_stack(300), most=40).boxes) == 302


def test_nodes_of_one_kernel_share_a_box() -> None:
    view = groups.by_kernel(diamond(), [("fused", ("value", "bias")), ("alone", ("query",))])
    found = {box.label: box.members for box in view.boxes if box.kind == "group"}
    assert found == {"fused": ("value", "bias"), "alone": ("query",)}


def test_kernels_that_compute_the_same_stay_apart() -> None:
    view = groups.by_kernel(
        diamond(),
        [("gemm", ("value", "bias")), ("gemm", ("query", "score")), ("x", ("bias", "flat"))],
    )
    found = [(box.label, box.members) for box in view.boxes if box.kind == "group"]
    assert sorted(found) == [
        ("gemm", ("query", "score")), ("gemm", ("value", "bias")), ("x", ("flat",)),
    ]  # fmt: skip


def test_a_fold_that_makes_a_cycle_still_has_all_its_edges() -> None:
    chain = (node("a", "A", ("x",)), node("b", "B", ("a_out",)), node("c", "C", ("b_out",)))
    record = GraphRecord("g", chain, (tensor("x", 1),), (tensor("c_out", 1),), {}, frozenset())
    view = groups.folded(record, {"a": "m", "c": "m"})
    assert [box.key for box in view.boxes] == ["input x", "m", "b", "output c_out"]
    assert view.edges == ((0, 1), (1, 2), (1, 3), (2, 1))


@given(st.data())
def test_boxes_come_in_the_order_of_the_flow(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    nodes = []
    for number in range(count):
        taken = data.draw(st.lists(st.sampled_from(["x", *(f"{n.name}_out" for n in nodes)])))
        nodes.append(node(f"n{number}", "Add", tuple(taken)))
    shuffled = data.draw(st.permutations(nodes))
    ends = (TensorSpec("x", "f32", (1,)),), (TensorSpec("n0_out", "f32", (1,)),)
    view = groups.full(GraphRecord("g", tuple(shuffled), *ends, {}, frozenset()))
    assert sorted(box.key for box in view.boxes if box.kind == "node") == sorted(
        each.name for each in nodes
    )
    assert {a < b for a, b in view.edges} <= {True} or shuffled != nodes


def test_two_inputs_two_outputs_and_an_optional_input_left_out() -> None:
    record = GraphRecord(
        "g",
        (GraphNode("n", "Op", "", ("x", "", "y"), ("p", "q")),),
        (tensor("x", 1), tensor("y", 1)), (tensor("p", 1), tensor("q", 1)), {}, frozenset(),
    )  # fmt: skip
    view = groups.full(record)
    assert [box.key for box in view.boxes] == ["input x", "input y", "n", "output p", "output q"]
    assert view.edges == ((0, 2), (1, 2), (2, 3), (2, 4))


@pytest.mark.parametrize("record", [GraphRecord("g", (), (), (), {}, frozenset())])
def test_an_empty_graph_has_no_boxes(record: GraphRecord) -> None:
    assert groups.full(record) == groups.View((), ())
    assert groups.by_module(record) == groups.View((), ())


def _stack(layers: int) -> GraphRecord:
    nodes, last = [], "x"
    for layer in range(layers):
        for place in range(3):
            name = f"n{layer}_{place}"
            nodes.append(node(name, "Add", (last,), scope=("encoder", f"layer.{layer}")))
            last = f"{name}_out"
    return GraphRecord("g", tuple(nodes), (tensor("x", 1),), (tensor(last, 1),), {}, frozenset())
