"""NAFNet, a restorer of gates and depthwise convolutions."""

from __future__ import annotations

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.flat import only_output
from burnish.zoo.images import from_module


def _build(options: NetworkOptions) -> BuiltModel:
    from burnish.zoo.networks.nafnet import NafNet

    network = NafNet.small() if options.small else NafNet()
    # gates multiply what they are given, so that a gain of one would grow from block to block
    weights.randomise(network, seed=options.seed, gain=0.8)
    return from_module(
        network,
        options,
        size=16 if options.small else 256,
        call=only_output,
        output_names=("restored",),
    )


register(
    ModelEntry(
        name="nafnet",
        family="restoration",
        summary="7 blocks of width 16: LayerNorm over channels, split gates, bound by memory",
        parameters=288_691,
        inputs="pixel_values: f32[batch, 3, 256, 256]",
        idea="Chen et al. 2022, arXiv:2204.04676; code written here from the paper",
        build=_build,
    )
)
