"""Small models for tests of rewriting, and the judge that runs them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import RewriteResult, optimize

SQRT2 = math.sqrt(2)

Operand = ir.Value | npt.ArrayLike | None


class Graph:
    """Builds a model line by line: `g.op("Mul", x, 0.5)`; numbers become f32 constants."""

    def __init__(self, *, opset: int = 17, dtype: ir.DataType = ir.DataType.FLOAT) -> None:
        self.opset = opset
        self.dtype = dtype
        self.inputs: list[ir.Value] = []
        self.nodes: list[ir.Node] = []
        self.initializers: list[ir.Value] = []

    def input(
        self, name: str, shape: Sequence[int | str] | None, dtype: ir.DataType | None = None
    ) -> ir.Value:
        value = ir.Value(
            name=name,
            type=ir.TensorType(dtype or self.dtype),
            shape=None if shape is None else ir.Shape(shape),
        )
        self.inputs.append(value)
        return value

    def constant(self, array: npt.ArrayLike, name: str | None = None) -> ir.Value:
        name = name or f"c{len(self.initializers)}"
        content = np.asarray(array)
        if content.dtype == np.float64:
            content = content.astype(self.dtype.numpy())
        tensor = ir.Tensor(content, name=name)
        value = ir.Value(
            name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(content.shape),
            const_value=tensor,
        )  # fmt: skip
        self.initializers.append(value)
        return value

    def op(
        self, op_type: str, *inputs: Operand, domain: str = "", **attributes: object
    ) -> ir.Value:
        return self.ops(op_type, *inputs, domain=domain, outputs=1, **attributes)[0]

    def ops(
        self, op_type: str, *inputs: Operand, outputs: int, domain: str = "", **attributes: object
    ) -> Sequence[ir.Value]:
        values = [
            value if value is None or isinstance(value, ir.Value) else self.constant(value)
            for value in inputs
        ]
        number = len(self.nodes)
        node = ir.node(
            op_type, values, attributes=attributes, domain=domain, num_outputs=outputs,
            name=f"{op_type.lower()}_{number}",
        )  # fmt: skip
        for index, output in enumerate(node.outputs):
            output.name = f"v{number}_{index}"
        self.nodes.append(node)
        return node.outputs

    def model(self, *outputs: ir.Value, functions: Sequence[ir.Function] = ()) -> ir.Model:
        named = []
        for index, output in enumerate(outputs):
            if output.producer() is not None:
                output.name = f"out{index}"
            output.type = output.type or ir.TensorType(self.dtype)
            named.append(output)
        graph = ir.Graph(
            self.inputs, named, nodes=self.nodes, initializers=self.initializers,
            opset_imports={"": self.opset, "com.microsoft": 1}, name="test",
        )  # fmt: skip
        return ir.Model(graph, ir_version=10, functions=functions)


def run(model: ir.Model, feeds: Mapping[str, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Return the outputs in ONNX Runtime, with its own optimisations off."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    proto = ir.serde.serialize_model(model)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    outputs: list[npt.NDArray[Any]] = session.run(None, dict(feeds))
    return outputs


def checked(
    model: ir.Model,
    feeds: Mapping[str, npt.NDArray[Any]],
    *,
    tolerance: float = 2e-5,
    **options: object,
) -> RewriteResult:
    """Optimise; assert that the argument is untouched, the numbers equal, and a rerun idle."""
    before = ir.serde.serialize_model(model).SerializeToString()
    result = optimize(model, OptimizeOptions(**options))
    assert ir.serde.serialize_model(model).SerializeToString() == before
    assert_same_numbers(model, result.model, feeds, tolerance=tolerance)
    again = optimize(result.model, OptimizeOptions(**options))
    assert again.report.fusions == ()
    idle = ("lift-constants", "fold-constants", "simplify", "share-constants",
            "share-expressions", "drop-dead-code", "sort-nodes", "fix-names")  # fmt: skip
    assert [step for step in again.report.steps if step.count and step.step in idle] == []
    return result


def assert_same_numbers(
    reference: ir.Model,
    candidate: ir.Model,
    feeds: Mapping[str, npt.NDArray[Any]],
    *,
    tolerance: float,
) -> None:
    for expected, found in zip(run(reference, feeds), run(candidate, feeds), strict=True):
        assert expected.dtype == found.dtype
        assert expected.shape == found.shape
        np.testing.assert_allclose(
            found.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance
        )


def op_types(model: ir.Model) -> list[str]:
    """Return the operators of the main graph, in order."""
    return [node.op_type for node in model.graph]


def samples(*shape: int, seed: int = 0, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """Return normal numbers."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)
