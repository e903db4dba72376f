"""Models that read images: `pixel_values` in, logits or features out, any batch."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, Module, NetworkOptions, Tensors
from burnish.zoo.flat import Call, first_output, flat, only_output
from burnish.zoo.precision import in_precision
from burnish.zoo.pretrained import Architecture, module_of

BATCH = 2
CALIBRATION_IMAGES = 8
"""Enough that no channel's variance is near zero at the smallest resolution."""


class Edges(NamedTuple):
    """How many pixels wide and high a model's images are, and those of its small copy."""

    full: int
    small: int


IMAGENET = Edges(224, 32)


def classifier(
    architecture: Architecture,
    options: NetworkOptions,
    *,
    edges: Edges = IMAGENET,
    call: Call = first_output,
    output_names: tuple[str, ...] = ("logits",),
) -> BuiltModel:
    """Return a model of `transformers` that reads square images of one size."""
    module = module_of(architecture, options)
    return from_module(module, options, edges, call=call, output_names=output_names)


def own_network(
    name: str, edges: Edges, options: NetworkOptions, *, output: str = "logits", gain: float = 1.0
) -> BuiltModel:
    """Return a network of `zoo.networks`, named by its module and class, with seeded weights."""
    module, _, kind = name.partition(".")
    network = getattr(import_module(f"burnish.zoo.networks.{module}"), kind)
    layers = {} if options.layers is None else {"layers": options.layers}
    with weights.undrawn():
        made = network.small(**layers) if options.small else network(**layers)
    weights.randomise(made, seed=options.seed, gain=gain)
    return from_module(made, options, edges, call=only_output, output_names=(output,))


def from_module(
    module: Module,
    options: NetworkOptions,
    edges: Edges,
    *,
    call: Call = first_output,
    output_names: tuple[str, ...] = ("logits",),
) -> BuiltModel:
    """Return a model of square images around a module whose weights are set."""
    batch, size = options.batch or BATCH, edges.small if options.small else edges.full
    first = _pixels(batch, size, seed=options.seed)
    adapter = flat(module, tuple(first), call)
    calibration = _pixels(CALIBRATION_IMAGES, size, seed=options.seed + 2)
    built = BuiltModel(
        module=weights.calibrate_batch_norms(adapter, calibration),
        inputs=first,
        second_inputs=_pixels(batch + 1, size, seed=options.seed + 1),
        output_names=output_names,
        dynamic_axes={"pixel_values": {0: "batch"}},
    )
    return in_precision(built, options.precision)


def _pixels(batch: int, size: int, *, seed: int) -> Tensors:
    import torch

    generator = torch.Generator().manual_seed(seed)
    return {"pixel_values": torch.randn(batch, 3, size, size, generator=generator)}
