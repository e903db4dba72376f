"""A built model at another precision: its weights and its floating-point inputs."""

from __future__ import annotations

import dataclasses
from typing import Any

from burnish.zoo.entry import BuiltModel, Precision, Tensors


def in_precision(built: BuiltModel, precision: Precision) -> BuiltModel:
    """Return `built` with weights and floating-point inputs of this precision."""
    return dataclasses.replace(
        built,
        module=built.module.to(_dtype(precision)),
        inputs=cast(built.inputs, precision),
        second_inputs=cast(built.second_inputs, precision),
    )


def cast(tensors: Tensors, precision: Precision) -> Tensors:
    """Return `tensors` with the floating-point ones in this precision."""
    dtype = _dtype(precision)
    return {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor
        for name, tensor in tensors.items()
    }


def _dtype(precision: Precision) -> Any:  # noqa: ANN401  (a torch.dtype)
    import torch

    return {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[precision]
