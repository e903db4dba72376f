"""What must stay, and why: no cut where somebody counts on a size."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.prune.axes import coupled_axes
from burnish.prune.blocks import residual_blocks, without_block
from prune_samples import HIDDEN, NEURONS, SAMPLES, Weights, feeds, followed
from rewriting import Graph, run


def _between(*steps: str, **attributes: object) -> ir.Model:
    """Return a perceptron with some operator between its products."""
    g, w = Graph(), Weights()
    x = g.input("x", ["batch", HIDDEN])
    inner = g.op("MatMul", x, w(HIDDEN, NEURONS))
    for step in steps:
        inner = g.op(step, inner, **attributes)
    y = g.op("MatMul", inner, w(NEURONS, HIDDEN))
    y.shape = ir.Shape(["batch", HIDDEN])
    return g.model(y)


@pytest.mark.parametrize(
    ("step", "reason"),
    [("Softmax", "normalises over it"), ("CumSum", "is not followed"), ("LRN", "is not followed")],
)
def test_what_an_operator_needs_whole_must_stay(step: str, reason: str) -> None:
    model = _between("Relu")
    node = next(node for node in model.graph if node.op_type == "Relu")
    extra = [model.graph.initializers["c0"]] if step == "CumSum" else []
    new = ir.node(step, [node.inputs[0], *extra], name="between")
    model.graph.insert_before(node, new)
    new.outputs[0].name = "between"
    new.outputs[0].shape, new.outputs[0].type = ir.Shape(["batch", NEURONS]), node.inputs[0].type
    node.replace_input_with(0, new.outputs[0])
    found = coupled_axes(followed(model))
    assert not found.axes
    assert any(reason in why for why in found.refused.values())


def test_an_output_of_the_model_keeps_its_size() -> None:
    model = _between("Relu")
    inner = next(node for node in model.graph if node.op_type == "Relu").outputs[0]
    inner.type = ir.TensorType(ir.DataType.FLOAT)
    model.graph.outputs.append(inner)
    found = coupled_axes(followed(model))
    assert not found.axes
    assert "is an output of the model" in found.refused.values()


def test_unequal_pieces_cannot_be_cut() -> None:
    g, w = Graph(), Weights()
    x = g.input("x", ["batch", HIDDEN])
    parts = [g.op("Relu", g.op("MatMul", x, w(HIDDEN, size))) for size in (8, 16)]
    y = g.op("MatMul", g.op("Concat", *parts, axis=1), w(24, HIDDEN))
    y.shape = ir.Shape(["batch", HIDDEN])
    found = coupled_axes(followed(g.model(y)))
    assert not found.axes
    assert "is made of unequal pieces" in found.refused.values()


def test_blocks_are_what_is_added_to_what_it_came_from() -> None:
    model = SAMPLES["separate products"].make()
    flow = followed(model)
    blocks = residual_blocks(flow)
    assert len(blocks) == 2
    inputs = feeds(model)
    for block in blocks:
        changed = run(without_block(model, block), inputs)[0]
        assert not np.allclose(changed, run(model, inputs)[0])


def test_without_its_only_block_a_residual_model_is_the_identity() -> None:
    g, w = Graph(), Weights()
    x = g.input("x", ["batch", HIDDEN])
    branch = g.op("MatMul", g.op("Relu", g.op("MatMul", x, w(HIDDEN, NEURONS))), w(NEURONS, HIDDEN))
    y = g.op("Add", x, branch)
    y.shape = ir.Shape(["batch", HIDDEN])
    model = g.model(y)
    (block,) = residual_blocks(followed(model))
    inputs = feeds(model)
    np.testing.assert_array_equal(run(without_block(model, block), inputs)[0], inputs["x"])
    assert {node.op_type for node in block.nodes} == {"MatMul", "Relu"}
