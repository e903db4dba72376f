"""Triton texts to what a compiled folder holds of them: the text, and machine code for a card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from burnish.codegen.backend import BuiltCode
from burnish.codegen.gpu.ahead import MOST_SHARED_BYTES
from burnish.core import records, settings
from burnish.core.errors import ModelError
from burnish.core.units import size
from burnish.cuda.build import BuildOptions, Outcome, build
from burnish.cuda.kernel import (
    BuiltCubin,
    Failed,
    TritonSource,
    capability_of,
    settings_line,
    source_of,
)
from burnish.runtime.cuda.runner import CudaCode, cubin_path

MOST_SPILLED_WORDS = 100
"""Kernels that keep more than this many values of a thread in memory were never the fastest."""


def built_code(sources: Mapping[str, str], architecture: str) -> BuiltCode:
    """Return kernels, given by name, for an architecture; their texts say how they are compiled."""
    wanted = [source_of(name, text) for name, text in sources.items()]
    files: dict[str, bytes] = {}
    kernels = {}
    for source, outcome in fitted(wanted, architecture):
        if isinstance(outcome, Failed):
            raise ModelError(
                f"the kernel {source.name!r} cannot be compiled for {architecture}: "
                f"{outcome.reason}",
                hint="look at its text: burnish compile --dump DIR",
            )
        path = cubin_path(source.name)
        files[path] = outcome.code
        files[path.removesuffix(".cubin") + ".py"] = source.text.encode()
        kernels[source.name] = outcome.kernel
    return BuiltCode(files, records.encode(CudaCode(kernels)))


def unbuildable(sources: Mapping[str, str], architecture: str) -> Iterator[tuple[str, str]]:
    """Yield the kernels, given by name, that cannot be built, and why."""
    wanted = [source_of(name, text) for name, text in sources.items()]
    for source, outcome in fitted(wanted, architecture):
        if isinstance(outcome, Failed):
            yield source.name, outcome.reason


def unfit(sources: Mapping[str, str], architecture: str) -> Iterator[tuple[str, str]]:
    """Yield the kernels, given by name, that are not worth timing, and why."""
    wanted = [source_of(name, text) for name, text in sources.items()]
    for source, outcome in fitted(wanted, architecture):
        if isinstance(outcome, Failed):
            yield source.name, outcome.reason
        elif outcome.kernel.spilled_words > MOST_SPILLED_WORDS:
            spilled = outcome.kernel.spilled_words
            yield source.name, f"{spilled} values of each thread are in memory"


def fitted(sources: list[TritonSource], architecture: str) -> list[tuple[TritonSource, Outcome]]:
    """Return kernels with as many loads in flight as a program of that card has memory for."""
    options = BuildOptions(cache=settings.read().cache / "cubins")
    most = _shared_bytes(architecture)
    found = dict(zip(sources, build(sources, architecture, options), strict=True))
    fits: dict[str, tuple[TritonSource, Outcome]] = {}
    while found:
        smaller = []
        for source, outcome in found.items():
            needs = outcome.kernel.shared_bytes if isinstance(outcome, BuiltCubin) else 0
            if needs <= most:
                fits[source.name] = source, outcome
            elif source.stages > 1:
                smaller.append(_with_fewer_stages(source))
            else:
                reason = f"it needs {size(needs)} of shared memory, and there are {size(most)}"
                fits[source.name] = source, Failed(reason)
        found = dict(zip(smaller, build(smaller, architecture, options), strict=True))
    return [fits[source.name] for source in sources]


def _shared_bytes(architecture: str) -> int:
    """Return what a program may have; of a kind that is not listed, what all of them have."""
    major, minor = capability_of(architecture)
    return MOST_SHARED_BYTES.get(10 * major + minor, min(MOST_SHARED_BYTES.values()))


def _with_fewer_stages(source: TritonSource) -> TritonSource:
    old, new = (
        settings_line(source.pointers, source.warps, stages, source.library)
        for stages in (source.stages, source.stages - 1)
    )
    return replace(source, text=source.text.replace(old, new), stages=source.stages - 1)
