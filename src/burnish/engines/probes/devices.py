"""The processor and the GPUs of this machine."""

from __future__ import annotations

from burnish.core import units
from burnish.engines.probes.findings import FindingKind, ProbeFinding, Status
from burnish.hw import detect
from burnish.hw.detect import Cpu, Gpu

_TOLD_FLAGS = (
    "avx2", "fma", "avx512f", "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16",
    "amx_tile", "amx_bf16", "amx_int8", "asimd", "sve",
)  # fmt: skip
"""Those that decide which kernels an engine chooses."""


def devices() -> tuple[ProbeFinding, ...]:
    """Return a row for the CPU and one for each GPU."""
    return (cpu_finding(detect.cpu()), *gpu_findings(detect.gpus()))


def cpu_finding(cpu: Cpu) -> ProbeFinding:
    """Return what is worth knowing of a CPU."""
    quota = f" (a container allows {cpu.quota_cores:g})" if cpu.quota_cores else ""
    memory = f"{units.size(cpu.memory_bytes)} memory" if cpu.memory_bytes else ""
    flags = " ".join(flag for flag in _TOLD_FLAGS if flag in cpu.flags)
    entry = detect.cpu_entry(cpu.flags)
    known = f"catalog: {entry}" if entry else "not in the catalog"
    cores = f"{units.count(cpu.cores, 'usable core')}{quota}"
    detail = "; ".join(part for part in (cpu.model, cores, memory, flags, known) if part)
    return ProbeFinding(FindingKind.DEVICE, "CPU", Status.WORKS, detail=detail)


def gpu_findings(gpus: tuple[Gpu, ...]) -> tuple[ProbeFinding, ...]:
    """Return a row for each GPU, or one that says there is none."""
    if not gpus:
        return (
            ProbeFinding(
                FindingKind.DEVICE,
                "NVIDIA GPU",
                Status.MISSING,
                detail="nvidia-smi lists none",
                remedy="use a machine with an NVIDIA GPU and its driver",
            ),
        )
    return tuple(_gpu_finding(index, gpu) for index, gpu in enumerate(gpus))


def _gpu_finding(index: int, gpu: Gpu) -> ProbeFinding:
    entry = detect.gpu_entry(gpu.name)
    known = f"catalog: {entry}" if entry else "not in the catalog"
    detail = f"{gpu.name}; {units.size(gpu.memory_bytes)} memory; {known}"
    return ProbeFinding(
        FindingKind.DEVICE, f"GPU {index}", Status.WORKS, f"driver {gpu.driver}", detail
    )
