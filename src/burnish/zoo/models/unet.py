"""The U-Net for segmentation."""

from __future__ import annotations

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.flat import only_output
from burnish.zoo.images import from_module


def _build(options: NetworkOptions) -> BuiltModel:
    from burnish.zoo.networks.unet import UNet

    network = UNet.small() if options.small else UNet()
    weights.randomise(network, seed=options.seed)
    return from_module(network, options, size=16 if options.small else 224, call=only_output)


register(
    ModelEntry(
        name="unet",
        family="vision",
        summary="100 classes for every pixel: BatchNorm to fold, big skips, bound by compute",
        parameters=31_044_068,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Ronneberger et al. 2015, arXiv:1505.04597; code written here from the paper",
        build=_build,
    )
)
