"""From whatever a user calls a model, to a model on disk."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir as ir

from burnish.core import files, settings
from burnish.core.errors import UsageError
from burnish.process.scratch import scratch
from burnish.store import layout, onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.store.trust import trusting

if TYPE_CHECKING:
    from burnish.study.requests.vocabulary import AnyModel, Place

_FOLDER = "given"
_FACTORY = '''"""What burnish was given as a PyTorch module; written by burnish."""

from pathlib import Path


def make():
    import torch

    return torch.load(Path(__file__).with_name("module.pt"), weights_only=False)
'''


@dataclass(frozen=True, slots=True)
class TorchModule:
    """A PyTorch module with what it needs to be run and exported."""

    module: Any
    """A `torch.nn.Module`, of a class that another process can import."""
    inputs: Mapping[str, Any] | Sequence[Any]
    """Example tensors, by name or in order."""
    axes: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Of which inputs which axes may have other sizes, and how those are called."""
    name: str = "module"


def model_of(model: AnyModel, store: Place | None = None) -> StoredModel:
    """Return the model that is meant; one in memory is kept in the cache, under its content."""
    match model:
        case StoredModel():
            return model
        case str() | os.PathLike():
            return layout.resolve(os.fspath(model), store_of(store))
        case onnx.ModelProto():
            return _kept(ir.serde.deserialize_model(model), model.graph.name)
        case ir.Model():
            return _kept(model, model.graph.name or "")
        case TorchModule():
            return _exported(model)
        case _:
            raise UsageError(
                f"a {type(model).__name__} is no model that burnish knows",
                hint="give a path, an onnx.ModelProto, an onnx_ir.Model, or a PyTorch module "
                "with its inputs: burnish.TorchModule(module, inputs)",
            )


def models_of(
    models: AnyModel | Sequence[AnyModel], store: Place | None, trusted: Sequence[str]
) -> tuple[StoredModel, ...]:
    """Return the models that are meant, with the trust that the user puts into their code."""
    every = models if isinstance(models, list | tuple) else (models,)
    return trusting([model_of(one, store) for one in every if one is not None], trusted)


def variants_of(
    models: AnyModel | Sequence[AnyModel], store: Place | None, trusted: Sequence[str]
) -> tuple[StoredModel, ...]:
    """Return the models that are meant, each once; a name without a variant means them all."""
    every = models if isinstance(models, list | tuple) else (models,)
    found = (one for given in every if given is not None for one in _variants(given, store))
    return trusting(list({(one.onnx, one.compiled): one for one in found}.values()), trusted)


def _variants(model: AnyModel, store: Place | None) -> tuple[StoredModel, ...]:
    if isinstance(model, str | os.PathLike):
        return layout.resolve_all(os.fspath(model), store_of(store))
    return (model_of(model, store),)


def store_of(given: Place | None) -> Path:
    """Return the store that is meant."""
    return settings.read().store if given is None else Path(given)


def factory_of(given: TorchModule) -> str:
    """Write a module down so that another process can build it; return what builds it."""
    import torch

    with scratch("module") as folder:
        draft = folder / "module.pt"
        try:
            torch.save((given.module, given.inputs, dict(given.axes)), draft)
        except Exception as error:  # pickles raise anything
            raise UsageError(
                f"the module cannot be handed to another process: {error}",
                hint="write a function that returns it into a file, and name that: "
                'burnish.export(module="file.py:function")',
            ) from error
        content = draft.read_bytes()
    home = settings.read().cache / _FOLDER / _key(content)
    files.write_bytes(home / "module.pt", content)
    files.write_text(home / "factory.py", _FACTORY)
    return f"{home / 'factory.py'}:make"


def _key(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()[:16]


def _kept(model: ir.Model, name: str) -> StoredModel:
    stem = "".join(c if c.isalnum() or c in "_-+" else "_" for c in name).strip("_") or "model"
    with scratch("given") as folder:
        draft = folder / f"{stem}.onnx"
        onnx_files.write(model, draft, history=History("", ()))
        place = settings.read().cache / _FOLDER / onnx_files.content_key(draft)[:16] / draft.name
        if not place.is_file():
            onnx_files.write(onnx_files.read(draft), place, history=History("", ()))
    return layout.stored(place)


def _exported(given: TorchModule) -> StoredModel:
    """Export a module into the cache; its code is the user's own, and may be run."""
    from burnish.study import exporting
    from burnish.study.requests.rewriting import ExportCommand

    factory = factory_of(given)
    home = Path(factory.rpartition(":")[0]).parent
    place = layout.place(home, given.name, "dynamo")
    if not place.is_file():
        exporting.answer(
            ExportCommand(module=factory, name=given.name, variant="dynamo", store=home)
        )
    return dataclasses.replace(layout.stored(place), trusted=True)
