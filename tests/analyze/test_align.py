from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.align import aligned, corresponding
from burnish.analyze.breakdown import Breakdown, by_origin
from burnish.analyze.difference import Difference
from burnish.core.tensors import TensorSpec
from burnish.store.graph import GraphNode, GraphRecord
from timelines import US, run, span, trace


def breakdown(*parts: tuple[tuple[str, ...], int], wall: int = 1000) -> Breakdown:
    spans, at = [], 0
    for nodes, length in parts:
        spans.append(span("+".join(nodes) or "?", at, length, nodes=nodes))
        at += length
    return by_origin(trace(run(0, wall), *spans))


def times(found: Difference) -> dict[str, tuple[float, float]]:
    return {
        row.label: (round(row.baseline_s / US), round(row.candidate_s / US))
        for row in found.rows
        if row.label != "between nodes" and (row.baseline_s or row.candidate_s)
    }


def test_a_fused_node_is_set_beside_the_set_that_it_replaced() -> None:
    before = breakdown((("mm",), 30), (("bias",), 10), (("relu",), 5))
    after = breakdown((("gemm",), 25), (("relu",), 5))
    found = aligned(before, after, {"gemm": ("mm", "bias"), "relu": ("relu",)}, names=("a", "b"))
    assert times(found) == {"mm + bias": (40, 25), "relu": (5, 5)}


def test_sets_that_overlap_are_compared_as_one() -> None:
    before = breakdown((("a", "b"), 30), (("c",), 10))
    after = breakdown((("a",), 10), (("b", "c"), 20))
    assert times(aligned(before, after, {}, names=("x", "y"))) == {"a + b + c": (40, 30)}


def test_what_is_on_one_side_only_is_set_beside_nothing() -> None:
    before = breakdown((("a",), 10), ((), 7))
    after = breakdown((("a",), 9), (("b",), 4))
    found = aligned(before, after, {"a": ("b",), "b": ()}, names=("x", "y"))
    assert times(found) == {"a": (10, 0), "b": (0, 9), "b (new)": (0, 4), "unattributed": (7, 0)}


node_sets = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(tuple),
              st.integers(1, 50)), max_size=6,
)  # fmt: skip


@given(node_sets, node_sets)
def test_no_time_is_lost_or_made(before: list, after: list) -> None:  # type: ignore[type-arg]
    first, second = breakdown(*before), breakdown(*after)
    found = aligned(first, second, {}, names=("x", "y"))
    assert sum(row.baseline_s for row in found.rows) == pytest.approx(
        sum(row.seconds_s for row in first.rows)
    )
    assert sum(row.change_s for row in found.rows) == pytest.approx(
        sum(r.seconds_s for r in second.rows) - sum(r.seconds_s for r in first.rows)
    )


def graph(*nodes: GraphNode) -> GraphRecord:
    weights = {name: TensorSpec(name, "f32", (4, size)) for name, size in (("w", 4), ("v", 8))}
    return GraphRecord("g", nodes, (TensorSpec("x", "f32", (1,)),), (), weights, frozenset(weights))


def node(name: str, op: str, inputs: str, output: str, replaced: str = "") -> GraphNode:
    return GraphNode(name, op, "", tuple(inputs.split()), (output,),
                     replaced=tuple(replaced.split()))  # fmt: skip


def test_nodes_correspond_by_what_they_replaced_then_by_tensor_then_by_structure() -> None:
    first = graph(
        node("mm", "MatMul", "x w", "p"), node("bias", "Add", "p b", "q"),
        node("relu", "Relu", "q", "r"), node("mm2", "MatMul", "r v", "s"),
        node("soft", "Softmax", "s", "t"),
    )  # fmt: skip
    second = graph(
        node("gemm", "Gemm", "x w b", "new", replaced="mm bias"), node("act", "Relu", "new", "r"),
        node("other", "MatMul", "r v", "u"), node("last", "Softmax", "u", "end"),
        node("extra", "Neg", "end", "z"),
    )  # fmt: skip
    assert corresponding(first, second) == {
        "gemm": ("mm", "bias"), "act": ("relu",), "other": ("mm2",), "last": ("soft",),
        "extra": (),
    }  # fmt: skip
