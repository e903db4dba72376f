"""BSRN, an upscaler of blueprint separable convolutions."""

from __future__ import annotations

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.flat import only_output
from burnish.zoo.images import from_module


def _build(options: NetworkOptions) -> BuiltModel:
    from burnish.zoo.networks.bsrn import Bsrn

    blocks = {} if options.layers is None else {"blocks": options.layers}
    network = Bsrn.small(**blocks) if options.small else Bsrn(**blocks)
    weights.randomise(network, seed=options.seed)
    return from_module(
        network,
        options,
        size=20 if options.small else 256,
        call=only_output,
        output_names=("upscaled",),
    )


register(
    ModelEntry(
        name="bsrn",
        family="restoration",
        summary="8 blocks, 4 times the size: pointwise-depthwise pairs, concatenations, resizing",
        parameters=352_400,
        inputs="pixel_values: f32[batch, 3, 256, 256]",
        idea="Li et al. 2022, arXiv:2205.05996; code written here from the paper",
        build=_build,
        understands=frozenset({"layers"}),
    )
)
