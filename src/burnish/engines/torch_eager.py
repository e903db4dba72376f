"""PyTorch as it comes: the module that a model was exported from, operator by operator."""

from __future__ import annotations

from burnish.engines.base import ENGINES, Availability, EngineOptions
from burnish.engines.fallback import no_cuda_graph, require
from burnish.engines.installed import version_of
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
        """Build the module that `model` was exported from."""
        require(self)
        notes = no_cuda_graph(options, self.name)
        loaded = load(model, options)
        return TorchSession(loaded, options, call=loaded.module, notes=lambda: notes)


ENGINES.register("torch-eager")(TorchEager())
