"""Turn some nodes of a model into 8-bit integer arithmetic, with ONNX Runtime's own tool."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path


def quantize_nodes(source: Path, target: Path, nodes: Sequence[str]) -> None:
    """Write `source` to `target` with the weights of `nodes` as int8.

    Activations are quantised as they come, so that no data is needed beforehand.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    root = logging.getLogger()
    level = root.level
    # the tool advises on pre-processing through the root logger, at every call
    root.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quantize_dynamic(
                source, target, nodes_to_quantize=list(nodes), weight_type=QuantType.QInt8
            )
    finally:
        root.setLevel(level)
