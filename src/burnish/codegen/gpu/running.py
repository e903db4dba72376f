"""Emitted kernels run by Triton itself, over torch tensors: for tests and measurements."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from burnish.codegen.gpu.launch import Launch
from burnish.codegen.gpu.sequence import Sequenced
from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.tensors import BITS
from burnish.cuda.cublas import Cublas, open_cublas
from burnish.cuda.triton_worker import add_one_by_one

Tensor = Any
"""A torch tensor: torch is not installed everywhere."""

Function = Any
"""What `triton.jit` makes of a function."""

TORCH_TYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip


def loaded(launch: Launch, folder: Path) -> Function:
    """Return the kernel's function; Triton wants its source in a file."""
    path = folder / f"{launch.name}.py"
    if not path.exists():
        path.write_text(launch.source)
    unique = f"burnish_kernel_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    if unique not in sys.modules:
        add_one_by_one()
        spec = importlib.util.spec_from_file_location(unique, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[unique] = module
    return getattr(sys.modules[unique], launch.name)


def start(
    launch: Launch, tensors: Mapping[str, Tensor], folder: Path, *, early: bool = True
) -> None:
    """Start a kernel over tensors by name, scratch included; `early`: as soon as it may be."""
    names = (*launch.arguments, *launch.scratch)
    for name in launch.zeroed:
        tensors[name].zero_()
    if by_library(launch):
        _multiply(launch, tensors)
        return
    kernel = loaded(launch, folder)
    options = {"num_warps": launch.warps, "num_stages": launch.stages}
    if early and launch.early:
        options["launch_pdl"] = True
    kernel[launch.grid](*(tensors[name] for name in names), **options)


def by_library(launch: Launch) -> bool:
    """Say whether the library here forms a product in a kernel's place."""
    library = _library()
    return launch.library is not None and library is not None and library.knows(launch.library)


def _multiply(launch: Launch, tensors: Mapping[str, Tensor]) -> None:
    import torch

    library = _library()
    assert library is not None
    assert launch.library is not None
    places = [tensors[name].data_ptr() for name in launch.arguments]
    library.multiply(launch.library, places, torch.cuda.current_stream().cuda_stream)


@cache
def _library() -> Cublas | None:
    """Return the library for torch's card; None: there is no card, or no library."""
    import torch

    return open_cublas() if torch.cuda.is_available() else None


def allocated(plan: Sequenced, device: str) -> dict[str, Tensor]:
    """Return every tensor of a sequence of launches on a device, constants filled in."""
    import torch

    graph = plan.graph
    tensors: dict[str, Tensor] = {}
    for launch in (launch for each in plan.launches for launch in each):
        for name in launch.arguments:
            if name in tensors:
                continue
            if name in graph.constants:
                array = np.asarray(graph.constants[name])
                order = plan.orders.get(name, tuple(range(array.ndim)))
                tensors[name] = as_tensor(array.transpose(order)).to(device)
            else:
                kind = graph.tensors[name]
                tensors[name] = torch.empty(
                    kind.shape, dtype=getattr(torch, TORCH_TYPES[kind.dtype]), device=device
                )
        for name, tensor in scratch_of(launch, device).items():
            tensors.setdefault(name, tensor)
    return tensors


def scratch_of(launch: Launch, device: str) -> dict[str, Tensor]:
    """Return a launch's short-lived buffers; Triton takes the type of a pointer from its tensor."""
    import torch

    types = launch.dtypes[len(launch.arguments) :]
    return {
        name: torch.empty(
            size * 8 // BITS[dtype], dtype=getattr(torch, TORCH_TYPES[dtype]), device=device
        )
        for (name, size), dtype in zip(launch.scratch.items(), types, strict=True)
    }


def as_tensor(array: Array) -> Tensor:
    """Return a copy of an array as a torch tensor."""
    import torch

    flat = np.ascontiguousarray(array).reshape(array.shape)
    if flat.dtype.name == "bfloat16":
        return torch.from_numpy(flat.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(flat.copy())


def as_array(tensor: Tensor) -> Array:
    """Return a torch tensor on the CPU as an array."""
    import torch

    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.view(torch.int16).numpy()).view(array_type("bf16"))
    return np.asarray(tensor.numpy())
