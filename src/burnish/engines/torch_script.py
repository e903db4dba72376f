"""PyTorch's older compiler, TorchScript: the module traced with the inputs that it is given."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from burnish.engines.base import ENGINES, Availability, EngineOptions
from burnish.engines.fallback import level_notes, no_cuda_graph, require
from burnish.engines.torch_eager import installed
from burnish.engines.torch_session import TorchSession, flat_outputs, load
from burnish.engines.torch_source import TorchModule
from burnish.engines.torch_values import Tensor
from burnish.store.stored import StoredModel

_NOTE = "traced and frozen for the sizes of its inputs"


class TorchScript:
    """`torch.jit.trace`, which fixes what a module decides by sizes: so each size has its own."""

    name = "torch-script"
    needs_torch_source = True

    def availability(self) -> Availability:
        """Say whether PyTorch is installed."""
        return installed()

    def open(self, model: StoredModel, options: EngineOptions) -> TorchSession:
        """Build the module; the first run of a size traces it."""
        require(self)
        notes = (*no_cuda_graph(options, self.name), *level_notes(options, self.name), _NOTE)
        loaded = load(model, options)
        return TorchSession(loaded, options, call=_Traced(loaded.module), notes=lambda: notes)


class _Traced:
    """A module as graphs, one for each set of sizes that it was called with."""

    def __init__(self, module: TorchModule) -> None:
        self._module = module
        self._graphs: dict[tuple[object, ...], Callable[..., Any]] = {}

    def __call__(self, **arguments: Tensor) -> Any:  # noqa: ANN401  (what a module returns)
        tensors = {name: value for name, value in arguments.items() if hasattr(value, "shape")}
        key = tuple((name, *value.shape) for name, value in tensors.items())
        if key not in self._graphs:
            fixed = {name: value for name, value in arguments.items() if name not in tensors}
            self._graphs[key] = _graph(self._module, tensors, fixed)
        return self._graphs[key](*tensors.values())


def _graph(
    module: TorchModule, tensors: dict[str, Tensor], fixed: dict[str, Any]
) -> Callable[..., Any]:
    import torch

    class Flat(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
        """Takes tensors in order and gives a tuple: all that a graph can take and give."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, *values: Tensor) -> tuple[Tensor, ...]:
            named = dict(zip(tensors, values, strict=True))
            return tuple(flat_outputs(self.inner(**named, **fixed)))

    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # that sizes become constants is what is wanted here
        traced = torch.jit.trace(
            Flat().eval(), tuple(tensors.values()), strict=False, check_trace=False
        )
        frozen: Callable[..., Any] = torch.jit.freeze(traced)
    return frozen


ENGINES.register("torch-script")(TorchScript())
