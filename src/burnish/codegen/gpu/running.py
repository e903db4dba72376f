"""Emitted kernels run by Triton itself, over torch tensors: for tests and measurements."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burnish.codegen.gpu.launch import Launch

Tensor = Any
"""A torch tensor: torch is not installed everywhere."""


def loaded(launch: Launch, folder: Path) -> Any:
    """Return the kernel's function; Triton wants its source in a file."""
    path = folder / f"{launch.name}.py"
    if not path.exists():
        path.write_text(launch.source)
    unique = f"burnish_kernel_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    if unique not in sys.modules:
        spec = importlib.util.spec_from_file_location(unique, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[unique] = module
    return getattr(sys.modules[unique], launch.name)


def start(launch: Launch, tensors: Mapping[str, Tensor], folder: Path) -> None:
    """Start a kernel over tensors by name, scratch included."""
    names = (*launch.arguments, *launch.scratch)
    for name in launch.zeroed:
        tensors[name].zero_()
    kernel = loaded(launch, folder)
    kernel[launch.grid](
        *(tensors[name] for name in names), num_warps=launch.warps, num_stages=launch.stages
    )
