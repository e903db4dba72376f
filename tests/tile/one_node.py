"""Models of one node: lowered and judged, and compared with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
from onnx import helper, numpy_helper

from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate

Attribute = Any
"""What `onnx.helper.make_node` takes."""


def one_node(
    op_type: str,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    *,
    outputs: Sequence[str] = ("out",),
    opset: int = 21,
    order: Sequence[str] | None = None,
    results: Sequence[str] = (),
    **attributes: Attribute,
) -> onnx.ModelProto:
    """Return a model of one node; inputs come first, constants after them, or as `order` says.

    `results` are the element types of the outputs, by default that of the first input.
    """
    domain, _, name = op_type.rpartition(".")
    names = list(order) if order is not None else [*inputs, *(constants or {})]
    node = helper.make_node(name, names, list(outputs), name="node", domain=domain, **attributes)
    values = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in inputs.items()
    ]
    held = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    kept = [name for name in outputs if name]
    kinds = results or [next(iter({**inputs, **(constants or {})}.values())).dtype] * len(kept)
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), None)
        for name, kind in zip(kept, kinds, strict=True)
    ]
    graph = helper.make_graph([node], "one", values, given, initializer=held)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(domain or "com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def lowered(model: onnx.ModelProto) -> TileGraph:
    """Return the nests of all nodes of a model with static shapes."""
    return lower(list(static(ir.serde.deserialize_model(model), {}).graph)).graph


def judged(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return what the nests of the model compute."""
    graph = lowered(model)
    return evaluate(graph, {name: inputs[name] for name in graph.inputs})


def by_runtime(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return what ONNX Runtime computes with its optimisations off."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    fed = {name: np.asarray(array) for name, array in inputs.items()}
    return dict(zip(names, session.run(names, fed), strict=True))


def assert_as_runtime(
    model: onnx.ModelProto, inputs: Mapping[str, Array], rtol: float = 1e-5, atol: float = 1e-6
) -> None:
    """Compare the nests of a model with ONNX Runtime."""
    found, expected = judged(model, inputs), by_runtime(model, inputs)
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        np.testing.assert_allclose(found[name], array, rtol=rtol, atol=atol)


def numbers(shape: Sequence[int], dtype: str = "float32", seed: int = 0) -> Array:
    """Return seeded numbers: around zero, and whole where the type is."""
    drawn = np.random.default_rng(seed).standard_normal(shape) * (
        1 if np.dtype(dtype).kind == "f" else 5
    )
    return np.asarray(drawn).astype(dtype)
