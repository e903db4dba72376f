"""The perceptrons of neural radiance fields.

Mildenhall, Srinivasan, Tancik, Barron, Ramamoorthi and Ng, "NeRF: Representing Scenes as Neural
Radiance Fields for View Synthesis", ECCV 2020 (arXiv 2003.08934); the small one without biases is
the kind that Müller, Evans, Schied and Keller, "Instant Neural Graphics Primitives", SIGGRAPH 2022
(arXiv 2201.05989), put behind a learned encoding.
Good for: chains of products over millions of rows, where everything between the first read and the
last write could stay on the chip.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Nerf(nn.Module):
    """Density and colour of points seen from directions.

    The defaults are the paper's network: 8 layers of 256, the encoded position once more at the
    fifth, 595,844 parameters.
    """

    def __init__(
        self,
        *,
        depth: int = 8,
        width: int = 256,
        skip: int = 4,
        position_octaves: int = 10,
        direction_octaves: int = 4,
    ) -> None:
        super().__init__()
        self.encode_position = SineEncoding(position_octaves)
        self.encode_direction = SineEncoding(direction_octaves)
        position, direction = 3 + 6 * position_octaves, 3 + 6 * direction_octaves
        inputs = [position] + [width] * (depth - 1)
        inputs[skip + 1] += position
        self.skip = skip
        self.trunk = nn.ModuleList(nn.Linear(size, width) for size in inputs)
        self.density = nn.Linear(width, 1)
        self.feature = nn.Linear(width, width)
        self.view = nn.Linear(width + direction, width // 2)
        self.colour = nn.Linear(width // 2, 3)

    @classmethod
    def small(cls) -> Nerf:
        """Return a network of four narrow layers for tests."""
        return cls(depth=4, width=32, skip=1, position_octaves=4, direction_octaves=2)

    def forward(self, positions: Tensor, directions: Tensor) -> tuple[Tensor, Tensor]:
        """Return densities [points, 1] and colours [points, 3] for two [points, 3]."""
        encoded = self.encode_position(positions)
        hidden = encoded
        for index, layer in enumerate(self.trunk):
            hidden = torch.relu(layer(hidden))
            if index == self.skip:
                hidden = torch.cat([encoded, hidden], dim=-1)
        seen = torch.cat([self.feature(hidden), self.encode_direction(directions)], dim=-1)
        colours = torch.sigmoid(self.colour(torch.relu(self.view(seen))))
        return torch.relu(self.density(hidden)), colours


class SineEncoding(nn.Module):
    """A coordinate beside its sines and cosines at frequencies 1, 2, 4, 8 and so on."""

    def __init__(self, octaves: int) -> None:
        super().__init__()
        frequencies = 2.0 ** torch.arange(octaves, dtype=torch.float32)
        self.register_buffer("frequencies", frequencies, persistent=False)

    def forward(self, coordinates: Tensor) -> Tensor:
        """Return [points, 3 + 6 × octaves] for `coordinates` [points, 3]."""
        angles = (coordinates.unsqueeze(-1) * self.frequencies).flatten(start_dim=-2)
        return torch.cat([coordinates, torch.sin(angles), torch.cos(angles)], dim=-1)


class RayPerceptron(nn.Sequential):
    """Colours [rays, 3] from encoded rays [rays, width], through square layers without biases.

    The defaults, at 1920 × 1080 rays, are the network that compiler papers measure as "NeRF".
    """

    def __init__(self, *, layers: int = 7, width: int = 64) -> None:
        hidden = [nn.Linear(width, width, bias=False) for _ in range(layers - 1)]
        activated = [module for layer in hidden for module in (layer, nn.ReLU())]
        super().__init__(*activated, nn.Linear(width, 3, bias=False))

    @classmethod
    def small(cls, *, layers: int = 3) -> RayPerceptron:
        """Return a network of narrow layers for tests."""
        return cls(layers=layers, width=16)
