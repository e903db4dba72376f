"""The ort competes where it can take a group's place."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnxruntime
import pytest

from burnish.codegen.tune.measured import NoCandidateError, ort_candidate
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from codegen.tune.networks import graph_of, layers, softmax
from tile_samples import whole


def test_a_part_computes_what_the_group_does() -> None:
    model = layers(2)
    graph = graph_of(model)
    group = Group(graph.ops[1:], ("y",))
    part = ort_candidate(group, graph, model)
    assert part.inputs == ("relu0",)
    assert part.outputs == ("y",)
    session = onnxruntime.InferenceSession(part.model(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(1).standard_normal((32, 16)).astype("f4")
    first = Group(graph.ops[:1], ("relu0",))
    assert ort_candidate(first, graph, model).kind == part.kind
    middle = np.maximum(
        x @ np.asarray(graph.constants["w0"]) + np.asarray(graph.constants["b0"]), 0
    )
    (found,) = session.run(["y"], {"relu0": middle})
    np.testing.assert_allclose(found, evaluate(graph, {"x": x})["y"], rtol=1e-4, atol=1e-4)


def test_groups_without_products_have_none() -> None:
    model = softmax()
    graph = graph_of(model)
    with pytest.raises(NoCandidateError, match="there is no matrix product or convolution in it"):
        ort_candidate(whole(graph), graph, model)


def test_a_group_that_begins_within_a_node_has_none() -> None:
    model = layers(1)
    graph = graph_of(model)
    (op,) = graph.ops
    other = dataclasses.replace(op, nodes=("activation0",))
    with pytest.raises(NoCandidateError, match="its nodes read 'sum0', which the group does not"):
        ort_candidate(Group((other,), ("y",)), graph, model)
    early = dataclasses.replace(op, nodes=("matmul0", "add0"))
    with pytest.raises(NoCandidateError, match="its nodes do not give 'y'"):
        ort_candidate(Group((early,), ("y",)), graph, model)


def test_parts_of_another_kind_are_told_apart() -> None:
    model = layers(1)
    graph = graph_of(model)
    node = next(iter(model.graph))
    before = ort_candidate(whole(graph), graph, model).kind
    node.domain = "com.example"
    assert ort_candidate(whole(graph), graph, model).kind != before
