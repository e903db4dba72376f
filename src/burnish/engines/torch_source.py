"""Build the PyTorch module that a stored model was exported from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.core.errors import ModelError, UsageError
from burnish.store.stored import StoredModel, TorchSource
from burnish.store.trust import foreign_code, require_trust

TorchModule = Any
ExampleInputs = Mapping[str, Any] | Sequence[Any]
"""Tensors by name, or in the order of `forward`."""


def module_and_inputs(model: StoredModel) -> tuple[TorchModule, ExampleInputs]:
    """Return the model's module in evaluation mode, and inputs to call it with.

    Code that is not ours runs only if the user has named it.
    """
    source = model.torch
    if source is None:
        raise UsageError(
            f"{model.label} does not say which PyTorch module it was exported from",
            hint="use an engine that runs the ONNX file, for instance --engine onnxruntime-cpu, "
            "or a model that burnish exported: burnish model list",
        )
    require_trust(model)
    code = foreign_code(model) or source.name
    if source.origin == "function":
        return _called(source, code)
    from burnish.zoo.exporting.sources import built_again

    built = built_again(source, code)
    return built.module.eval(), built.inputs


def _called(source: TorchSource, code: str) -> tuple[TorchModule, ExampleInputs]:
    from burnish.zoo.exporting.user_factory import function_named

    made = function_named(code)(**source.arguments)
    if not isinstance(made, tuple) or len(made) != 2:
        raise ModelError(
            f"{code} returned {type(made).__name__}, not a module and its inputs",
            hint="let the function return (module, inputs)",
        )
    module, inputs = made
    return module.eval(), inputs
