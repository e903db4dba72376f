"""Models of the `transformers` library, built from a configuration with seeded weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.zoo import weights
from burnish.zoo.entry import Module, NetworkOptions

TOKENS: Mapping[str, int] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
"""Token numbers that every vocabulary has, also that of a small copy."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """Which classes of `transformers` make a model, and at what sizes."""

    config: str
    model: str
    sizes: Mapping[str, Any]
    small: Mapping[str, Any]
    """The sizes that differ in a small copy."""
    layers: tuple[str, ...] = ("num_hidden_layers",)
    """The fields that count layers."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What is the same at every size: token numbers, switches."""

    def settings(self, options: NetworkOptions) -> dict[str, Any]:
        """Return the fields of the configuration that `options` ask for."""
        fields = {**self.fixed, **self.sizes, **(self.small if options.small else {})}
        if options.layers is not None:
            fields |= dict.fromkeys(self.layers, options.layers)
        return fields


def module_of(architecture: Architecture, options: NetworkOptions) -> Module:
    """Return the architecture's module with seeded weights, in eval mode."""
    import transformers

    config = getattr(transformers, architecture.config)(**architecture.settings(options))
    model = getattr(transformers, architecture.model)
    config._attn_implementation = options.attention if model._supports_sdpa else "eager"
    with weights.undrawn():
        made = model(config)
    return weights.randomise(made, seed=options.seed)
