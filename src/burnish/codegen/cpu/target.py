"""The instruction sets that kernels are compiled for, and which of them this machine has."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.hw.detect import ARM, X86, cpu, family
from burnish.hw.unit import CORE, UnitSpec


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """An instruction set: what code generation needs to know of it."""

    name: Literal["avx512", "avx2", "portable", "neon"]
    lanes: int
    """f32 numbers in one vector register."""
    registers: int
    cpu: str
    """What LLVM calls a machine with exactly these instructions."""
    features: str
    """What LLVM is told in addition."""
    required: tuple[str, ...]
    """LLVM's names of the features that a machine must have to run the code."""
    family: str = X86
    """The family of processors that have it, as `burnish.hw.detect.family` names them."""
    described: str = "x86-avx2"
    """The device of the catalog that stands for processors of a family that is not here."""
    unit: UnitSpec = field(default=CORE, compare=False)
    """How a core runs code: the shape of kernels is chosen by it, not what they need."""
    dot: Literal["dot4", "dot4_vnni", "dot4_sdot", "dot4_usdot"] = field(
        default="dot4", compare=False
    )
    """How kernels add four products of bytes. What the others need besides, those kernels require
    that use it (`burnish.codegen.cpu.intrinsics.NEEDS`); all others run without."""
    dot_bf16: Literal["dot2", "dot2_bf16"] = field(default="dot2", compare=False)
    """How kernels add two products of bf16; as above."""

    @property
    def text(self) -> str:
        """Return the target as plans write it."""
        return f"cpu: {self.name}"

    @property
    def is_foreign(self) -> bool:
        """Return whether it is of another family of processors than this machine's."""
        return self.family != family()


_V2 = ("sse4.1", "sse4.2", "ssse3", "popcnt")
_V3 = (*_V2, "avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")

TARGETS: Mapping[str, InstructionSet] = MappingProxyType(
    {
        # LLVM prefers halves of these registers unless told otherwise
        "avx512": InstructionSet(
            "avx512", 16, 32, "x86-64-v4", "-prefer-256-bit", _V4, described="x86-avx512"
        ),
        "avx2": InstructionSet("avx2", 8, 16, "x86-64-v3", "", _V3),
        "portable": InstructionSet("portable", 4, 16, "x86-64-v2", "", _V2),
        # whatever runs Linux on this family has it: arguments are passed in its registers
        "neon": InstructionSet("neon", 4, 32, "generic", "", (), ARM, "arm-neoverse-n1"),
    }
)
"""Of each family the fastest first. `portable` is SSE4.2 on x86 and, where nothing here is of this
machine's family, that family's base line."""

_SYSTEM_FLAGS = {
    "sse4.1": "sse4_1", "sse4.2": "sse4_2", "bmi": "bmi1", "lzcnt": "abm",
    "avx512vnni": "avx512_vnni", "avx512bf16": "avx512_bf16", "dotprod": "asimddp",
}  # fmt: skip
"""Where Linux has another name for a feature than LLVM."""

_DOTS: Mapping[str, Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "avx512": {
            "avx512vnni": {"dot": "dot4_vnni"},
            "avx512bf16": {"dot_bf16": "dot2_bf16"},
        },
        "neon": {"dotprod": {"dot": "dot4_sdot"}, "i8mm": {"dot": "dot4_usdot"}},
    }
)
"""By target, what each feature (LLVM's name) changes; the later one wins."""


def by_name(name: str) -> InstructionSet:
    """Return the target of this name, as it is on this processor family."""
    if name not in TARGETS:
        raise UsageError(
            f"{name!r} is not a CPU target", hint=f"there are: {', '.join(sorted(TARGETS))}"
        )
    return _elsewhere() if name == "portable" and not _of_this_family() else TARGETS[name]


@lru_cache(maxsize=1)
def available() -> tuple[InstructionSet, ...]:
    """Return the targets that this machine can run, fastest first."""
    known = _of_this_family()
    if not known:
        return (_elsewhere(),)
    import llvmlite.binding as llvm

    present = llvm.get_host_cpu_features()
    return tuple(
        target
        for target in known
        if all(present.get(feature, False) for feature in target.required)
    )


def detect() -> InstructionSet:
    """Return the fastest target that this machine can run."""
    found = available()
    if not found:
        raise MissingCapabilityError(
            f"this processor ({platform.processor() or platform.machine()}) lacks SSE4.2, "
            "which generated kernels need at least",
            hint="run the model on another engine: burnish bench --engine onnxruntime-cpu",
        )
    return _with_dots(found[0])


def system_flag(feature: str) -> str:
    """Return what Linux calls a feature, given LLVM's name."""
    return _SYSTEM_FLAGS.get(feature, feature)


def _with_dots(target: InstructionSet) -> InstructionSet:
    """Return a target with the best ways to multiply short numbers that this machine has."""
    for feature, change in _DOTS.get(target.name, {}).items():
        if _has(feature):
            target = replace(target, **change)  # type: ignore[arg-type]
    return target


def _has(feature: str) -> bool:
    """Say whether this machine has a feature; of ARM's LLVM looks for a few only."""
    if family() == ARM:
        return system_flag(feature) in cpu().flags
    import llvmlite.binding as llvm

    return bool(llvm.get_host_cpu_features().get(feature, False))


def _of_this_family() -> tuple[InstructionSet, ...]:
    return tuple(target for target in TARGETS.values() if not target.is_foreign)


def _elsewhere() -> InstructionSet:
    """Return the base line of a family of which nothing here knows more."""
    return InstructionSet("portable", 4, 32, "generic", "", (), family())
