from __future__ import annotations

from burnish.core.tensors import TensorSpec
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.graph_units import GraphIndex, units
from burnish.trace.grouping import GroupNode, NodeGroup


def part(op: str, **more: bool) -> GroupNode:
    return GroupNode(frozenset({op}), **more)


def node(name: str, op: str, inputs: str, output: str, scope: str = "") -> GraphNode:
    return GraphNode(name, op, "", tuple(inputs.split()), (output,), scope=tuple(scope.split()))


def index(*nodes: GraphNode) -> GraphIndex:
    tensors = {"w": TensorSpec("w", "f32", (4, 2)), "x": TensorSpec("x", "f32", (3, 4))}
    return GraphIndex(GraphRecord("g", nodes, (), (), tensors, frozenset({"w", "b"})))


LINEAR = NodeGroup(
    "linear", (part("matmul", constant=True), part("add", constant=True, optional=True))
)


def members(graph: GraphIndex, *groups: NodeGroup) -> list[tuple[int, ...]]:
    return [unit.nodes for unit in units(graph, groups)]


def test_a_group_takes_the_nodes_around_its_anchor() -> None:
    graph = index(node("m", "MatMul", "x w", "p"), node("a", "Add", "b p", "q"),
                  node("r", "Add", "q x", "y"))  # fmt: skip
    assert members(graph, LINEAR) == [(0, 1)]


def test_nodes_of_another_module_are_not_taken_unless_they_may_be_anywhere() -> None:
    graph = index(node("m", "MatMul", "x w", "p", "dense"), node("a", "Add", "b p", "q"))
    assert members(graph, LINEAR) == [(0,)]
    anywhere = NodeGroup("linear", LINEAR.parts, anywhere=True)
    assert members(graph, anywhere) == [(0, 1)]


def test_a_group_that_lacks_a_part_is_none() -> None:
    both = NodeGroup("both", (part("matmul"), part("relu")))
    assert members(index(node("m", "MatMul", "x w", "p")), both) == []


def test_what_is_computed_from_constants_is_constant() -> None:
    graph = index(node("t", "Transpose", "w", "wt"), node("m", "MatMul", "x wt", "y"))
    assert members(graph, LINEAR) == [(1,)]


def test_fillers_may_lie_between_the_parts() -> None:
    graph = index(node("a", "Add", "x x", "p"), node("c", "Cast", "p", "q"),
                  node("m", "Mul", "q q", "y"))  # fmt: skip
    bare = NodeGroup("pair", (part("add"), part("mul")))
    filled = NodeGroup("pair", bare.parts, fillers=frozenset({"cast"}))
    assert members(graph, bare) == []
    assert members(graph, filled) == [(0, 1, 2)]


def test_a_node_is_taken_once_by_the_first_group() -> None:
    graph = index(node("a", "Add", "x x", "p"), node("m", "Mul", "p p", "y"))
    pair, single = NodeGroup("pair", (part("mul"), part("add"))), NodeGroup("add", (part("add"),))
    assert members(graph, pair, single) == [(0, 1)]
    assert members(graph, single, pair) == [(0,)]


def test_shapes_of_weights_and_sizes_of_tensors_are_known() -> None:
    graph = index(node("m", "MatMul", "x w", "p"))
    assert list(graph.weights(0)) == [(4, 2)]
    assert graph.elements(0) == {8, 12}
