from __future__ import annotations

import pytest

from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.attribute import GraphNames
from timelines import span

NODES = (
    GraphNode("/fc/MatMul", "MatMul", "", ("x", "w"), ("p",)),
    GraphNode("/fc/Add", "Add", "", ("p", "b"), ("q",)),
)
NAMES = GraphNames(GraphRecord("g", NODES, (), (), {}, frozenset()))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/fc/Add", (("/fc/Add",), "exact")),
        ("/fc/MatMul + /fc/Add", (("/fc/MatMul", "/fc/Add"), "exact")),
        ("/fc/MatMul/MatMulAddFusion", (("/fc/MatMul", "/fc/Add"), "pattern")),
        ("/fc/Add_new_reshape", (("/fc/Add",), "pattern")),
        ("InsertedPrecisionFreeCast_q", (("/fc/Add",), "pattern")),
        ("q_nchwc", (("/fc/Add",), "pattern")),
        ("InsertedCast_w", (("/fc/MatMul",), "pattern")),
        ("elsewhere", None),
    ],
)
def test_a_name_stands_for_nodes(name: str, expected: object) -> None:
    assert NAMES.owner(name, span(name, 0, 1), {}) == expected


def test_what_the_engine_tells_goes_before_what_a_name_suggests() -> None:
    told = {"/fc/Add": ("/fc/MatMul", "/fc/Add"), "other": ("/fc/Add", "gone")}
    both = (("/fc/MatMul", "/fc/Add"), "tensor")
    assert NAMES.owner("/fc/Add", span("/fc/Add", 0, 1), told) == both
    assert NAMES.owner("other", span("other", 0, 1), told) == (("/fc/Add",), "tensor")


def test_a_node_that_an_engine_made_is_not_taken_for_the_models_of_that_name() -> None:
    assert NAMES.owner("/fc/Add", span("/fc/Add", 0, 1), {"other": ("/fc/MatMul",)}) is None


def test_the_tensors_that_a_layer_writes_tell_its_nodes() -> None:
    layer = span("blob", 0, 1, attributes={"outputs": ("q", "unknown")})
    assert NAMES.owner("blob", layer, {}) == (("/fc/Add",), "tensor")
