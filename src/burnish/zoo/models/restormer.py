"""Restormer, a restorer with attention over channels."""

from __future__ import annotations

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.flat import only_output
from burnish.zoo.images import from_module


def _build(options: NetworkOptions) -> BuiltModel:
    from burnish.zoo.networks.restormer import Restormer

    network = Restormer.small() if options.small else Restormer()
    weights.randomise(network, seed=options.seed)
    return from_module(
        network,
        options,
        size=16 if options.small else 256,
        call=only_output,
        output_names=("restored",),
    )


register(
    ModelEntry(
        name="restormer",
        family="restoration",
        summary="44 blocks at 4 resolutions: tiny score matrices over rows as long as the image",
        parameters=26_126_644,
        inputs="pixel_values: f32[batch, 3, 256, 256]",
        idea="Zamir et al. 2021, arXiv:2111.09881; code written here from the paper",
        build=_build,
    )
)
