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


def other_numbers(built: BuiltModel, precision: Precision) -> tuple[str, ...]:
    """Return what to say of weights whose numbers are not those that are asked for."""
    wanted = _dtype(precision)
    kinds = {each.dtype for each in built.module.parameters() if each.is_floating_point()}
    names = sorted(str(kind).removeprefix("torch.") for kind in kinds - {wanted})
    if not names:
        return ()
    kept = {"float16": "fp16", "bfloat16": "bf16"}.get(names[0])
    way = f"; `burnish export -p {kept}` keeps them" if kept is not None else ""
    return (f"weights in {' and '.join(names)} were exported in {precision}{way}",)


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
