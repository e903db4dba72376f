"""State the shapes that ONNX's inference leaves open, though sizes say what they are."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.new_values import stated
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted
from burnish.rewrite.symbolic.shapes import Shapes


@dataclass(frozen=True)
class StateShapes(InPlacePass):
    """Give values whose rank is not known the shape that sizes give them.

    ONNX's inference gives up at a Reshape to a shape that is computed in i32, as TensorFlow does;
    all that follows has no rank then.
    """

    facts: Facts

    def call(self, model: ir.Model) -> Counted:
        """Follow sizes once, and only if a rank is missing."""
        missing = [
            output
            for node in edit.nodes(model)
            for output in node.outputs
            if output.shape is None and not output.is_graph_output()
        ]
        if not missing:
            return counted(model, 0)
        shapes, count = Shapes(self.facts), 0
        for value in missing:
            shape = shapes.of(value)
            if shape is not None:
                value.shape = stated(shape)
                count += 1
        return counted(model, count)
