"""PyTorch's compiler, with its modes and back ends, on the module behind a model."""

from __future__ import annotations

import shutil

from burnish.core import units
from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.engines.base import ENGINES, Availability, EngineOptions
from burnish.engines.fallback import level_notes, no_cuda_graph, require
from burnish.engines.installed import has_nvidia_gpu, version_of
from burnish.engines.torch_eager import installed
from burnish.engines.torch_session import TorchSession, load
from burnish.store.stored import StoredModel

COMPILERS = ("c++", "g++", "clang++")
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")

WITH_GRAPHS = ("reduce-overhead", "max-autotune")
"""Modes in which PyTorch captures CUDA graphs by itself."""


class TorchCompile:
    """`torch.compile`, which needs a C++ compiler on the CPU and Triton on a GPU."""

    name = "torch-compile"
    needs_torch_source = True

    def availability(self) -> Availability:
        """Say whether PyTorch and what its compiler needs are here."""
        found = installed()
        if not found.ok:
            return found
        if not any(shutil.which(compiler) for compiler in COMPILERS):
            return Availability(
                ok=False, reason="no C++ compiler", remedy="apt install g++", version=found.version
            )
        if has_nvidia_gpu() and version_of("triton") is None:
            return Availability(
                ok=False,
                reason="triton is not installed",
                remedy="pip install triton",
                version=found.version,
            )
        return found

    def open(self, model: StoredModel, options: EngineOptions) -> TorchSession:
        """Build the module and wrap it for compilation, which the first run of a shape triggers."""
        require(self)
        import torch
        import torch._dynamo

        notes = (*no_cuda_graph(options, self.name), *level_notes(options, self.name))
        chosen = _chosen(options.mode)
        loaded = load(model, options)
        if options.mode in WITH_GRAPHS and loaded.device != "cpu":
            notes = (*notes, "PyTorch replays CUDA graphs where it can")
        torch._dynamo.reset()  # a graph compiled for another model must not count as ours
        breaks_before = _graph_breaks()
        return TorchSession(
            loaded,
            options,
            call=torch.compile(loaded.module, **chosen),
            notes=lambda: (*notes, _told(_graph_breaks() - breaks_before)),
        )

    def require_mode(self, mode: str) -> None:
        """Leave it to `open` which back ends there are: only PyTorch knows."""


def _chosen(mode: str) -> dict[str, str]:
    """Return what to tell `torch.compile`: a mode of its own, or somebody's back end."""
    from torch._dynamo import list_backends

    if not mode:
        return {}
    if mode in MODES:
        return {"mode": mode}
    known = list_backends(exclude_tags=())
    if mode not in known:
        raise UsageError(
            f"torch.compile has neither a mode nor a back end {mode!r}",
            hint=suggestion(mode, [*MODES, *list_backends()]),  # without those for debugging
        )
    return {"backend": mode}


def _graph_breaks() -> int:
    from torch._dynamo.utils import counters

    return sum(counters["graph_break"].values())


def _told(breaks: int) -> str:
    return f"compiled with {units.count(breaks, 'graph break')} so far"


ENGINES.register("torch-compile")(TorchCompile())
