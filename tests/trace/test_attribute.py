from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.trace.attribute import attribute, coverage
from burnish.trace.events import Trace
from timelines import US, run, span, trace, traces


def test_a_node_is_known_by_its_exact_name() -> None:
    whole = trace(run(0, 90), span("fc1", 1, 30, op="MatMul"), span("fc1_nchwc", 40, 10))
    found = attribute(whole, ["fc1"])
    assert [span.node for span in found.spans] == [None, "fc1", None]
    assert [span.op_type for span in found.spans] == [None, "MatMul", "Add"]
    assert coverage(found).attributed_s == pytest.approx(30 * US)
    assert coverage(found).share == pytest.approx(0.75)


def test_a_trace_without_nodes_is_wholly_attributed() -> None:
    assert coverage(trace(run(0, 9))).share == 1.0


@given(traces(), st.sets(st.sampled_from(["a", "b", "c", "d", "a0", "b1"])))
def test_attribution_preserves_the_total(whole: Trace, names: set[str]) -> None:
    before, after = coverage(whole), coverage(attribute(whole, names))
    assert after.total_s == pytest.approx(before.total_s)
    assert after.attributed_s <= before.attributed_s + 1e-12
