from __future__ import annotations

from pathlib import Path

import pytest

from burnish.analyze.critical_path import critical_path
from burnish.analyze.dependencies import as_executed
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.parallel import if_parallel, overlapped
from burnish.analyze.simulate import simulate
from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.trace.attribute import attribute
from burnish.trace.formats import read_any
from event_graphs import US, event, node, record

DIAMOND = record(
    node("a", "Relu", "x", "ya"),
    node("b", "Relu", "ya", "yb"),
    node("c", "Relu", "ya", "yc"),
    node("d", "Add", "yb yc", "y"),
)


def serial(*lengths: float, names: str = "abcd", gap: float = 0.0) -> EventGraph:
    return EventGraph(
        tuple(
            event(name, length, *((i - 1,) if i else ()), gap=gap)
            for i, (name, length) in enumerate(zip(names, lengths, strict=True))
        )
    )


def test_branches_run_side_by_side_and_nothing_waits_for_gaps() -> None:
    graph = if_parallel(serial(10, 20, 30, 5, gap=7), DIAMOND)
    assert [one.after for one in graph.events] == [(), (0,), (0,), (1, 2)]
    assert simulate(graph).wall_s == pytest.approx(45 * US)


def test_nodes_without_events_pass_on_what_they_wait_for() -> None:
    graph = EventGraph((event("a", 1), event("d", 2, 0)))
    assert if_parallel(graph, DIAMOND).events[1].after == (0,)


def test_an_event_of_several_nodes_waits_for_what_any_of_them_reads() -> None:
    graph = EventGraph((event("a", 1), event("bcd", 2, 0, nodes=("b", "c", "d"))))
    assert if_parallel(graph, DIAMOND).events[1].after == (0,)


def test_what_belongs_to_no_node_is_waited_for_by_all() -> None:
    graph = EventGraph(
        (event("a", 1), event("b", 1, 0), event("?", 9, 1, nodes=()), event("c", 1, 2))
    )
    assert [one.after for one in if_parallel(graph, DIAMOND).events] == [(), (0,), (0, 1), (0, 2)]


def test_copies_of_operands_wait_for_their_operand_alone() -> None:
    graph = record(
        node("q", "MatMul", "x w", "yq"),
        node("k", "MatMul", "x v", "yk"),
        node("qt", "Transpose", "yq", "tq"),
        node("kt", "Transpose", "yk", "tk"),
        node("s", "MatMul", "tq tk", "y"),
    )
    events = EventGraph(
        (
            event("q", 7),
            event("k", 6, 0),
            event("copy q", 4, 1, nodes=("s",), op_type="aten::copy_"),
            event("copy k", 4, 2, nodes=("s",), op_type="aten::copy_"),
            event("s", 3, 3),
        )
    )
    assert simulate(if_parallel(events, graph)).wall_s == pytest.approx(14 * US)


def test_overlapped_work_still_waits_for_its_launch() -> None:
    graph = EventGraph(
        (
            event("l", 5, kind="launch", nodes=()),
            event("l", 5, 0, kind="launch", nodes=()),
            event("b", 50, 0, kind="kernel", launch=0),
            event("c", 50, 1, 2, kind="kernel", launch=1),
            event("end", 0, 3, kind="end", nodes=()),
        )
    )
    assert simulate(graph).wall_s == pytest.approx(105 * US)
    assert simulate(overlapped(graph, DIAMOND)).wall_s == pytest.approx(60 * US)


def test_the_published_layer_has_a_parallel_path_of_79_microseconds(shared: Path) -> None:
    folder = shared / "data" / "traces"
    graph = graph_of(onnx_files.read(folder / "bert-mini_layer.onnx"), {})
    events = as_executed(attribute(read_any(folder / "trace_dense_layer.json"), graph))
    assert simulate(events).wall_s == pytest.approx(3218 * US)
    assert simulate(events).busy_s == pytest.approx(98 * US)
    assert critical_path(if_parallel(events, graph)).length_s == pytest.approx(79 * US)
