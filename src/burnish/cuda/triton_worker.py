"""The process in which Triton compiles: asked by `build`, ended when it takes too long."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.cuda.cubin import facts
from burnish.cuda.kernel import BuiltCubin, CubinKernel, TritonSource, capability_of
from burnish.cuda.packed_sums import apart, packed_sums
from burnish.process.scratch import scratch

JitFunction = Any
"""`triton.JITFunction`: the package has no types."""

_TYPES = {
    "f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16", "bool": "i1",
    "f8e4m3fn": "fp8e4nv", "f8e5m2": "fp8e5",
}  # fmt: skip
_ALIGNMENT = 16
"""Of every pointer, in bytes: whole vectors can be loaded from it."""

_ONE_BY_ONE = "burnish: packed sums one by one"
"""What Triton tells kernels of ours in its cache by."""

_WAITS = "griddepcontrol.wait"
"""The instruction that waits until kernels ahead have ended, and what they wrote can be read."""


@dataclass(frozen=True, slots=True)
class CompileTask:
    """A kernel, and the card that it is to be compiled for."""

    source: TritonSource
    architecture: str


def build(task: CompileTask) -> BuiltCubin:
    """Return a kernel as machine code."""
    with scratch("triton") as folder:
        _settle(folder)
        return _built(task, _function(task.source, folder))


def _settle(folder: Path) -> None:
    from triton import knobs

    knobs.cache.dir = str(folder / "cache")
    # results have a cache of their own, and the lines of generated text interest nobody: they
    # would be two thirds of a cubin
    knobs.compilation.always_compile = True
    knobs.compilation.disable_line_info = True
    add_one_by_one()


def add_one_by_one() -> None:
    """Let Triton of this process hand PTX to the assembler that has no packed sums."""
    from triton import knobs

    def inspect(*given: Any) -> tuple[str, str] | None:  # noqa: ANN401  (what Triton hands over)
        if not given:  # 3.9 first asks what its cache is to tell such kernels by
            return _ONE_BY_ONE, _ONE_BY_ONE
        _backend, stages, *_ = given
        written = stages["ptx"]
        stages["ptx"] = lambda source, metadata: apart(written(source, metadata))
        return None

    knobs.runtime.add_stages_inspection_hook = inspect


def _function(source: TritonSource, folder: Path) -> JitFunction:
    """Return the function of a source; Triton reads its text from the file once more."""
    path = folder / "kernel.py"
    path.write_text(source.text)
    spec = importlib.util.spec_from_file_location(f"kernel_{abs(hash(source))}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, source.name):
        raise ValueError(f"has no function {source.name!r}")
    return getattr(module, source.name)


def _built(task: CompileTask, function: JitFunction) -> BuiltCubin:
    import triton
    from triton.backends.compiler import GPUTarget

    source = task.source
    major, minor = capability_of(task.architecture)
    names = function.arg_names
    if len(names) != len(source.pointers):
        raise ValueError(f"takes {len(names)} parameters, not {len(source.pointers)}")
    types = [f"*{triton_type(name)}" for name in source.pointers]
    aligned = {(number,): [["tt.divisibility", _ALIGNMENT]] for number in range(len(names))}
    compiled = triton.compile(
        triton.compiler.ASTSource(function, dict(zip(names, types, strict=True)), {}, aligned),
        target=GPUTarget("cuda", 10 * major + minor, 32),
        options={"num_warps": source.warps, "num_stages": source.stages},
    )
    return BuiltCubin(_kernel(source, compiled), compiled.asm["cubin"])


def triton_type(name: str) -> str:
    """Return what Triton calls an element type."""
    return _TYPES.get(name, name)


def _kernel(source: TritonSource, compiled: Any) -> CubinKernel:  # noqa: ANN401  (`CompiledKernel`)
    told, found = compiled.metadata, facts(compiled.asm["cubin"])
    # what a launch of ours does not do is an error here, not a wrong result there
    unusual = {
        "memory for its profile": getattr(told, "profile_scratch_size", 0) or 0,
        "clusters": told.num_ctas - 1,
        "a cooperative launch": int(getattr(told, "launch_cooperative_grid", False)),
    }
    for what, wanted in unusual.items():
        if wanted:
            raise ValueError(f"needs {what}, which is not supported")
    if any(size != 8 for size in found.parameter_bytes):
        raise ValueError("takes something else than pointers")
    ptx = compiled.asm["ptx"]
    if packed_sums(ptx):
        raise ValueError("adds pairs of 16-bit integers, which assemblers do wrongly")
    return CubinKernel(
        entry=told.name,
        architecture=_first(r"^\.target (sm_\w+)", ptx),
        pointers=source.pointers,
        trailing=len(found.parameter_bytes) - len(source.pointers),
        warps=told.num_warps,
        shared_bytes=told.shared,
        program_bytes=_program_bytes(told),
        registers=found.registers,
        frame_bytes=found.frame_bytes,
        toolkit=".".join(map(str, found.toolkit or ())),
        ptx=_first(r"^\.version (\S+)", ptx),
        early=_WAITS in ptx,
        library=source.library,
    )


def _program_bytes(told: Any) -> int:  # noqa: ANN401  (Triton's metadata)
    """Return how far the memory of one program is from that of the next."""
    size, alignment = told.global_scratch_size, max(told.global_scratch_align, 1)
    if size % alignment:
        raise ValueError(f"needs {size} bytes per program, aligned to {alignment}")
    return int(size)


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None, f"no {pattern} in PTX"
    return found[1]
