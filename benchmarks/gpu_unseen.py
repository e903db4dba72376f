"""Models for `gpu_kernels.py` that no kernel, rule or price was made on.

`networks.NAME` is a function of `networks.py` (or of another file of `PLACES`), `timm.NAME` a model
of timm with random weights, and the names of `PUBLISHED` are configurations of `transformers`. They
are modules of fp16 at the batch that is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from networks import Built, image, published, seeded
from torch import Tensor, nn

from burnish.zoo.entry import BuiltModel

PLACES = (
    "networks", "breadth_fields", "breadth_images", "breadth_pictures", "breadth_signals",
    "breadth_tokens",
)  # fmt: skip
"""Files beside this one that have networks."""
STILL = 1e-2
"""A scale up to which a branch that it scales would be lost among roundings."""


@seeded
def wav2vec2() -> Built:
    """Return wav2vec 2.0 (base) on a second of sound."""
    return published("Wav2Vec2Model", "Wav2Vec2Config"), (torch.randn(1, 16_000),)


@seeded
def dinov2() -> Built:
    """Return DINOv2 (small) on one image."""
    network = published(
        "Dinov2Model", "Dinov2Config", hidden_size=384, num_attention_heads=6, image_size=224,
        patch_size=14,
    )  # fmt: skip
    return network, image()


PUBLISHED: Mapping[str, Callable[[], Built]] = {"wav2vec2": wav2vec2, "dinov2": dinov2}


def is_unseen(name: str) -> bool:
    """Say whether a name is one of this file's rather than of the zoo."""
    return name in PUBLISHED or "." in name


def built(name: str, batch: int) -> BuiltModel:
    """Return a model in fp16 with its inputs, as the zoo returns its own."""
    network, inputs = _factory(name)()
    _stirred(network)
    given = {"given" if not n else f"given_{n}": _fed(each, batch) for n, each in enumerate(inputs)}
    return BuiltModel(_Flat(network.half()).eval(), given, {}, ("found",), {})


def _factory(name: str) -> Callable[[], Built]:
    """Return what makes a model and inputs for it, in fp32 at batch 1."""
    place, _, own = name.partition(".")
    if name in PUBLISHED:
        return PUBLISHED[name]
    if place in PLACES:
        found: Callable[[], Built] = getattr(importlib.import_module(place), own)
        return found

    @seeded
    def of_timm() -> Built:
        timm: Any = importlib.import_module("timm")
        network: Any = timm.create_model(own, pretrained=False)
        return network, image(network.default_cfg["input_size"][-1])

    return of_timm


def _fed(given: Tensor, batch: int) -> Tensor:
    """Return so many different samples, numbers in fp16."""
    whole = torch.cat([given.roll(7 * number, -1) for number in range(batch)])
    return whole.half() if given.is_floating_point() else whole


def _stirred(network: nn.Module) -> None:
    """Give what begins as nothing a weight, so that errors show: a scale of 1e-6, a matrix of 0."""
    torch.manual_seed(1)
    for each in network.parameters():
        size = each.detach().abs()
        if each.numel() > 1 and float(size.max()) <= STILL and float(size.min()) > 0:
            nn.init.uniform_(each, 0.1, 0.3)
        elif each.dim() > 1 and not size.any():
            nn.init.normal_(each, std=each.shape[-1] ** -0.5)


class _Flat(nn.Module):
    """A network whose result is one tensor, in a tuple."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, *given: Tensor) -> tuple[Tensor]:
        """Return what the network gives first."""
        found = self.network(*given)
        return (found[0] if isinstance(found, tuple | list) else found,)
