from __future__ import annotations

import pytest

from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace import pairing
from burnish.trace.graph_units import GraphIndex, units
from burnish.trace.grouping import GroupNode, NodeGroup
from burnish.trace.pairing import pairs
from burnish.trace.torch_calls import OperatorCall

RELU = NodeGroup("relu", (GroupNode(frozenset({"relu"})),), torch=frozenset({"aten::relu"}))
ADD = NodeGroup(
    "add", (GroupNode(frozenset({"add"})),), torch=frozenset({"aten::add", "aten::add_"})
)


def graph(*scopes: str, op: str = "Relu") -> GraphIndex:
    nodes = tuple(
        GraphNode(f"{op}_{at}", op, "", (), (f"t{at}",), scope=tuple(filter(None, [scope])))
        for at, scope in enumerate(scopes)
    )
    return GraphIndex(GraphRecord("g", nodes, (), (), {}, frozenset()))


def call(operator: str, *modules: str) -> OperatorCall:
    return OperatorCall(0, operator, modules, ())


def paired(calls: list[OperatorCall], index: GraphIndex) -> list[tuple[int, int]]:
    return [(p.call, p.unit) for p in pairs(calls, units(index, [RELU, ADD]), index)]


def test_calls_and_units_of_one_kind_are_paired_in_order() -> None:
    calls = [call("aten::relu")] * 3
    assert paired(calls, graph("", "", "")) == [(0, 0), (1, 1), (2, 2)]


def test_kinds_do_not_disturb_each_other() -> None:
    calls = [call("aten::add_"), call("aten::relu"), call("aten::add")]
    assert paired(calls, graph("", "")) == [(1, 0)]


@pytest.mark.parametrize(
    ("module", "expected"), [("b", [(0, 1)]), ("c", [(0, 2)]), ("net.b", [(0, 1)])]
)
def test_of_too_many_units_the_one_in_the_calls_module_is_taken(
    module: str, expected: list[tuple[int, int]]
) -> None:
    assert paired([call("aten::relu", module)], graph("a", "b", "c")) == expected


def test_of_too_many_calls_some_stay_alone() -> None:
    calls = [call("aten::relu", "x"), call("aten::relu", "b"), call("aten::relu", "y")]
    assert paired(calls, graph("b")) == [(1, 0)]


def test_a_large_family_is_aligned_near_the_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "_CELLS", 100)
    calls = [call("aten::relu")] * 40
    assert paired(calls, graph(*[""] * 40)) == [(at, at) for at in range(40)]
