"""Nodes on another provider than asked for are an error, shape computations excepted."""

from __future__ import annotations

import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.engines.base import EngineOptions
from burnish.engines.onnxruntime_placement import (
    AssignedNode,
    assigned,
    count_by_provider,
    fallbacks,
    placement_notes,
)
from burnish.engines.shape_nodes import ShapeNode

CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
SHAPES = (ShapeNode("size", "Shape"), ShapeNode("first", "Gather"))
NODES = (
    AssignedNode(CUDA, "product", "MatMul"),
    AssignedNode(CPU, "size", "Shape"),
    AssignedNode(CPU, "renamed", "Gather"),
)
FALLEN = AssignedNode(CPU, "odd", "NonZero")


def test_shape_computations_are_found_by_name_or_stand_for_one_that_was_renamed() -> None:
    assert fallbacks(NODES, CUDA, SHAPES) == ()


def test_each_renamed_node_stands_for_one_shape_computation_only() -> None:
    second = AssignedNode(CPU, "another", "Gather")
    assert fallbacks((*NODES, second), CUDA, SHAPES) == (second,)


def test_without_shape_computations_every_node_elsewhere_is_a_fallback() -> None:
    assert fallbacks(NODES, CUDA, ()) == NODES[1:]


def test_intended_placement_is_a_note() -> None:
    notes = placement_notes(NODES, CUDA, SHAPES, EngineOptions())
    assert notes == ("2 shape computations on the CPU, as intended",)


def test_a_fallback_names_the_nodes() -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        placement_notes((*NODES, FALLEN), CUDA, SHAPES, EngineOptions())
    assert caught.value.problem == (
        "1 node of 4 asked for on CUDAExecutionProvider went to CPUExecutionProvider: NonZero 'odd'"
    )
    assert caught.value.hint == "accept it with --allow-fallback"


def test_an_allowed_fallback_is_a_note() -> None:
    notes = placement_notes((FALLEN,) * 5, CUDA, (), EngineOptions(allow_fallback=True))
    assert notes == (
        (
            "5 nodes of 5 asked for on CUDAExecutionProvider went to CPUExecutionProvider: "
            "NonZero 'odd', NonZero 'odd', NonZero 'odd' …"
        ),
    )


def test_a_runtime_that_does_not_tell_is_not_trusted() -> None:
    assert assigned(object()) is None
    with pytest.raises(MissingCapabilityError, match="does not tell which provider"):
        placement_notes(None, CUDA, (), EngineOptions())


def test_nodes_are_counted_by_provider() -> None:
    assert count_by_provider(NODES) == {CPU: 2, CUDA: 1}
