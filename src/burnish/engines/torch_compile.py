"""PyTorch's compiler, in its default mode, on the module that a model was exported from."""

from __future__ import annotations

import shutil

from burnish.core import units
from burnish.engines.base import ENGINES, Availability, EngineOptions
from burnish.engines.fallback import level_notes, no_cuda_graph, require
from burnish.engines.installed import has_nvidia_gpu, version_of
from burnish.engines.torch_eager import REMEDY
from burnish.engines.torch_session import TorchSession, load
from burnish.store.stored import StoredModel

COMPILERS = ("c++", "g++", "clang++")


class TorchCompile:
    """`torch.compile`, which needs a C++ compiler on the CPU and Triton on a GPU."""

    name = "torch-compile"
    needs_torch_source = True

    def availability(self) -> Availability:
        """Say whether PyTorch and what its compiler needs are here."""
        version = version_of("torch")
        if version is None:
            return Availability(ok=False, reason="torch is not installed", remedy=REMEDY)
        if not any(shutil.which(compiler) for compiler in COMPILERS):
            return Availability(
                ok=False, reason="no C++ compiler", remedy="apt install g++", version=version
            )
        if has_nvidia_gpu() and version_of("triton") is None:
            return Availability(
                ok=False,
                reason="triton is not installed",
                remedy="pip install triton",
                version=version,
            )
        return Availability(ok=True, version=version)

    def open(self, model: StoredModel, options: EngineOptions) -> TorchSession:
        """Build the module and wrap it for compilation, which the first run of a shape triggers."""
        require(self)
        import torch
        import torch._dynamo

        notes = (*no_cuda_graph(options, self.name), *level_notes(options, self.name))
        loaded = load(model, options)
        torch._dynamo.reset()  # a graph compiled for another model must not count as ours
        breaks_before = _graph_breaks()
        return TorchSession(
            loaded,
            options,
            call=torch.compile(loaded.module),
            notes=lambda: (*notes, _told(_graph_breaks() - breaks_before)),
        )


def _graph_breaks() -> int:
    from torch._dynamo.utils import counters

    return sum(counters["graph_break"].values())


def _told(breaks: int) -> str:
    return f"compiled with {units.count(breaks, 'graph break')} so far"


ENGINES.register("torch-compile")(TorchCompile())
