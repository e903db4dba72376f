"""Triton texts to what a compiled folder holds of them: the text, and machine code for a card."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.codegen.backend import BuiltCode
from burnish.core import records, settings
from burnish.core.errors import ModelError
from burnish.cuda.build import BuildOptions, build
from burnish.cuda.kernel import Failed, source_of
from burnish.runtime.cuda.runner import CudaCode, cubin_path


def built_code(sources: Mapping[str, str], architecture: str) -> BuiltCode:
    """Return kernels, given by name, for an architecture; their texts say how they are compiled."""
    options = BuildOptions(cache=settings.read().cache / "cubins")
    wanted = [source_of(name, text) for name, text in sources.items()]
    files: dict[str, bytes] = {}
    kernels = {}
    for source, outcome in zip(wanted, build(wanted, architecture, options), strict=True):
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
