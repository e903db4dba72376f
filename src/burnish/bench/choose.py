"""Which subjects a benchmark has: models on engines, each under a name one can type."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from burnish.bench.subject import BenchSubject
from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.modes import name_and_mode
from burnish.store.stored import StoredModel
from burnish.store.trust import OPTION, foreign_code, is_runnable, require_trust


def subjects(
    models: Sequence[StoredModel],
    engines: Sequence[str],
    options: EngineOptions,
    *,
    alike: Collection[str] = (),
) -> tuple[BenchSubject, ...]:
    """Return every model on every engine, each once; without engines, on all that can run it here.

    `alike`: labels that models of other benchmarks have, too, whose rows stand beside these.

    An engine that runs PyTorch modules gets the models that come with one; `left_out` says which
    do not. If none does, all of them are kept, so that the engine can say what it misses. Code of
    others is an error where its engine is asked for, and left out where none is.
    """
    for model in models if any(_needs_source(spec) for spec in engines) else ():
        require_trust(model)
    named = {*alike, *alike_labels(models)}
    missing = _without_source(models, engines)
    found = (
        _subject(f"{called(model, engine, named)}@{engine}", model, engine, options)
        for model in models
        for engine in (engines or _usable(model))
        if (model, engine) not in missing
    )
    # other engines run what a folder was compiled from: once, however many folders there are
    return tuple({subject.label: subject for subject in found}.values())


def _subject(label: str, model: StoredModel, spec: str, options: EngineOptions) -> BenchSubject:
    engine, mode = name_and_mode(spec)
    return BenchSubject(label, model, engine, replace(options, mode=mode) if mode else options)


def _needs_source(spec: str) -> bool:
    return ENGINES[name_and_mode(spec)[0]].needs_torch_source


def alike_labels(models: Sequence[StoredModel]) -> frozenset[str]:
    """Return the labels that several of these models have: `model`, of files in two folders."""
    labels = Counter(model.label for model in models)
    return frozenset(label for label, times in labels.items() if times > 1)


def called(model: StoredModel, engine: str, alike: Collection[str]) -> str:
    """Return what rows call a model on an engine: its label, or its place where others have it."""
    if model.label not in alike:
        return model.label
    return str(model.compiled if model.compiled and engine == "burnish" else model.onnx)


def left_out(
    models: Sequence[StoredModel], engines: Sequence[str], command: str
) -> tuple[str, ...]:
    """Return a sentence for each model that an engine cannot be given, or must not be.

    `command` is what was asked; with one more option it runs code that is not ours.
    """
    missing = (
        f"{model.label} was not measured on {engine}, which runs PyTorch modules:"
        " no source.json lies beside it"
        for model, engine in _without_source(models, engines)
    )
    torch = [name for name in _available() if ENGINES[name].needs_torch_source]
    untrusted = (
        f"{model.label} was not measured on {', '.join(torch)}: its PyTorch module is made by"
        f" {code}, which is not burnish's code; read it, and to run it: {command} {OPTION}"
        f" {shlex.quote(code)}"
        for model in models
        if (code := foreign_code(model)) and not model.trusted and torch and not engines
    )
    return (*missing, *untrusted)


def _without_source(
    models: Sequence[StoredModel], engines: Sequence[str]
) -> list[tuple[StoredModel, str]]:
    if not any(model.torch for model in models):
        return []
    torch = [engine for engine in engines if _needs_source(engine)]
    return [(model, engine) for model in models for engine in torch if model.torch is None]


def baseline(among: Sequence[BenchSubject], asked: str | None) -> str:
    """Return the label of the baseline: the first, or the only one that fits what was asked.

    A subject `model@engine` may be asked for by its model or its engine alone.
    """
    labels = [subject.label for subject in among]
    if asked is None or asked in labels:
        return asked or labels[0]
    fitting = [label for label in labels if asked in label.rpartition("@")[::2]]
    if len(fitting) != 1:
        problem = "names several subjects" if fitting else "is not among the subjects"
        raise UsageError(f"the baseline {asked!r} {problem}", hint=suggestion(asked, labels))
    return fitting[0]


def _usable(model: StoredModel) -> list[str]:
    names = [
        name for name in _available() if is_runnable(model) or not ENGINES[name].needs_torch_source
    ]
    # The engine that every installation has is what all others are compared with.
    return sorted(names, key=lambda name: (name != "onnxruntime-cpu", name))


def _available() -> list[str]:
    return [name for name in ENGINES if ENGINES[name].availability().ok]
