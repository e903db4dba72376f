"""A kernel as text, and as a card loads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnish.core import records
from burnish.core.backends import BACKENDS
from burnish.cuda.library import LibraryProduct

THREADS_PER_WARP = 32

ARCHITECTURES = BACKENDS["cuda"].devices
"""What kernels are built for where nobody says otherwise: Ampere, Hopper, Blackwell."""


@dataclass(frozen=True, slots=True)
class TritonSource:
    """A kernel as Triton reads it."""

    name: str
    """The function in the text."""
    text: str
    """A Python module that imports nothing but Triton; sizes are constants in it."""
    pointers: tuple[str, ...]
    """The element type behind each of the function's parameters."""
    warps: int
    stages: int
    library: LibraryProduct | None = None
    """What a library forms in its place."""


@dataclass(frozen=True, slots=True)
class CubinKernel:
    """What must be known of a cubin to start its kernel."""

    entry: str
    """The function's name in the cubin."""
    architecture: str
    """The cards that it runs on: `sm_90`; with an `a` behind it on that capability only."""
    pointers: tuple[str, ...]
    """The element type behind each pointer that it is given."""
    trailing: int
    """Further pointers behind those: the programs' own memory first, then what must be null."""
    warps: int
    """Of one program, as it is started: with warps that the compiler added."""
    shared_bytes: int
    program_bytes: int
    """Memory on the card that each program needs for itself, for instance for descriptors."""
    registers: int
    """Per thread."""
    frame_bytes: int
    """Per thread, in memory: what did not fit into registers."""
    toolkit: str
    """The version of CUDA that wrote it."""
    ptx: str
    """The version of the instruction set that it came from."""
    early: bool = False
    """Whether it waits for kernels ahead of it, and may be started before they have ended."""
    library: LibraryProduct | None = None
    """What a library forms in its place, where there is one that can."""

    @property
    def threads(self) -> int:
        """Return the threads of one program."""
        return THREADS_PER_WARP * self.warps

    @property
    def spilled_words(self) -> int:
        """Return how many 32-bit values each thread keeps in memory."""
        return self.frame_bytes // 4


@dataclass(frozen=True, slots=True)
class BuiltCubin:
    """A compiled kernel."""

    kernel: CubinKernel
    code: bytes


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a kernel could not be compiled, in one line."""

    reason: str


_SETTINGS = "# burnish: "
"""What begins the line of a text that says how it is compiled."""


def settings_line(
    pointers: Sequence[str], warps: int, stages: int, library: LibraryProduct | None = None
) -> str:
    """Return a line of a kernel's text that says how it is compiled.

    So a text is all that must be kept of a kernel, and equal texts are equal kernels.
    """
    found: dict[str, Any] = {"pointers": list(pointers), "warps": warps, "stages": stages}
    if library is not None:
        found["library"] = records.encode(library)
    return _SETTINGS + json.dumps(found)


def source_of(name: str, text: str) -> TritonSource:
    """Return a kernel from a text that says how it is compiled; `ValueError` if it does not."""
    lines = [line for line in text.splitlines() if line.startswith(_SETTINGS)]
    if len(lines) != 1:
        raise ValueError(f"{name}: has {len(lines)} lines that begin with {_SETTINGS!r}, not one")
    found = json.loads(lines[0].removeprefix(_SETTINGS))
    told = found.get("library")
    library = records.decode(LibraryProduct, told) if told is not None else None
    pointers = tuple(found["pointers"])
    return TritonSource(name, text, pointers, found["warps"], found["stages"], library)


def capability_of(architecture: str) -> tuple[int, int]:
    """Return the compute capability that an architecture names: `sm_90a` is (9, 0)."""
    return divmod(int(architecture.removeprefix("sm_").rstrip("af")), 10)


def runs_on(architecture: str, capability: tuple[int, int]) -> bool:
    """Say whether a card of this capability runs kernels of an architecture."""
    major, minor = capability_of(architecture)
    if architecture.endswith("a"):
        return (major, minor) == capability
    return major == capability[0] and minor <= capability[1]
