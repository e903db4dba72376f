"""Networks that make pictures, volumes and fields, in the style of published ones.

Each function returns a module with seeded weights and its inputs, at batch 1, as `networks` does.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from networks import Built, image, seeded
from torch import Tensor, nn
from torch.nn import functional


def instance(inside: int, outside: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Return a convolution over reflected borders, normalised by image."""
    return nn.Sequential(
        nn.ReflectionPad2d(kernel // 2), nn.Conv2d(inside, outside, kernel, stride),
        nn.InstanceNorm2d(outside), nn.ReLU(),
    )  # fmt: skip


class Added(nn.Module):
    """A part's result, added to what it was given."""

    def __init__(self, *parts: nn.Module) -> None:
        super().__init__()
        self.parts = nn.Sequential(*parts)

    def forward(self, given: Tensor) -> Tensor:
        """Return the sum."""
        found: Tensor = given + self.parts(given)
        return found


@seeded
def cyclegan() -> Built:
    """Return CycleGAN's generator: reflected borders, norms by image, up by transposition."""
    up = [
        part for a, b in ((256, 128), (128, 64))
        for part in (
            nn.ConvTranspose2d(a, b, 3, 2, 1, output_padding=1), nn.InstanceNorm2d(b), nn.ReLU(),
        )
    ]  # fmt: skip
    network = nn.Sequential(
        instance(3, 64, 7), instance(64, 128, 3, 2), instance(128, 256, 3, 2),
        *(Added(instance(256, 256, 3), *instance(256, 256, 3)[:3]) for _ in range(6)),
        *up, nn.ReflectionPad2d(3), nn.Conv2d(64, 3, 7), nn.Tanh(),
    )  # fmt: skip
    return network, image(256)


class Modulated(nn.Module):
    """StyleGAN2's convolution: weights that each sample scales and normalises, then a blur."""

    def __init__(self, inside: int, outside: int, style: int, *, up: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outside, inside, 3, 3) / math.sqrt(9 * inside))
        self.scale, self.bias = nn.Linear(style, inside), nn.Parameter(torch.zeros(outside))
        self.noise = nn.Parameter(torch.tensor([0.1]))
        taps = torch.tensor([1.0, 3.0, 3.0, 1.0]) / 8
        self.register_buffer("taps", (taps[:, None] * taps)[None, None].repeat(outside, 1, 1, 1))
        self.up = up

    def forward(self, given: Tensor, style: Tensor) -> Tensor:
        """Return an image of the same or of twice the size."""
        batch, inside = given.shape[:2]
        weight = self.weight * (1 + self.scale(style))[:, None, :, None, None]
        weight = weight * (weight.square().sum((2, 3, 4), keepdim=True) + 1e-4).rsqrt()
        if self.up:
            given = functional.interpolate(given, scale_factor=2.0, mode="nearest")
        flat = given.reshape(1, batch * inside, *given.shape[2:])
        found = functional.conv2d(flat, weight.flatten(0, 1), padding=1, groups=batch)
        found = found.view(batch, -1, *found.shape[2:])
        if self.up:
            padded = functional.pad(found, (1, 2, 1, 2))
            found = functional.conv2d(padded, self.taps, groups=found.shape[1])  # type: ignore[arg-type]
        return functional.leaky_relu(found + self.noise + self.bias[:, None, None], 0.2)


class Synthesis(nn.Module):
    """StyleGAN2's network: a mapping of eight layers, then images of twice the size each."""

    def __init__(self, style: int = 256) -> None:
        super().__init__()
        layers = [part for _ in range(8) for part in (nn.Linear(style, style), nn.LeakyReLU(0.2))]
        self.mapping = nn.Sequential(*layers)
        self.start = nn.Parameter(torch.randn(1, 256, 4, 4))
        widths = (256, 256, 256, 128, 64, 32)
        self.layers = nn.ModuleList(
            Modulated(a, b, style, up=up) for a, c in pairwise(widths)
            for a, b, up in ((a, c, True), (c, c, False))
        )  # fmt: skip
        self.last = nn.Conv2d(32, 3, 1)

    def forward(self, latent: Tensor) -> Tensor:
        """Return images of 128×128."""
        style = self.mapping(latent * (latent.square().mean(1, keepdim=True) + 1e-4).rsqrt())
        found = self.start.expand(latent.shape[0], -1, -1, -1)
        for layer in self.layers:
            found = layer(found, style)
        result: Tensor = self.last(found)
        return result


@seeded
def stylegan() -> Built:
    """Return a StyleGAN2-like generator of 128×128 pixels."""
    return Synthesis(), (torch.randn(1, 256),)


class Correlated(nn.Module):
    """RAFT's heart: all pairs of places, looked up around a flow that a recurrence improves."""

    def __init__(self, width: int = 128, turns: int = 4, radius: int = 3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3), nn.InstanceNorm2d(64), nn.ReLU(),
            nn.Conv2d(64, 96, 3, 2, 1), nn.InstanceNorm2d(96), nn.ReLU(),
            nn.Conv2d(96, width, 3, 2, 1),
        )  # fmt: skip
        around = 2 * radius + 1
        self.motion = nn.Conv2d(2 * around * around + 2, width - 2, 1)
        self.gates = nn.Conv2d(2 * width, 2 * width, 3, padding=1)
        self.new = nn.Conv2d(2 * width, width, 3, padding=1)
        self.flow = nn.Conv2d(width, 2, 3, padding=1)
        steps = torch.arange(-radius, radius + 1).float()
        offsets = torch.stack(torch.meshgrid(steps, steps, indexing="xy"), -1)
        self.register_buffer("offsets", offsets)
        self.turns = turns

    def _looked_up(self, levels: list[Tensor], places: Tensor) -> Tensor:
        found = []
        for level, pairs in enumerate(levels):
            at = places.permute(0, 2, 3, 1).reshape(-1, 1, 1, 2) / 2**level + self.offsets
            rows, columns = pairs.shape[-2:]
            size = torch.tensor([columns - 1, rows - 1], dtype=at.dtype, device=at.device)
            near = functional.grid_sample(pairs, 2 * at / size - 1, align_corners=True)
            found.append(near.view(places.shape[0], *places.shape[2:], -1))
        return torch.cat(found, -1).permute(0, 3, 1, 2)

    def forward(self, given: Tensor) -> Tensor:
        """Return the flow between two images, side by side in six channels."""
        one, two = (self.features(each) for each in given.chunk(2, 1))
        batch, width, rows, columns = one.shape
        pairs = one.flatten(2).transpose(1, 2) @ two.flatten(2) / math.sqrt(width)
        first = pairs.view(batch * rows * columns, 1, rows, columns)
        levels = [first, functional.avg_pool2d(first, 2)]
        y, x = torch.meshgrid(
            torch.arange(rows, device=one.device), torch.arange(columns, device=one.device),
            indexing="ij",
        )  # fmt: skip
        start = torch.stack([x, y]).to(one.dtype)[None].expand(batch, -1, -1, -1)
        places, state = start, torch.tanh(one)
        for _ in range(self.turns):
            seen = torch.cat([self._looked_up(levels, places), places - start], 1)
            motion = torch.cat([torch.relu(self.motion(seen)), places - start], 1)
            update, reset = torch.sigmoid(self.gates(torch.cat([state, motion], 1))).chunk(2, 1)
            fresh = torch.tanh(self.new(torch.cat([reset * state, motion], 1)))
            state = (1 - update) * state + update * fresh
            places = places + self.flow(state)
        return places - start


@seeded
def raft() -> Built:
    """Return a RAFT-like network on two images of 128×192."""
    return Correlated(), (torch.randn(1, 6, 128, 192),)


def volume(inside: int, outside: int) -> nn.Sequential:
    """Return 3×3×3 twice, normalised by sample."""
    return nn.Sequential(
        nn.Conv3d(inside, outside, 3, padding=1), nn.InstanceNorm3d(outside), nn.LeakyReLU(),
        nn.Conv3d(outside, outside, 3, padding=1), nn.InstanceNorm3d(outside), nn.LeakyReLU(),
    )  # fmt: skip


class Volumes(nn.Module):
    """A U-Net of volumes: down by pooling, up by transposed convolutions."""

    def __init__(self, widths: tuple[int, ...] = (16, 32, 64, 128)) -> None:
        super().__init__()
        pairs = list(pairwise(widths))
        self.first = volume(1, widths[0])
        self.down = nn.ModuleList(volume(a, b) for a, b in pairs)
        self.up = nn.ModuleList(nn.ConvTranspose3d(b, a, 2, 2) for a, b in reversed(pairs))
        self.joined = nn.ModuleList(volume(2 * a, a) for a, _ in reversed(pairs))
        self.last = nn.Conv3d(widths[0], 3, 1)

    def forward(self, given: Tensor) -> Tensor:
        """Return three classes of each voxel."""
        kept = [self.first(given)]
        for down in self.down:
            kept.append(down(functional.max_pool3d(kept[-1], 2)))
        found = kept.pop()
        for up, joined in zip(self.up, self.joined, strict=True):
            found = joined(torch.cat([kept.pop(), up(found)], 1))
        result: Tensor = self.last(found)
        return result


@seeded
def unet3d() -> Built:
    """Return a U-Net on 64×64×64 voxels."""
    return Volumes(), (torch.randn(1, 1, 64, 64, 64),)


class Crossing(nn.Module):
    """A block of a diffusion network: attention to itself and to text, a gated perceptron."""

    def __init__(self, width: int, text: int, heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(3))
        self.query = nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(text, width, bias=False) for _ in range(2))
        self.outs = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.wide, self.narrow = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def _mixed(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        split = [n.unflatten(-1, (self.heads, -1)).transpose(1, 2) for n in (query, key, value)]
        found = functional.scaled_dot_product_attention(*split)
        return found.transpose(1, 2).flatten(2)

    def forward(self, given: Tensor, text: Tensor) -> Tensor:
        """Return the same shape."""
        inside = self.norms[0](given)
        given = given + self.outs[0](self._mixed(*(part(inside) for part in self.own)))
        query = self.query(self.norms[1](given))
        given = given + self.outs[1](self._mixed(query, self.key(text), self.value(text)))
        wide, gate = self.wide(self.norms[2](given)).chunk(2, -1)
        found: Tensor = given + self.narrow(wide * functional.gelu(gate))
        return found


class Denoising(nn.Module):
    """Two sizes of a latent diffusion network, with a step in time and 77 words."""

    def __init__(self, width: int = 160, text: int = 384) -> None:
        super().__init__()
        self.time = nn.Sequential(
            nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width)
        )
        self.words = nn.Parameter(torch.randn(1, 77, text))
        self.first, self.last = nn.Conv2d(4, width, 3, padding=1), nn.Conv2d(width, 4, 3, padding=1)
        self.norms = nn.ModuleList(nn.GroupNorm(32, n) for n in (width, width, 2 * width, width))
        self.down = nn.Conv2d(width, width, 3, 2, 1)
        self.steps = nn.ModuleList(
            nn.Conv2d(n, width, 3, padding=1) for n in (width, width, 2 * width, width)
        )
        self.blocks = nn.ModuleList(Crossing(width, text, 5) for _ in range(3))

    def _step(self, number: int, given: Tensor, time: Tensor) -> Tensor:
        found: Tensor = self.steps[number](functional.silu(self.norms[number](given)))
        return found + time[:, :, None, None]

    def _crossed(self, number: int, given: Tensor) -> Tensor:
        batch, _, rows, _ = given.shape
        flat = given.flatten(2).transpose(1, 2)
        found: Tensor = self.blocks[number](flat, self.words.expand(batch, -1, -1))
        return given + found.transpose(1, 2).unflatten(2, (rows, -1))

    def forward(self, given: Tensor) -> Tensor:
        """Return noise of the same shape; the step is read from the image's first element."""
        turns = torch.exp(torch.linspace(0, -9, 80, device=given.device)).to(given.dtype)
        angle = given[:, 0, 0, :1] * turns
        time = self.time(torch.cat([torch.cos(angle), torch.sin(angle)], 1))
        fine = self._crossed(0, self._step(0, self.first(given), time))
        coarse = self._crossed(1, self._step(1, self.down(fine), time))
        up = functional.interpolate(coarse, scale_factor=2.0, mode="nearest")
        found = self._crossed(2, self._step(2, torch.cat([fine, up], 1), time))
        result: Tensor = self.last(functional.silu(self.norms[3](found)))
        return result


@seeded
def latent_diffusion() -> Built:
    """Return a small latent diffusion network on 64×64."""
    return Denoising(), image(64, 4)


class Adaptive(nn.Module):
    """DiT's block: norms whose scale and shift come from a condition, gates on both branches."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.condition = nn.Linear(width, 6 * width)
        self.heads = heads

    def forward(self, given: Tensor, condition: Tensor) -> Tensor:
        """Return the same shape."""
        told = self.condition(functional.silu(condition))[:, None].chunk(6, -1)
        inside = self.norm(given) * (1 + told[0]) + told[1]
        split = self.qkv(inside).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(split[0], split[1], split[2])
        given = given + told[2] * self.out(mixed.transpose(1, 2).flatten(2))
        inside = self.norm(given) * (1 + told[3]) + told[4]
        wide = functional.gelu(self.wide(inside), approximate="tanh")
        found: Tensor = given + told[5] * self.narrow(wide)
        return found


class DiffusionTransformer(nn.Module):
    """DiT-S/2 on latents of 32×32."""

    def __init__(self, width: int = 384, layers: int = 12) -> None:
        super().__init__()
        self.patches = nn.Conv2d(4, width, 2, 2)
        self.places = nn.Parameter(0.02 * torch.randn(1, 256, width))
        self.condition = nn.Sequential(nn.Linear(4, width), nn.SiLU(), nn.Linear(width, width))
        self.layers = nn.ModuleList(Adaptive(width, 6) for _ in range(layers))
        self.last = nn.Linear(width, 32)

    def forward(self, given: Tensor) -> Tensor:
        """Return noise and its variance."""
        condition = self.condition(given[:, :, 0, 0])
        found = self.patches(given).flatten(2).transpose(1, 2) + self.places
        for layer in self.layers:
            found = layer(found, condition)
        flat = self.last(found).unflatten(1, (16, 16)).unflatten(3, (2, 2, 8))
        result: Tensor = flat.permute(0, 5, 1, 3, 2, 4).flatten(4, 5).flatten(2, 3)
        return result


@seeded
def dit() -> Built:
    """Return DiT-S/2."""
    return DiffusionTransformer(), image(32, 4)
