"""Turn some nodes of a model into 8-bit integer arithmetic, with ONNX Runtime's own tool."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path

import onnx

from burnish.core.errors import ModelError

_INTEGER = ("MatMulInteger", "ConvInteger")


def quantize_nodes(source: Path, target: Path, nodes: Sequence[str]) -> None:
    """Write `source` to `target` with the weights of `nodes` as int8.

    Activations are quantised as they come, so that no data is needed beforehand.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # the tool first turns a Gemm into a MatMul and an Add, under other names
    names = [name for node in nodes for name in (node, f"{node}_MatMul")]
    root = logging.getLogger()
    level = root.level
    # the tool advises on pre-processing through the root logger, at every call
    root.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quantize_dynamic(
                source,
                target,
                nodes_to_quantize=names,
                weight_type=QuantType.QInt8,
                # what ONNX Runtime's own operators give has no type that ONNX could infer
                extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
            )
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"{source.name}: cannot be quantised ({error})",
            hint="select other nodes, or start from --graph-level basic",
        ) from error
    finally:
        root.setLevel(level)
    made = sum(node.op_type in _INTEGER for node in onnx.load(target).graph.node)
    made -= sum(node.op_type in _INTEGER for node in onnx.load(source).graph.node)
    if made < len(set(nodes)):
        raise ModelError(
            f"{made} of {len(set(nodes))} nodes could be turned into 8-bit integers",
            hint="select products and convolutions with constant weights",
        )
