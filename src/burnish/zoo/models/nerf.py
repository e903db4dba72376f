"""The perceptrons of neural radiance fields."""

from __future__ import annotations

import math
from typing import Any

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, Module, NetworkOptions, Tensors, register
from burnish.zoo.flat import Call, flat, only_output
from burnish.zoo.precision import in_precision

POINTS, SMALL_POINTS = 4096, 100


def _build(options: NetworkOptions) -> BuiltModel:
    from burnish.zoo.networks.nerf import Nerf

    network = Nerf.small() if options.small else Nerf()
    return _built(network, {"positions": 3, "directions": 3}, ("density", "colour"), options)


def _build_mlp(options: NetworkOptions) -> BuiltModel:
    from burnish.zoo.networks.nerf import RayPerceptron

    layers = {} if options.layers is None else {"layers": options.layers}
    network = RayPerceptron.small(**layers) if options.small else RayPerceptron(**layers)
    return _built(network, {"encoded": network[0].in_features}, ("colour",), options)


def _built(
    network: Module, columns: dict[str, int], output_names: tuple[str, ...], options: NetworkOptions
) -> BuiltModel:
    import torch

    def inputs(points: int, seed: int) -> Tensors:
        generator = torch.Generator().manual_seed(seed)
        return {
            name: torch.randn(points, count, generator=generator) for name, count in columns.items()
        }

    # images have no batch here: their pixels follow one another
    points = (options.batch or 1) * (options.sequence or _points(options))
    call: Call = only_output if len(output_names) == 1 else _all_outputs
    built = BuiltModel(
        module=flat(
            weights.randomise(network, seed=options.seed, gain=math.sqrt(2)), tuple(columns), call
        ),
        inputs=inputs(points, options.seed),
        second_inputs=inputs(points + 5, options.seed + 1),
        output_names=output_names,
        dynamic_axes={name: {0: "points"} for name in columns},
    )
    return in_precision(built, options.precision)


def _points(options: NetworkOptions) -> int:
    return SMALL_POINTS if options.small else POINTS


def _all_outputs(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    return tuple(module(**inputs))


register(
    ModelEntry(
        name="nerf",
        family="rendering",
        summary="8 layers of 256 from encoded points and directions to density and colour",
        parameters=595_844,
        inputs="positions, directions: f32[points, 3]",
        idea="Mildenhall et al. 2020, arXiv:2003.08934; code written here from the paper",
        build=_build,
        understands=frozenset({"sequence"}),
    )
)
register(
    ModelEntry(
        name="nerf-mlp",
        family="rendering",
        summary="7 layers of 64 without biases, the chain that one kernel could hold; "
        "--sequence 2073600 for every pixel of 1920×1080",
        parameters=24_768,
        inputs="encoded: f32[points, 64]",
        idea="Müller et al. 2022, arXiv:2201.05989; code written here from the paper",
        build=_build_mlp,
        understands=frozenset({"layers", "sequence"}),
    )
)
