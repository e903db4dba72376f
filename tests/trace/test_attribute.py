"""Every way back to a node, what is not led back, and laws that hold whatever was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.breakdown import by_node, by_operator, by_origin
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.attribute import attribute, coverage
from burnish.trace.events import Span, Trace
from burnish.trace.grouping import GroupLibrary, GroupNode, NodeGroup
from burnish.trace.own_time import busy_seconds
from timelines import US, run, span, trace, traces


def graph(*nodes: GraphNode) -> GraphRecord:
    return GraphRecord("g", nodes, (), (), {}, frozenset())


def chain(*op_types: str, names: Sequence[str] = ()) -> GraphRecord:
    """Return operators that each read what the one before writes."""
    called = names or [f"{op}_{at}" for at, op in enumerate(op_types)]
    return graph(
        *(
            GraphNode(name, op, "", (f"t{at}",), (f"t{at + 1}",))
            for at, (name, op) in enumerate(zip(called, op_types, strict=True))
        )
    )


def nodes_of(found: Trace) -> dict[str, tuple[tuple[str, ...], str]]:
    return {s.name: (s.nodes, s.confidence) for s in found.spans if s.category != "run"}


def test_a_node_is_known_by_its_exact_name() -> None:
    whole = trace(run(0, 90), span("fc1", 1, 30, op="MatMul"), span("conv_nchwc", 40, 10))
    found = attribute(whole, chain("MatMul", names=["fc1"]))
    assert nodes_of(found) == {"fc1": (("fc1",), "exact"), "conv_nchwc": ((), "none")}
    assert by_origin(found).unattributed_s == pytest.approx(10 * US)
    assert by_operator(found) == by_operator(whole)


def test_a_node_that_the_engine_made_is_led_back_through_its_graph() -> None:
    whole = replace(
        trace(run(0, 90), span("fused", 1, 30), span("b", 40, 10)),
        origins={"fused": ("a", "b"), "b": ("b", "c")},
    )
    found = attribute(whole, chain("MatMul", "Add", "Relu", names=["a", "b", "c"]))
    assert nodes_of(found) == {"fused": (("a", "b"), "tensor"), "b": (("b", "c"), "tensor")}


def test_a_kernel_is_led_back_through_the_range_around_its_launch() -> None:
    spans = (
        Span("run", "run", 0.0, 100 * US, "t", 0),
        Span("the_add", "range", 1 * US, 50 * US, "t", 0),
        Span("cudaLaunchKernel", "launch", 2 * US, 3 * US, "t", 0, parent=1),
        Span("k", "kernel", 60 * US, 9 * US, "s", 0, cause=2, device=1, stream=7),
    )
    found = attribute(Trace(spans, "by hand", runs=1), chain("Add", names=["the_add"]))
    assert nodes_of(found)["k"] == (("the_add",), "exact")
    assert coverage(found).share == 1.0


def test_a_trace_of_another_model_says_so() -> None:
    found = attribute(trace(run(0, 90), span("conv1", 1, 30)), chain("MatMul", names=["fc1"]))
    assert coverage(found).share == 0.0
    assert coverage(found).unattributed == 1
    assert found.notes == (
        (
            "no time is led back to the model's nodes: the trace may be of another model (it has"
            " for instance 'conv1', the model 'fc1')"
        ),
    )


def test_an_empty_trace_has_nothing_to_lead_back() -> None:
    found = attribute(Trace((), "by hand", runs=0), chain("Add"))
    assert (found.spans, found.notes, coverage(found).share) == ((), (), 0.0)


GELU = GroupLibrary((NodeGroup("gelu", (GroupNode(frozenset({"gelu"})),), kernel="Gelu"),))


def kernels(*names: str) -> Trace:
    spans = [Span("run", "run", 0.0, 99 * US, "t", 0)]
    spans += [
        Span(name, "kernel", at * 9 * US, 5 * US, "s", 0, device=0) for at, name in enumerate(names)
    ]
    return Trace(tuple(spans), "by hand", runs=1)


def test_as_many_kernels_as_the_graph_has_units_are_led_back_in_order() -> None:
    found = attribute(kernels("x_GeluA", "other", "x_GeluB"), chain("Gelu", "Add", "Gelu"), GELU)
    assert nodes_of(found) == {
        "x_GeluA": (("Gelu_0",), "pattern"),
        "other": ((), "none"),
        "x_GeluB": (("Gelu_2",), "pattern"),
    }


def test_fewer_kernels_than_units_may_be_any_of_them() -> None:
    found = attribute(kernels("x_Gelu"), chain("Gelu", "Add", "Gelu"), GELU)
    assert nodes_of(found) == {"x_Gelu": ((), "none")}


@given(traces(), st.sets(st.sampled_from(["a", "b", "c", "d", "a0", "b1"]), min_size=1))
def test_attributed_and_unattributed_are_the_total(whole: Trace, names: set[str]) -> None:
    found = attribute(whole, chain(*["Add"] * len(names), names=sorted(names)))
    told = coverage(found)
    assert told.attributed_s + told.seconds_s.get("none", 0.0) == pytest.approx(told.total_s)
    broken_down = by_origin(found)
    attributed = sum(row.seconds_s for row in broken_down.rows if row.nodes)
    assert attributed + broken_down.unattributed_s == pytest.approx(broken_down.total_s)
    assert told.total_s == pytest.approx(coverage(whole).total_s)
    assert rows_of(found) == rows_of(whole)


def rows_of(whole: Trace) -> dict[str, float]:
    """Return the nodes that ran and how often; the times are medians of parts, which may join."""
    return {row.label: row.count for row in by_node(whole).rows}


@given(traces(runs=st.just(1), tracks=("t",)))
def test_busy_is_never_more_than_wall(whole: Trace) -> None:
    wall_s = sum(span.duration_s for span in whole.spans if span.category == "run")
    inside = [span for span in whole.spans if span.category == "node" and span.run >= 0]
    assert busy_seconds(inside) <= wall_s + 1e-12


def test_names_that_onnx_runtime_made_from_others_lead_back_as_a_pattern() -> None:
    nodes = ("/fc/MatMul", "/fc/Add", "/relu/Relu")
    made = (
        span("/fc/MatMul/MatMulAddFusion", 0, 1),
        span("InsertedPrecisionFreeCast_t3", 2, 1),
        span("/relu/Relu_nchwc", 4, 1),
        span("ReduceMax_55", 6, 1),
    )
    found = attribute(trace(run(0, 9), *made), chain("MatMul", "Add", "Relu", names=nodes))
    assert list(nodes_of(found).values()) == [
        (("/fc/MatMul", "/fc/Add"), "pattern"),
        (("/relu/Relu",), "pattern"),
        (("/relu/Relu",), "pattern"),
        ((), "none"),
    ]
