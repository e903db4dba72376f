"""Models that read images: `pixel_values` in, logits or features out, any batch."""

from __future__ import annotations

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, Module, NetworkOptions, Tensors
from burnish.zoo.flat import Call, first_output, flat
from burnish.zoo.precision import in_precision
from burnish.zoo.pretrained import Architecture, module_of

BATCH = 2
CALIBRATION_IMAGES = 8
"""Enough that no channel's variance is near zero at the smallest resolution."""


def classifier(
    architecture: Architecture,
    options: NetworkOptions,
    *,
    size: int,
    call: Call = first_output,
    output_names: tuple[str, ...] = ("logits",),
) -> BuiltModel:
    """Return a model of `transformers` that reads square images of one size."""
    module = module_of(architecture, options)
    return from_module(module, options, size=size, call=call, output_names=output_names)


def from_module(
    module: Module,
    options: NetworkOptions,
    *,
    size: int,
    call: Call = first_output,
    output_names: tuple[str, ...] = ("logits",),
) -> BuiltModel:
    """Return a model of square images around a module whose weights are set."""
    batch = options.batch or BATCH
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
