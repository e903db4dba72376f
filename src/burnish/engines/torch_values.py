"""Arrays as PyTorch tensors and back, also of types that NumPy lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array

Tensor = Any
"""`torch.Tensor`: torch is imported only where it is used."""

TORCH_NAMES: Mapping[str, str] = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
    "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz", "i64": "int64", "i32": "int32", "i16": "int16",
    "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
    "bool": "bool", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
"""What PyTorch calls an element type, by our short name."""

_SHORT_NAMES = {name: short for short, name in TORCH_NAMES.items()}


def torch_type(short: str) -> Any:  # noqa: ANN401  (a torch.dtype)
    """Return the `torch.dtype` of a short name."""
    import torch

    return getattr(torch, TORCH_NAMES[short])


def short_name(tensor: Tensor) -> str:
    """Return our name of a tensor's element type."""
    return _SHORT_NAMES[str(tensor.dtype).removeprefix("torch.")]


def tensor_of(array: Array, dtype: str, device: str) -> Tensor:
    """Return a copy of an array in the memory of `device`."""
    import torch

    dense = np.array(array, order="C", copy=True).reshape(array.shape)
    if array_type(dtype).isbuiltin == 1:
        return torch.from_numpy(dense).to(device)
    bits = torch.from_numpy(dense.view(f"u{dense.itemsize}"))
    return bits.view(torch_type(dtype)).to(device)


def array_of(tensor: Tensor) -> Array:
    """Return a copy of a tensor in host memory."""
    import torch

    dtype = array_type(short_name(tensor))
    dense = tensor.detach().cpu().contiguous()
    if dtype.isbuiltin == 1:
        return np.array(dense.numpy())
    bits = getattr(torch, f"uint{8 * dtype.itemsize}")
    return np.array(dense.view(bits).numpy()).view(dtype)
