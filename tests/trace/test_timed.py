from __future__ import annotations

import pytest

from burnish.trace.timed import timed
from timelines import US, run, span, trace


def test_without_kernels_nodes_count_each_without_what_is_inside_it() -> None:
    found = timed(trace(run(0, 50), span("if", 0, 30), span("body", 5, 10)))
    assert found.clock == "host"
    assert [(s.name, pytest.approx(own)) for s, own in found.own] == [
        ("if", 20 * US),
        ("body", 10 * US),
    ]


def test_with_kernels_they_count_and_nodes_of_the_cpu() -> None:
    kernel = span("k", 20, 5, category="kernel", node="a", track="gpu")
    cpu = span("b", 30, 5, provider="CPUExecutionProvider")
    found = timed(trace(run(0, 50), span("a", 0, 10), kernel, cpu))
    assert found.clock == "device"
    assert [s.name for s, _ in found.own] == ["k", "b"]


def test_what_is_outside_of_inferences_does_not_count() -> None:
    assert timed(trace(run(0, 10), span("a", 20, 5))).own == ()
