"""Write the graph that ONNX Runtime makes of a model and really executes."""

from __future__ import annotations

from pathlib import Path

from burnish.engines.base import EngineOptions
from burnish.engines.onnxruntime_errors import explained
from burnish.engines.onnxruntime_session import quiet_settings
from burnish.store.stored import StoredModel

_INLINE_BYTES = 1 << 30
"""From this size on, weights go to a file beside the model: a protobuf holds two gibibytes."""


def save(model: StoredModel, options: EngineOptions, target: Path) -> None:
    """Write to `target` what ONNX Runtime runs on the CPU for `model`, node for node.

    The file is for this machine and this version: layouts and fused operators are those of
    both. Opened with the graph level `off`, it runs as it is.
    """
    import onnxruntime

    settings = quiet_settings(options.graph_level)
    settings.optimized_model_filepath = str(target)
    weights = sum(file.stat().st_size for file in model.onnx.parent.glob(f"{model.onnx.stem}*"))
    if weights > _INLINE_BYTES:
        settings.add_session_config_entry(
            "session.optimized_model_external_initializers_file_name", f"{target.name}.data"
        )
    with explained(model):
        onnxruntime.InferenceSession(str(model.onnx), settings, providers=["CPUExecutionProvider"])
