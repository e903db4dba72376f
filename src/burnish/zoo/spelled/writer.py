"""Write an ONNX graph one operator after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto, helper, numpy_helper

from burnish.core.arrays import Array


class ModelWriter:
    """Collects nodes and weights; names are given in the order of writing."""

    def __init__(self, *, opset: int, producer: str) -> None:
        self._opset = opset
        self._producer = producer
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, onnx.TensorProto] = {}

    def op(self, op_type: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401
        """Add an operator with one output, and return the output's name."""
        name = f"{op_type}__{len(self._nodes)}"
        output = f"{name}:0"
        self._nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        return output

    def weight(self, name: str, array: Array) -> str:
        """Add a weight, once, and return its name."""
        if name not in self._weights:
            self._weights[name] = numpy_helper.from_array(np.array(array, order="C"), name)
        return name

    def number(self, value: float) -> str:
        """Return the name of a scalar weight."""
        return self.weight(f"const_{value!r}", np.array(value, np.float32))

    def whole(self, values: Sequence[int], kind: type[np.integer[Any]] = np.int64) -> str:
        """Return the name of a weight that holds whole numbers."""
        text = "_".join(map(str, values))
        return self.weight(f"const_{kind.__name__}_{text}", np.array(list(values), kind))

    def model(self, inputs: Sequence[str], outputs: dict[str, tuple[str, list[Any]]]) -> ir.Model:
        """Return the model: `outputs` gives, by name, the value and its shape."""
        for name, (value, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [name], name=name))
        graph = helper.make_graph(
            self._nodes,
            self._producer,
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
                for name in inputs
            ],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                for name, (_, shape) in outputs.items()
            ],
            list(self._weights.values()),
        )
        made = helper.make_model(
            graph,
            producer_name=self._producer,
            ir_version=8,
            opset_imports=[helper.make_opsetid("", self._opset)],
        )
        return ir.serde.deserialize_model(made)
