"""Rows become spans that know what is around them, what launched them and which inference."""

from __future__ import annotations

import pytest

from burnish.trace.span_table import SpanRow, SpanTable, Timeline


def timeline(*rows: SpanRow) -> Timeline:
    table = SpanTable()
    for row in rows:
        table.add(row)
    return table.timeline()


def test_work_has_the_operator_and_node_that_were_going_on_where_it_was_launched() -> None:
    *_, kernel, whole = timeline(
        SpanRow("k", "kernel", 50, 10, "gpu", device=0, stream=7, key=3),
        SpanRow("outer", "range", 0, 40, "t", node="the_outer", op_type="If"),
        SpanRow("inner", "range", 5, 30, "t", node="the_add", op_type="Add"),
        SpanRow("launch", "launch", 10, 2, "t", key=3),
    ).spans
    assert (kernel.node, kernel.op_type, kernel.cause, kernel.run) == ("the_add", "Add", 2, 0)
    assert whole.duration_s == pytest.approx(10e-9)


def test_a_call_that_launched_nothing_but_a_wait_is_another() -> None:
    spans = timeline(
        SpanRow("cudaStreamWaitEvent", "launch", 0, 2, "t", key=3),
        SpanRow("Stream Wait Event", "sync", 1, 0, "gpu", device=0, stream=7, key=3),
    ).spans
    assert [(span.category, span.cause) for span in spans] == [("other", None), ("sync", 0)]


def test_times_begin_at_the_first_span_and_equal_texts_are_kept_once() -> None:
    spans = timeline(
        SpanRow("a" * 9, "node", 1_000_000_007, 5, "t"),
        SpanRow("a" * 9, "node", 1_000_000_002, 3, "t"),
    ).spans
    assert [span.start_s for span in spans] == pytest.approx([0, 5e-9, 0])
    assert spans[0].name is spans[1].name
