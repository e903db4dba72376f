"""Other programs that rewrite models and are right: ONNX Runtime, onnxsim, onnxslim, onnx."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx

from torture.draft import in_order

Rewriter = Callable[[onnx.ModelProto], onnx.ModelProto]


def by_engine(level: str) -> Rewriter:
    """Return a function that gives what ONNX Runtime makes of a model at a level."""

    def rewrite(model: onnx.ModelProto) -> onnx.ModelProto:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = getattr(
            onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level.upper()}"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rewritten.onnx"
            options.optimized_model_filepath = str(path)
            onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
            return onnx.load(path)

    return rewrite


def by_onnxsim(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return what onnxsim makes of a model."""
    import onnxsim

    simplified: onnx.ModelProto = onnxsim.simplify(model)[0]
    return simplified


def by_onnxslim(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return what onnxslim makes of a model."""
    import onnxslim

    slimmed: onnx.ModelProto = onnxslim.slim(model)
    return slimmed


def by_version(opset: int) -> Rewriter:
    """Return a function that gives a model in another opset."""
    return lambda model: onnx.version_converter.convert_version(model, opset)


def shuffled(seed: int) -> Rewriter:
    """Return a function that puts nodes into another order in which they can run."""

    def rewrite(model: onnx.ModelProto) -> onnx.ModelProto:
        random = np.random.default_rng(seed)
        other = onnx.ModelProto()
        other.CopyFrom(model)
        nodes = in_order(model.graph.node, lambda ready: int(random.choice(ready)))
        del other.graph.node[:]
        other.graph.node.extend(nodes)
        return other

    return rewrite


def renamed(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose inner values have each other's names, in reverse order."""
    other = onnx.ModelProto()
    other.CopyFrom(model)
    outside = {each.name for each in (*model.graph.input, *model.graph.output)}
    inner = [n for node in other.graph.node for n in node.output if n and n not in outside]
    inner += [tensor.name for tensor in other.graph.initializer if tensor.name not in outside]
    names = dict(zip(inner, reversed(inner), strict=True))
    del other.graph.value_info[:]
    for tensor in other.graph.initializer:
        tensor.name = names.get(tensor.name, tensor.name)
    for node in other.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    return other
