"""Networks that are functions of places, or work on such, in the style of published ones.

Each function returns a module with seeded weights and its inputs, at batch 1, as `networks` does.
"""

from __future__ import annotations

import math

import torch
from networks import Built, seeded
from torch import Tensor, nn
from torch.nn import functional


class Spectral(nn.Module):
    """A layer of a Fourier operator: the lowest frequencies are mixed, the rest is dropped."""

    def __init__(self, width: int, modes: int) -> None:
        super().__init__()
        scale = 1 / width
        self.weight = nn.Parameter(scale * torch.randn(2, 2, width, width, modes, modes))
        self.side, self.modes = nn.Conv2d(width, width, 1), modes

    def forward(self, given: Tensor) -> Tensor:
        """Return an image of the same size, from products with cosines and sines."""
        rows, columns = given.shape[-2:]
        kept = torch.cat([torch.arange(self.modes), torch.arange(rows - self.modes, rows)])
        down = self._wave(kept, rows, given)
        across = self._wave(torch.arange(self.modes), columns, given)
        real = torch.einsum("bixy,kx,ly->bikl", given, down[0], across[0])
        real = real - torch.einsum("bixy,kx,ly->bikl", given, down[1], across[1])
        other = torch.einsum("bixy,kx,ly->bikl", given, down[0], across[1])
        other = other + torch.einsum("bixy,kx,ly->bikl", given, down[1], across[0])
        weight = torch.cat([self.weight[:, 0], self.weight[:, 1]], 3)
        new = torch.einsum("bikl,iokl->bokl", real, weight[0]) - torch.einsum(
            "bikl,iokl->bokl", other, weight[1]
        )
        back = torch.einsum("bokl,kx,ly->boxy", new, down[0], across[0]) / columns
        return functional.gelu(back + self.side(given))

    @staticmethod
    def _wave(kept: Tensor, size: int, like: Tensor) -> tuple[Tensor, Tensor]:
        angle = -2 * math.pi / size * kept[:, None] * torch.arange(size)
        scale = size**-0.5
        cosine, sine = scale * torch.cos(angle), scale * torch.sin(angle)
        return cosine.to(like), sine.to(like)


@seeded
def fourier() -> Built:
    """Return a Fourier operator of four layers on 64×64."""
    body = [Spectral(32, 12) for _ in range(4)]
    return nn.Sequential(nn.Conv2d(3, 32, 1), *body, nn.Conv2d(32, 1, 1)), (
        torch.randn(1, 3, 64, 64),
    )


class Sine(nn.Module):
    """A layer of SIREN."""

    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inside, outside)
        nn.init.uniform_(self.linear.weight, -0.08, 0.08)

    def forward(self, given: Tensor) -> Tensor:
        """Return sines."""
        return torch.sin(30 * self.linear(given))


@seeded
def siren() -> Built:
    """Return SIREN on 65,536 places."""
    body = [Sine(2, 256), *(Sine(256, 256) for _ in range(3))]
    return nn.Sequential(*body, nn.Linear(256, 3)), (torch.rand(1, 65_536, 2) * 2 - 1,)


class Planes(nn.Module):
    """TensoRF: features looked up in planes and lines, then a small perceptron."""

    def __init__(self, width: int = 16, size: int = 128) -> None:
        super().__init__()
        self.planes = nn.Parameter(torch.randn(3, width, size, size))
        self.lines = nn.Parameter(torch.randn(3, width, size, 1))
        self.basis = nn.Linear(3 * width, 27, bias=False)
        self.color = nn.Sequential(
            nn.Linear(27, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3),
            nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, places: Tensor) -> Tensor:
        """Return colours of places in three dimensions."""
        flat = places.flatten(0, 1)
        pairs = torch.stack([flat[:, :2], flat[:, 1:], flat[:, ::2]])[:, :, None]
        third = torch.stack([flat[:, 2], flat[:, 0], flat[:, 1]])
        along = torch.stack([torch.zeros_like(third), third], -1)[:, :, None]
        plane = functional.grid_sample(self.planes, pairs, align_corners=True)
        line = functional.grid_sample(self.lines, along, align_corners=True)
        features = (plane * line).squeeze(-1).permute(2, 0, 1).flatten(1)
        found: Tensor = self.color(self.basis(features)).unflatten(0, places.shape[:2])
        return found


@seeded
def tensorf() -> Built:
    """Return a TensoRF-like field on 16,384 places."""
    return Planes(), (torch.rand(1, 16_384, 3) * 2 - 1,)
