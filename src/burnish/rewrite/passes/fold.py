"""Compute now what does not depend on the inputs."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.rewrite import edit
from burnish.rewrite.evaluate import FOLDABLE, evaluate
from burnish.rewrite.facts import Facts, constant_tensor
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted


@dataclass(frozen=True)
class FoldConstants(InPlacePass):
    """Replace operators whose inputs are constants by their results.

    rewrite:
        a = Sqrt(2.0); y = Div(x, a)
        -->
        y = Div(x, 1.4142135)

    Weights above `input_bytes` are not read. A result above `growth_bytes` must not be larger
    than its inputs: an Expand of one number is cheaper to run than to store.
    """

    facts: Facts
    input_bytes: int = 1 << 20
    growth_bytes: int = 1 << 16

    def call(self, model: ir.Model) -> Counted:
        """Sweep each graph once, in the order in which it runs."""
        count = 0
        for graph in edit.graphs(model):
            doomed = [node for node in graph if self._fold(node)]
            edit.remove(doomed)
            count += len(doomed)
        return counted(model, count)

    def _fold(self, node: ir.Node) -> bool:
        if node.op_type not in FOLDABLE or node.domain not in edit.STANDARD_DOMAINS:
            return False
        if not node.inputs or any(output.is_graph_output() for output in node.outputs):
            return False
        inputs = self._constants(node)
        if inputs is None:
            return False
        results = evaluate(node, inputs, opset=self.facts.opset, limit_bytes=self.input_bytes)
        if results is None or self._grows(inputs, results):
            return False
        for output, result in zip(node.outputs, results, strict=True):
            if output.name:
                edit.replace_by_constant(output, result.copy())
        return True

    def _constants(self, node: ir.Node) -> list[Array | None] | None:
        """Return all inputs, if they are constants small enough to be read."""
        found: list[Array | None] = []
        for value in node.inputs:
            if value is not None and constant_tensor(value) is None:
                return None
            array = self.facts.array(value)
            if value is not None and array is None:
                return None
            found.append(array)
        return found

    def _grows(self, inputs: list[Array | None], results: tuple[Array, ...]) -> bool:
        before = sum(array.nbytes for array in inputs if array is not None)
        return sum(array.nbytes for array in results) > max(self.growth_bytes, before)
