"""What PyTorch computes, as the judge of what is exported."""

from __future__ import annotations

from typing import Any

from burnish.core.arrays import Array
from burnish.store.datasets import DataSet
from burnish.store.element_types import numpy_type
from burnish.zoo.entry import BuiltModel, Tensors


def recorded(built: BuiltModel, inputs: Tensors) -> DataSet:
    """Return inputs and what the module makes of them, as arrays."""
    import torch

    with torch.inference_mode():
        outputs = built.module(**inputs)
    pairs = zip(built.output_names, outputs, strict=True)
    return DataSet(
        {name: array_of(tensor) for name, tensor in inputs.items()},
        {name: array_of(tensor) for name, tensor in pairs},
    )


def array_of(tensor: Any) -> Array:  # noqa: ANN401  (a torch.Tensor)
    """Return a tensor as an array; bf16, which NumPy lacks, by way of f32, which holds it all."""
    import torch

    dense = tensor.detach().cpu().contiguous()
    if dense.dtype == torch.bfloat16:
        widened: Array = dense.float().numpy().astype(numpy_type("bf16"))
        return widened
    array: Array = dense.numpy()
    return array
