"""PyTorch as it comes: the module that a model was exported from, operator by operator."""

from __future__ import annotations

from dataclasses import replace

from burnish.engines.base import ENGINES, Availability, EngineOptions
from burnish.engines.fallback import GRAPH, no_cuda_graph, require, require_graph
from burnish.engines.installed import version_of
from burnish.engines.torch_captured import NOTE, CapturedCall
from burnish.engines.torch_session import TorchSession, load
from burnish.store.stored import StoredModel


def installed() -> Availability:
    """Say whether PyTorch is installed."""
    version = version_of("torch")
    if version is None:
        return Availability(
            ok=False, reason="torch is not installed", remedy="pip install 'burnish[torch]'"
        )
    return Availability(ok=True, version=version)


class TorchEager:
    """PyTorch without a compiler."""

    name = "torch-eager"
    needs_torch_source = True

    def availability(self) -> Availability:
        """Say whether PyTorch is installed."""
        return installed()

    def open(self, model: StoredModel, options: EngineOptions) -> TorchSession:
        """Build the module that `model` was exported from; `torch-eager:graph` captures it."""
        require(self)
        loaded = load(model, options)
        if (options.cuda_graph or options.mode == GRAPH) and loaded.device != "cpu":
            call = CapturedCall(loaded.module)
            return TorchSession(loaded, options, call=call, notes=lambda: (NOTE,))
        asked = replace(options, cuda_graph=options.cuda_graph or options.mode == GRAPH)
        notes = no_cuda_graph(asked, f"{self.name} without a GPU")
        return TorchSession(loaded, options, call=loaded.module, notes=lambda: notes)

    def require_mode(self, mode: str) -> None:
        """Raise if it is not the one mode there is."""
        require_graph(self.name, mode)


ENGINES.register("torch-eager")(TorchEager())
