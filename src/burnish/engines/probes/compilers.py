"""What can turn source text into programs here."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.engines.installed import version_of
from burnish.engines.probes.findings import FindingKind, ProbeFinding, Status
from burnish.process.program import run
from burnish.process.scratch import scratch

_TIME_LIMIT_S = 60
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Compiler:
    """A program that compiles a file, under the names it goes by."""

    name: str
    programs: tuple[str, ...]
    suffix: str
    purpose: str
    remedy: str


@dataclass(frozen=True, slots=True)
class CompilerPackage:
    """A Python package that compiles."""

    module: str
    purpose: str
    remedy: str


COMPILERS = (
    Compiler("C compiler", ("cc", "gcc", "clang"), "c", "for generated C", "apt install gcc"),
    Compiler("C++ compiler", ("c++", "g++", "clang++"), "cpp", "for torch-compile on the CPU",
             "apt install g++"),
    Compiler("nvcc", ("nvcc",), "cu", "for CUDA extensions", "apt install nvidia-cuda-toolkit"),
)  # fmt: skip
LIBRARIES = (
    CompilerPackage("llvmlite", "for generated CPU kernels", "pip install llvmlite"),
    CompilerPackage(
        "triton",
        "for kernels for NVIDIA cards, compiled on any machine, and torch-compile on one",
        "pip install triton",
    ),
)


def compiler_finding(compiler: Compiler) -> ProbeFinding:
    """Compile an empty program, and return how that went."""
    program = next((path for name in compiler.programs if (path := shutil.which(name))), None)
    if program is None:
        return _finding(compiler.name, Status.MISSING, compiler.purpose, remedy=compiler.remedy)
    told = run([program, "--version"], time_limit_s=_TIME_LIMIT_S)
    numbers = _VERSION.findall(told.output)
    version = numbers[0] if numbers else ""
    with scratch("probe") as folder:
        source = folder / f"empty.{compiler.suffix}"
        source.write_text("int main() { return 0; }\n")
        command = [program, "-c", str(source), "-o", str(folder / "empty.o")]
        outcome = run(command, time_limit_s=_TIME_LIMIT_S)
    if not outcome.ok:
        detail = f"{program}: {outcome.reason}"
        return _finding(compiler.name, Status.BROKEN, detail, version, compiler.remedy)
    return _finding(compiler.name, Status.WORKS, f"{program}, {compiler.purpose}", version)


def library_finding(library: CompilerPackage) -> ProbeFinding:
    """Import a package in a child process, and return how that went."""
    version = version_of(library.module)
    if version is None:
        return _finding(library.module, Status.MISSING, library.purpose, remedy=library.remedy)
    command: Sequence[str] = [sys.executable, "-P", "-c", f"import {library.module}"]
    outcome = run(command, time_limit_s=_TIME_LIMIT_S)
    status = Status.WORKS if outcome.ok else Status.BROKEN
    remedy = "" if outcome.ok else library.remedy
    return _finding(library.module, status, outcome.reason or library.purpose, version, remedy)


def _finding(
    name: str, status: Status, detail: str, version: str = "", remedy: str = ""
) -> ProbeFinding:
    return ProbeFinding(FindingKind.COMPILER, name, status, version, detail, remedy)
