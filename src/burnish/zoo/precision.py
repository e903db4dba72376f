"""A built model at another precision: its weights and its floating-point inputs."""

from __future__ import annotations

import dataclasses
from typing import Any

from burnish.zoo.entry import BuiltModel, Precision, Tensors


def in_precision(built: BuiltModel, precision: Precision) -> BuiltModel:
    """Return `built` with weights and floating-point inputs of this precision."""
    import torch

    dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[precision]
    return dataclasses.replace(
        built,
        module=built.module.to(dtype),
        inputs=_cast(built.inputs, dtype),
        second_inputs=_cast(built.second_inputs, dtype),
    )


def _cast(tensors: Tensors, dtype: Any) -> Tensors:  # noqa: ANN401  (a torch.dtype)
    return {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor
        for name, tensor in tensors.items()
    }
