"""Whatever a model is exported from, built the same way: a module, inputs, and how to redo it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core import records
from burnish.core.errors import ModelError, UsageError
from burnish.store.stored import Scalar, TorchSource
from burnish.zoo import factory as zoo
from burnish.zoo.entry import MODELS, BuiltModel, NetworkOptions
from burnish.zoo.exporting.request import (
    ExportRequest,
    FactorySource,
    FolderSource,
    Source,
    ZooSource,
)
from burnish.zoo.exporting.user_factory import absolute, build_from_factory
from burnish.zoo.precision import in_precision, other_numbers

_FACTORY_FOLLOWS = ("precision", "seed")
_FOLDER_FOLLOWS = ("precision", "attention", "batch", "sequence", "past", "seed")


@dataclass(frozen=True, slots=True)
class BuiltModule:
    """A module that is ready to be exported, and how to build it again."""

    model: BuiltModel
    torch: TorchSource
    notes: tuple[str, ...] = ()


def build(request: ExportRequest) -> BuiltModule:
    """Return what a request is about, with the axes that it wants dynamic."""
    built = _build(request.source, request.options)
    if request.dynamic is False:
        built = dataclasses.replace(built, model=dataclasses.replace(built.model, dynamic_axes={}))
    if request.dynamic and not built.model.dynamic_axes:
        raise UsageError(
            "dynamic axes were asked for, and the model names none",
            hint="let the factory return a third value, for instance {'x': {0: 'batch'}}, "
            "or leave --dynamic away",
        )
    return built


def built_again(torch: TorchSource, name: str) -> BuiltModel:
    """Return what a model was exported from, as its `source.json` tells; `name` is it in full.

    Whether its code may be run is the caller's to know.
    """
    try:
        options = records.decode(NetworkOptions, torch.arguments)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{name} cannot be built again: its source.json asks for what nothing has ({error})",
            hint="export it again, or use --engine onnxruntime-cpu",
        ) from error
    return _build(_source_of(torch, name), options).model


def _source_of(torch: TorchSource, name: str) -> Source:
    match torch.origin:
        case "zoo":
            return ZooSource(name)
        case "folder":
            return FolderSource(Path(name), bool(torch.arguments.get("trust_pickle")))
        case _:
            return FactorySource(name)


def follows_attention(source: Source) -> bool:
    """Return whether the model can be built with attention spelled out."""
    match source:
        case ZooSource(name):
            return "attention" in MODELS[name].understands
        case FolderSource():
            return True
        case FactorySource():
            return False


def _build(source: Source, options: NetworkOptions) -> BuiltModule:
    match source:
        case ZooSource(name):
            return BuiltModule(zoo.build(name, options), zoo.source_of(name, options))
        case FactorySource(factory):
            given = _only(options, _FACTORY_FOLLOWS, "a factory decides that itself")
            made = build_from_factory(factory, seed=options.seed)
            notes = other_numbers(made, options.precision)
            model = in_precision(made, options.precision)
            return BuiltModule(model, TorchSource("module", absolute(factory), given), notes)
        case FolderSource(folder, trust_pickle):
            from burnish.zoo.exporting.local_folder import build_from_folder

            given = _only(options, _FOLDER_FOLLOWS, "a folder of weights has its own sizes")
            model = build_from_folder(folder, options, trust_pickle=trust_pickle)
            trusted = {"trust_pickle": True} if trust_pickle else {}
            return BuiltModule(
                model, TorchSource("folder", str(folder.absolute()), {**trusted, **given})
            )


def _only(options: NetworkOptions, known: tuple[str, ...], why: str) -> Mapping[str, Scalar]:
    given = zoo.given(options)
    for name in given:
        if name not in known:
            raise UsageError(f"--{name} cannot be followed: {why}", hint=f"leave --{name} away")
    return given
