"""Kernels compiled ahead of time for a GPU that need not be there."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from burnish.codegen.gpu.launch import Launch
from burnish.codegen.gpu.running import loaded
from burnish.core.errors import ModelError

_POINTERS = {
    "f16": "*fp16", "bf16": "*bf16", "f32": "*fp32", "f64": "*fp64", "bool": "*i8",
    "i8": "*i8", "i16": "*i16", "i32": "*i32", "i64": "*i64",
    "u8": "*u8", "u16": "*u16", "u32": "*u32", "u64": "*u64",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A kernel as machine code, and what it takes of a multiprocessor."""

    name: str
    cubin: bytes
    shared_bytes: int
    registers: int
    stack_bytes: int
    """Registers that did not fit are spilled here."""


MOST_SHARED_BYTES: Mapping[int, int] = MappingProxyType(
    {70: 98_304, 80: 166_912, 86: 101_376, 89: 101_376, 90: 232_448, 100: 232_448, 120: 101_376}
)
"""What one program may take of a multiprocessor's own memory, by compute capability."""


def fitted(launch: Launch, capability: int, folder: Path) -> tuple[Launch, CompiledKernel]:
    """Return a kernel compiled with as many loads in flight as its device has room for.

    `ModelError` where not even one fits: its blocks are too large.
    """
    most = MOST_SHARED_BYTES[capability]
    for stages in range(launch.stages, 0, -1):
        tried = replace(launch, stages=stages)
        made = compile_for(tried, capability, folder)
        if made.shared_bytes <= most:
            return tried, made
    raise ModelError(
        f"kernel {launch.name} needs {made.shared_bytes:,} bytes of shared memory, "
        f"and sm_{capability} has {most:,}",
        hint="leave its nodes to ONNX Runtime",
    )


def compile_for(launch: Launch, capability: int, folder: Path) -> CompiledKernel:
    """Return a kernel compiled for a compute capability (90: Hopper)."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = loaded(launch, folder)
    pointers = [_POINTERS[dtype] for dtype in launch.dtypes]
    source = ASTSource(
        fn=kernel,
        signature=dict(zip(kernel.arg_names, pointers, strict=True)),
        attrs={(place,): [["tt.divisibility", 16]] for place in range(len(pointers))},
    )
    options: dict[str, Any] = {"num_warps": launch.warps, "num_stages": launch.stages}
    if launch.early:
        options["launch_pdl"] = True
    made: Any = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    registers, stack = _usage(made.asm["cubin"])
    return CompiledKernel(launch.name, made.asm["cubin"], made.metadata.shared, registers, stack)


def _usage(cubin: bytes) -> tuple[int, int]:
    import triton

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        told = subprocess.run(
            [tool, "-res-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+)", told)
    return (int(found[1]), int(found[2])) if found else (0, 0)
