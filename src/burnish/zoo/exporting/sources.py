"""Whatever a model is exported from, built the same way: a module, inputs, and how to redo it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core.errors import UsageError
from burnish.store.stored import Scalar, TorchSource
from burnish.zoo import factory as zoo
from burnish.zoo.entry import MODELS, BuildOptions, BuiltModel, Module, Tensors
from burnish.zoo.exporting.request import (
    ExportRequest,
    FactorySource,
    FolderSource,
    Source,
    ZooSource,
)
from burnish.zoo.exporting.user_factory import absolute, build_from_factory
from burnish.zoo.precision import in_precision

_FACTORY_FOLLOWS = ("precision", "seed")
_FOLDER_FOLLOWS = ("precision", "attention", "batch", "sequence", "past", "seed")


@dataclass(frozen=True, slots=True)
class Built:
    """A module that is ready to be exported, and how to build it again."""

    model: BuiltModel
    torch: TorchSource


def build(request: ExportRequest) -> Built:
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


def module_and_inputs(**arguments: Scalar) -> tuple[Module, Tensors]:
    """Return the module of a user's factory or folder: what `source.json` points at."""
    given = dict(arguments)
    source: Source
    if "factory" in given:
        source = FactorySource(str(given.pop("factory")))
    else:
        trusted = bool(given.pop("trust_pickle", False))
        source = FolderSource(Path(str(given.pop("folder"))), trusted)
    model = _build(source, BuildOptions(**given)).model  # type: ignore[arg-type]
    return model.module, model.inputs


def follows_attention(source: Source) -> bool:
    """Return whether the model can be built with attention spelled out."""
    match source:
        case ZooSource(name):
            return "attention" in MODELS[name].understands
        case FolderSource():
            return True
        case FactorySource():
            return False


def _build(source: Source, options: BuildOptions) -> Built:
    match source:
        case ZooSource(name):
            return Built(zoo.build(name, options), zoo.source_of(name, options))
        case FactorySource(factory):
            given = _only(options, _FACTORY_FOLLOWS, "a factory decides that itself")
            model = in_precision(build_from_factory(factory, seed=options.seed), options.precision)
            return Built(model, _source({"factory": absolute(factory), **given}))
        case FolderSource(folder, trust_pickle):
            from burnish.zoo.exporting.local_folder import build_from_folder

            given = _only(options, _FOLDER_FOLLOWS, "a folder of weights has its own sizes")
            model = build_from_folder(folder, options, trust_pickle=trust_pickle)
            trusted = {"trust_pickle": True} if trust_pickle else {}
            return Built(model, _source({"folder": str(folder.absolute()), **trusted, **given}))


def _only(options: BuildOptions, known: tuple[str, ...], why: str) -> Mapping[str, Scalar]:
    given = zoo.given(options)
    for name in given:
        if name not in known:
            raise UsageError(f"--{name} cannot be followed: {why}", hint=f"leave --{name} away")
    return given


def _source(arguments: Mapping[str, Scalar]) -> TorchSource:
    return TorchSource("burnish.zoo.exporting.sources:module_and_inputs", arguments)
