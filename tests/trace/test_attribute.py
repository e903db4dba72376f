from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.breakdown import by_node, by_operator
from burnish.trace.attribute import attribute
from burnish.trace.events import Trace
from timelines import US, run, span, trace, traces


def test_a_node_is_known_by_its_exact_name() -> None:
    whole = trace(run(0, 90), span("fc1", 1, 30, op="MatMul"), span("fc1_nchwc", 40, 10))
    found = attribute(whole, ["fc1"])
    assert [span.node for span in found.spans] == [None, "fc1", None]
    assert [span.op_type for span in found.spans] == [None, "MatMul", "Add"]
    assert by_node(found).unattributed_s == pytest.approx(10 * US)


@given(traces(), st.sets(st.sampled_from(["a", "b", "c", "d", "a0", "b1"])))
def test_attribution_preserves_the_total(whole: Trace, names: set[str]) -> None:
    found = attribute(whole, names)
    before, after = by_node(whole), by_node(found)
    attributed = sum(row.seconds_s for row in after.rows if row.label in names)
    assert attributed + after.unattributed_s == pytest.approx(after.total_s)
    assert after.unattributed_s >= before.unattributed_s - 1e-12
    assert by_operator(found).rows[-1] == by_operator(whole).rows[-1]
