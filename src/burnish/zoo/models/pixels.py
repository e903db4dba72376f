"""Networks from images to images, written here from their papers."""

from __future__ import annotations

from functools import partial

from burnish.zoo.entry import ModelEntry, register
from burnish.zoo.images import Edges, own_network

_restorer = partial(
    ModelEntry, family="restoration", inputs="pixel_values: f32[batch, 3, 256, 256]"
)

register(
    _restorer(
        name="nafnet",
        summary="7 blocks of width 16: LayerNorm over channels, split gates, bound by memory",
        parameters=288_691,
        idea="Chen et al. 2022, arXiv:2204.04676; code written here from the paper",
        # gates multiply what they are given, so that a gain of one would grow from block to block
        build=partial(own_network, "nafnet.NafNet", Edges(256, 16), output="restored", gain=0.8),
    ),
    _restorer(
        name="restormer",
        summary="44 blocks at 4 resolutions: tiny score matrices over rows as long as the image",
        parameters=26_126_644,
        idea="Zamir et al. 2021, arXiv:2111.09881; code written here from the paper",
        build=partial(own_network, "restormer.Restormer", Edges(256, 16), output="restored"),
    ),
    _restorer(
        name="bsrn",
        summary="8 blocks, 4 times the size: pointwise-depthwise pairs, concatenations, resizing",
        parameters=352_400,
        idea="Li et al. 2022, arXiv:2205.05996; code written here from the paper",
        build=partial(own_network, "bsrn.Bsrn", Edges(256, 20), output="upscaled"),
        understands=frozenset({"layers"}),
    ),
    ModelEntry(
        name="unet",
        family="vision",
        summary="100 classes for every pixel: BatchNorm to fold, big skips, bound by compute",
        parameters=31_044_068,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Ronneberger et al. 2015, arXiv:1505.04597; code written here from the paper",
        build=partial(own_network, "unet.UNet", Edges(224, 16)),
    ),
)
