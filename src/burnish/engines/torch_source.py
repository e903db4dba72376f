"""Build the PyTorch module that a stored model was exported from."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from burnish.core.errors import ModelError, UsageError
from burnish.store.stored import StoredModel, TorchSource

TorchModule = Any
ExampleInputs = Mapping[str, Any] | Sequence[Any]
"""Tensors by name, or in the order of `forward`."""


def module_and_inputs(model: StoredModel) -> tuple[TorchModule, ExampleInputs]:
    """Return the model's module in evaluation mode, and inputs to call it with."""
    source = model.torch
    if source is None:
        raise UsageError(
            f"{model.label} does not say which PyTorch module it was exported from",
            hint="use an engine that runs the ONNX file, for instance --engine onnxruntime-cpu, "
            "or a model that burnish exported: burnish model list",
        )
    made = _factory(source, model)(**source.arguments)
    if not isinstance(made, tuple) or len(made) != 2:
        raise ModelError(
            f"{source.factory} returned {type(made).__name__}, not a module and its inputs",
            hint="let the function return (module, inputs)",
        )
    module, inputs = made
    return module.eval(), inputs


def _factory(source: TorchSource, model: StoredModel) -> Callable[..., Any]:
    place, separator, name = source.factory.rpartition(":")
    if not separator:
        raise ModelError(
            f"{source.factory!r} does not name a function",
            hint="write package.module:function or path/to/file.py:function",
        )
    try:
        module = _from_file(Path(place), model) if place.endswith(".py") else _imported(place)
        return getattr(module, name)  # type: ignore[no-any-return]
    except (ImportError, AttributeError, FileNotFoundError) as error:
        raise ModelError(
            f"{source.factory} cannot be loaded ({error})",
            hint="run burnish where that function can be imported, or use --engine onnxruntime-cpu",
        ) from error


def _imported(name: str) -> ModuleType:
    return importlib.import_module(name)


def _from_file(path: Path, model: StoredModel) -> ModuleType:
    """Return the module in a file; a relative path starts here, else where the model lies."""
    found = next((p for p in (path, model.onnx.parent / path) if p.is_file()), None)
    if found is None:
        raise FileNotFoundError(f"no file {path}")
    spec = importlib.util.spec_from_file_location(found.stem, found)
    if spec is None or spec.loader is None:
        raise ImportError(f"{found} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
