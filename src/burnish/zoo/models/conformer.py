"""The Conformer encoder for speech."""

from __future__ import annotations

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, Module, NetworkOptions, Tensors, register
from burnish.zoo.flat import flat, only_output
from burnish.zoo.precision import in_precision

BATCH = 2
FRAMES, SMALL_FRAMES = 512, 11
WIDTH, SMALL_WIDTH = 512, 32
FEED_FORWARD = 512
"""As in the network that compiler papers measure; four times that in the Conformer paper."""


def _build(options: NetworkOptions) -> BuiltModel:
    import torch

    def inputs(batch: int, time: int) -> Tensors:
        generator = torch.Generator().manual_seed(options.seed + time)
        width = SMALL_WIDTH if options.small else WIDTH
        # the first recording is full, each further one a third shorter than the one before
        lengths = [max(1, time * 2**row // 3**row) for row in range(batch)]
        return {
            "frames": torch.randn(batch, time, width, generator=generator),
            "lengths": torch.tensor(lengths),
        }

    batch = options.batch or BATCH
    time = options.sequence or (SMALL_FRAMES if options.small else FRAMES)
    first = inputs(batch, time)
    module = flat(_encoder(options), tuple(first), only_output)
    built = BuiltModel(
        module=weights.calibrate_batch_norms(module, first),
        inputs=first,
        second_inputs=inputs(batch + 1, time + 5),
        output_names=("encoded",),
        dynamic_axes={"frames": {0: "batch", 1: "time"}, "lengths": {0: "batch"}},
    )
    return in_precision(built, options.precision)


def _encoder(options: NetworkOptions) -> Module:
    from burnish.zoo.networks.conformer import Conformer

    layers = {} if options.layers is None else {"layers": options.layers}
    encoder = (
        Conformer.small(**layers)
        if options.small
        else Conformer(feed_forward=FEED_FORWARD, width=WIDTH, **layers)
    )
    return weights.randomise(encoder, seed=options.seed)


register(
    ModelEntry(
        name="conformer",
        family="audio",
        summary="12 layers of 512, kernel 31: attention with a shifted term, depthwise over time",
        parameters=38_098_944,
        inputs="frames: f32[batch, time, 512], lengths: i64[batch]",
        idea="Gulati et al. 2020, arXiv:2005.08100; code written here from the paper",
        build=_build,
        understands=frozenset({"layers", "sequence"}),
    )
)
