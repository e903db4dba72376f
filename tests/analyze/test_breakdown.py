from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.breakdown import (
    Breakdown,
    by_kernel,
    by_layer,
    by_node,
    by_operator,
    by_origin,
    label_of,
    without_gaps,
)
from burnish.core.errors import ModelError
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.events import Trace
from timelines import US, run, span, trace, traces

BREAKDOWNS = pytest.mark.parametrize("breakdown", [by_operator, by_node])


def seconds(breakdown: Breakdown) -> dict[str, float]:
    return {row.label: round(row.seconds_s / US, 6) for row in breakdown.rows}


def test_time_is_summed_by_operator_with_what_no_node_accounts_for() -> None:
    whole = trace(
        run(0, 100),
        *(span("a", 1, 20, op="MatMul"), span("b", 25, 40, op="MatMul"), span("c", 70, 10)),
        span("mystery", 85, 5, op=None, node=None),
    )
    found = by_operator(whole)
    assert seconds(found) == {"MatMul": 60, "Add": 10, "unattributed": 5, "between nodes": 25}
    assert [row.count for row in found.rows] == [2, 1, 1, 0]
    assert found.share(found.rows[0]) == pytest.approx(0.6)
    assert found.cumulative(found.rows[1]) == pytest.approx(0.7)
    assert found.unattributed_s == pytest.approx(5 * US)
    assert found.clock == "host"


def test_time_by_node_keeps_the_engines_names_and_operators() -> None:
    found = by_node(trace(run(0, 50), span("fc1_nchwc", 1, 20, op="Conv")))
    assert (found.rows[0].label, found.rows[0].op_type) == ("fc1_nchwc", "Conv")


def test_the_body_of_an_if_is_counted_once() -> None:
    whole = trace(run(0, 50), span("if", 0, 40, op="If"), span("then", 10, 25, op="MatMul"))
    assert seconds(by_operator(whole))["MatMul"] == 25
    assert seconds(by_operator(whole))["If"] == 15


def test_an_outlier_does_not_matter() -> None:
    slow = (run(0, 9000), span("a", 1, 8000))
    steady = [part for at in (10_000, 20_000, 30_000) for part in (run(at, 90), span("a", at, 50))]
    found = by_operator(trace(*slow, *steady))
    assert seconds(found) == {"Add": 50, "unattributed": 0, "between nodes": 40}
    assert found.runs == 4


def test_an_interruption_that_hits_another_node_each_time_counts_nowhere() -> None:
    runs = []
    for number, at in enumerate((0, 10_000, 20_000, 30_000, 40_000)):
        lengths = [5000 if number == hit else 10 for hit in range(3)]
        starts = [at, at + lengths[0], at + lengths[0] + lengths[1]]
        runs += [
            run(at, sum(lengths) + 8),
            *(span(str(n), starts[n], lengths[n]) for n in range(3)),
        ]
    found = by_operator(trace(*runs))
    assert seconds(found) == {"Add": 30, "unattributed": 0, "between nodes": 8}
    assert found.wall_s == pytest.approx(38 * US)
    assert found.measured_wall_s == pytest.approx(5028 * US)


def test_a_node_that_most_inferences_skip_costs_nothing() -> None:
    runs = [part for at in (0, 100, 200) for part in (run(at, 50), span("a", at, 20))]
    found = by_operator(trace(*runs, span("rare", 30, 9, op="Loop")))
    assert seconds(found) == {"Add": 20, "Loop": 0, "unattributed": 0, "between nodes": 30}
    assert found.rows[1].count == pytest.approx(1 / 3)


def test_kernels_count_instead_of_the_launches_that_started_them() -> None:
    whole = trace(
        run(0, 100),
        span("fc", 0, 30, op="MatMul", provider="CUDAExecutionProvider"),
        span("gemm", 5, 60, op="MatMul", track="stream", category="kernel", node="fc"),
        span("shape", 70, 4, op="Shape", provider="CPUExecutionProvider"),
        span("orphan", 80, 7, op=None, track="stream", category="kernel", node=None),
    )
    found = by_operator(whole)
    assert found.clock == "device"
    assert seconds(found) == {"MatMul": 60, "Shape": 4, "unattributed": 7, "between nodes": 29}


def test_the_ceiling_is_the_speed_up_if_a_row_cost_nothing() -> None:
    found = by_operator(trace(run(0, 100), span("a", 0, 75), span("b", 75, 25, op="Mul")))
    assert found.ceiling(found.rows[0]) == pytest.approx(4)
    assert found.ceiling(found.rows[1]) == pytest.approx(4 / 3)
    alone = by_operator(trace(run(0, 100), span("a", 0, 100)))
    assert alone.ceiling(alone.rows[0]) == math.inf


def test_the_top_keeps_the_rows_that_are_always_there() -> None:
    spans = [span(name, at, 9 - at // 10, op=name) for at, name in enumerate("abc")]
    top = by_operator(trace(run(0, 100), *spans)).top(1)
    assert [row.kind.value for row in top] == ["operator", "unattributed", "between nodes"]


@BREAKDOWNS
def test_a_trace_without_an_inference_is_an_error_to_act_on(breakdown: object) -> None:
    with pytest.raises(ModelError) as caught:
        breakdown(trace(span("a", 0, 5)))  # type: ignore[operator]
    assert caught.value.problem == (
        "the trace holds no complete inference, so there is nothing to break down"
    )
    assert caught.value.hint == "record one with burnish profile MODEL --runs 10"


@BREAKDOWNS
@given(whole=traces())
def test_the_parts_add_up(breakdown: object, whole: Trace) -> None:
    found: Breakdown = breakdown(whole)  # type: ignore[operator]
    assert [row.kind.value for row in found.rows[-2:]] == ["unattributed", "between nodes"]
    assert found.rows[-1].seconds_s >= 0
    assert found.wall_s <= sum(row.seconds_s for row in found.rows) + 1e-12
    attributed = sum(r.seconds_s for r in found.rows[:-2])
    assert attributed + found.unattributed_s == pytest.approx(found.total_s)
    assert all(found.ceiling(row) >= 1 - 1e-9 for row in found.rows)


@given(whole=traces(runs=st.just(1), tracks=("t",)))
def test_without_overlap_the_rows_of_one_inference_are_its_wall_time(whole: Trace) -> None:
    found = by_operator(whole)
    assert found.wall_s == pytest.approx(found.measured_wall_s)
    assert sum(row.seconds_s for row in found.rows) == pytest.approx(found.wall_s)


@BREAKDOWNS
@given(whole=traces())
def test_operators_and_nodes_split_the_same_total(breakdown: object, whole: Trace) -> None:
    assert by_operator(whole).total_s == pytest.approx(breakdown(whole).total_s)  # type: ignore[operator]


def test_layers_are_the_innermost_modules_that_all_nodes_are_in() -> None:
    nodes = {"a": ("net", "one"), "b": ("net", "two"), "c": ()}
    made = tuple(GraphNode(name, "Add", "", (), (), scope=scope) for name, scope in nodes.items())
    graph = GraphRecord("g", made, (), (), {}, frozenset())
    spans = (
        span("k1", 0, 5, nodes=("a",)), span("k2", 10, 7, nodes=("a", "b")),
        span("k3", 20, 3, nodes=("c",)), span("k4", 30, 2),
    )  # fmt: skip
    found = by_layer(trace(run(0, 50), *spans), graph)
    assert {row.label: round(row.seconds_s / US) for row in found.rows} == {
        "net": 7, "net/one": 5, "outside of layers": 3, "unattributed": 2, "between nodes": 33,
    }  # fmt: skip


def test_one_kernel_of_several_nodes_is_one_row_by_kernel_and_several_by_node() -> None:
    spans = (
        span("gemm", 0, 5, nodes=("a",), node=None),
        span("gemm", 10, 7, nodes=("b",), node=None),
    )
    whole = trace(run(0, 50), *spans)
    assert [(row.label, row.count) for row in by_kernel(whole).rows[:1]] == [("gemm", 2)]
    assert [row.label for row in by_origin(whole).rows[:2]] == ["b", "a"]


def test_the_time_in_which_nothing_ran_can_be_left_out() -> None:
    whole = by_operator(trace(run(0, 50), span("a", 0, 20)))
    assert without_gaps(whole).wall_s == pytest.approx(20 * US)
    assert "between nodes" not in {row.label for row in without_gaps(whole).rows}


@pytest.mark.parametrize(
    ("nodes", "label"),
    [
        ((), ""),
        (("/a/b",), "/a/b"),
        (("/a/MatMul", "/a/Add"), "/a/{MatMul, Add}"),
        (("/a/b/Mul", "/a/c/Add"), "/a/{b/Mul, c/Add}"),
        (("Conv_1", "Relu_2"), "Conv_1 + Relu_2"),
    ],
)
def test_nodes_that_ran_as_one_are_called_by_what_they_share(
    nodes: tuple[str, ...], label: str
) -> None:
    assert label_of(nodes) == label
