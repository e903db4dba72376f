"""Compute now what does not depend on the inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer import walk
from burnish.infer.constants import Constants, constant_tensor
from burnish.infer.evaluate import evaluate
from burnish.infer.shapes import Shapes
from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted

FEWEST_WEIGHTS = 1 << 10
"""Constants of bf16 with no more elements are made f32 without a second thought."""

_WHOLE = (ir.DataType.INT64, ir.DataType.INT32, ir.DataType.BOOL)


@dataclass(frozen=True)
class FoldConstants(InPlacePass):
    """Replace operators whose results are known: from constants, or from sizes that are.

    rewrite:
        a = Sqrt(2.0); y = Div(x, a)
        -->
        y = Div(x, 1.4142135)

        s = Shape(x); d = Gather(s, 2)      with x: float[batch, length, 768]
        -->
        d = 768

    Weights above `input_bytes` are not read. A result above `growth_bytes` must not be larger
    than its inputs: an Expand of one number is cheaper to run than to store.
    """

    facts: Facts
    input_bytes: int = 1 << 20
    growth_bytes: int = 1 << 16

    def call(self, model: ir.Model) -> Counted:
        """Sweep each graph once, in the order in which it runs."""
        count = 0
        shapes = Shapes(self.facts)
        limits = FoldLimits(self.input_bytes, self.growth_bytes)
        for graph in walk.graphs(model):
            doomed = []
            for node in graph:
                shapes.follow(node)
                if not any(output.is_graph_output() for output in node.outputs) and (
                    results := folded(node, shapes, limits)
                ):
                    for output, result in zip(node.outputs, results, strict=True):
                        if output.name:
                            edit.replace_by_constant(output, result)
                    doomed.append(node)
            edit.remove(doomed)
            count += len(doomed)
        return counted(model, count)


@dataclass(frozen=True, slots=True)
class FoldLimits:
    """How much is read, and how large a result may be that is larger than what it is made of."""

    input_bytes: int
    growth_bytes: int


def folded(node: ir.Node, shapes: Shapes, limits: FoldLimits) -> tuple[Array, ...] | None:
    """Return what a node that has been followed gives, where that is known and small enough."""
    if node.domain not in walk.STANDARD_DOMAINS or not node.inputs:
        return None
    counted_out = _counted_out(node, shapes)
    if counted_out is not None:
        return (counted_out,)
    inputs = _constants(node, shapes.constants)
    if inputs is None or _widens_weights(node):
        return None
    opset = shapes.constants.opset
    results = evaluate(node, inputs, opset=opset, limit_bytes=limits.input_bytes)
    if results is None:
        return None
    before = sum(array.nbytes for array in inputs if array is not None)
    grows = sum(array.nbytes for array in results) > max(limits.growth_bytes, before)
    return None if grows else tuple(result.copy() for result in results)


def _widens_weights(node: ir.Node) -> bool:
    """Return whether a node makes f32 of weights that somebody has stored in half of the bytes.

    Who multiplies them may read them as they are (`burnish.tile.steps.halves`).
    """
    value = node.inputs[0]
    tensor = None if value is None else constant_tensor(value)
    if node.op_type != "Cast" or tensor is None or tensor.dtype != ir.DataType.BFLOAT16:
        return False
    return node.outputs[0].dtype == ir.DataType.FLOAT and tensor.size > FEWEST_WEIGHTS


def _counted_out(node: ir.Node, shapes: Shapes) -> Array | None:
    """Return the only output of a node whose elements follow from sizes."""
    output = node.outputs[0]
    if len(node.outputs) != 1 or output.dtype not in _WHOLE:
        return None
    elements, shape = shapes.elements(output), shapes.of(output)
    whole = [element for element in elements or () if isinstance(element, int)]
    if elements is None or shape is None or len(whole) < len(elements):
        return None
    sizes = [len(whole)] * len(shape)
    if math.prod(sizes) != len(whole):  # a damaged model claims a shape that its elements have not
        return None
    return np.array(whole, output.dtype.numpy()).reshape(sizes)


def _constants(node: ir.Node, constants: Constants) -> list[Array | None] | None:
    """Return all inputs, if they are constants small enough to be read."""
    found: list[Array | None] = []
    for value in node.inputs:
        if value is not None and constant_tensor(value) is None:
            return None
        array = constants.array(value)
        if value is not None and array is None:
            return None
        found.append(array)
    return found
