"""Build a model of the zoo by name, and say how to build it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from burnish.core.errors import UsageError
from burnish.store.stored import Scalar, TorchSource
from burnish.zoo.entry import MODELS, BuiltModel, Choice, NetworkOptions

CHOICES = get_args(Choice)


def build(name: str, options: NetworkOptions) -> BuiltModel:
    """Return the model of this name, or say what it cannot do."""
    entry = MODELS[name]
    for choice in CHOICES:
        if choice in given(options) and choice not in entry.understands:
            able = [other for other in MODELS if choice in MODELS[other].understands]
            raise UsageError(
                f"{name} cannot follow --{choice}",
                hint=f"leave --{choice} away; models that can: {', '.join(able)}",
            )
    if options.layers is not None and options.layers < 1:
        raise UsageError(f"{options.layers} layers make no model", hint="give --layers 1 or more")
    return entry.build(options)


def source_of(name: str, options: NetworkOptions) -> TorchSource:
    """Return how to build this model again: only what differs from the defaults is written."""
    return TorchSource("zoo", name, given(options))


def given(options: NetworkOptions) -> Mapping[str, Scalar]:
    """Return the options that differ from the defaults."""
    default = NetworkOptions()
    names = NetworkOptions.__slots__
    changed = (name for name in names if getattr(options, name) != getattr(default, name))
    return {name: getattr(options, name) for name in changed}
