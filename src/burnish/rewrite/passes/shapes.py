"""Write what is inferred into the model."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.constants import Constants
from burnish.infer.onnx_inference import ask_onnx
from burnish.infer.shapes import infer, write
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted


@dataclass(frozen=True)
class InferShapes(InPlacePass):
    """Fill in types and shapes where they say more; stated ones of outputs are kept.

    Weights are not read, so that a model of any size is inferred in the memory that its graph
    takes.
    """

    constants: Constants | None = None

    def call(self, model: ir.Model) -> Counted:
        """Infer once over the whole model."""
        shapes = infer(self.constants or Constants(model), ask_onnx)
        kept = set(model.graph.outputs)
        values = (value for node in walk.nodes(model) for value in node.outputs)
        return counted(
            model, sum(write(shapes, value) for value in values if value.name and value not in kept)
        )
