"""Numbers are those of Amdahl4ML: the graph's list, constants left out, groups as one."""

from __future__ import annotations

from pathlib import Path

from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.trace.numbering import numbered
from event_graphs import node, record

GRAPH = record(
    node("bias", "Add", "x w", "a"),
    node("size", "Constant", "", "s"),
    node("product", "MatMul", "x v", "p"),
    node("split", "Reshape", "a s", "r"),
    node("turn", "Transpose", "r", "t"),
    node("scale", "Div", "p t", "d"),
)


def test_a_group_has_the_number_of_its_first_node_and_constants_have_none() -> None:
    assert numbered(GRAPH) == (("bias", "split", "turn"), ("product",), ("scale",))


def test_groups_of_a_file_are_taken_instead(tmp_path: Path) -> None:
    path = tmp_path / "groups.toml"
    path.write_text('[[group]]\nname = "scaled"\nnodes = ["Div", "MatMul"]\nanywhere = true\n')
    assert numbered(GRAPH, [path])[0:3] == (("bias",), ("product", "scale"), ("split",))


def test_the_predecessors_own_model_has_its_nineteen_numbers(shared: Path) -> None:
    graph = graph_of(onnx_files.read(shared / "data/traces/bert-mini_layer.onnx"), {})
    groups = shared / "data/traces/operationsAndGroups.xml"
    assert len(numbered(graph)) == len(numbered(graph, [groups])) == 19
    assert numbered(graph)[7] == numbered(graph, [groups])[7] == ("/attention/self/Div",)
