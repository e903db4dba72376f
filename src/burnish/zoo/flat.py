"""Modules with flat, named tensors in and a tuple of tensors out, as exporters want them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from burnish.zoo.entry import Module, Tensors

Call = Callable[[Module, Tensors], tuple[Any, ...]]
"""How to call a module with tensors by name: gives back its outputs, flat."""


def flat(module: Module, input_names: Sequence[str], call: Call) -> Module:
    """Return a module whose `forward` takes exactly `input_names`, by name or by position.

    Exporters and engines read the signature of `forward`; it is a real one, though the names
    are only known here (a decoder has two inputs per layer for its past).
    """
    from torch import nn

    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for name in ("self", *input_names)
    ]
    signature = inspect.Signature(parameters)

    def forward(self: Module, *tensors: Any, **named: Any) -> tuple[Any, ...]:  # noqa: ANN401
        bound = dict(signature.bind(self, *tensors, **named).arguments)
        del bound["self"]
        return call(self.model, bound)

    forward.__signature__ = signature  # type: ignore[attr-defined]
    adapter: Module = type("Flat", (nn.Module,), {"forward": forward})()
    adapter.model = module
    return adapter.eval()


def first_output(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    """Return the first of the module's outputs."""
    return (module(**inputs)[0],)


def first_two_outputs(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    """Return the first two of the module's outputs: hidden states and what is pooled of them."""
    outputs = module(**inputs)
    return (outputs[0], outputs[1])


def only_output(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    """Return the one tensor that the module gives back, called by position."""
    return (module(*inputs.values()),)
