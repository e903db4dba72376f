"""The Conformer encoder, attention and convolution in turn over frames of speech.

Gulati, Qin, Chiu and others, "Conformer: Convolution-augmented Transformer for Speech
Recognition", Interspeech 2020 (arXiv 2005.08100); its relative positions are those of Dai, Yang and
others, "Transformer-XL", ACL 2019 (arXiv 1901.02860).
Good for: attention with a shifted positional term, padding masks from lengths, half-step
feed-forwards, gated and depthwise one-dimensional convolutions with BatchNorm.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class Conformer(nn.Module):
    """An encoder: frames [batch, time, width] and lengths [batch] in, frames out.

    Frames at or after a row's length are neither attended to nor convolved; what comes out at
    their places means nothing. The feed-forward is four times as wide in the paper and as wide as
    the frames in the network that compiler papers measure (`feed_forward=512`).
    """

    def __init__(
        self,
        *,
        layers: int = 12,
        width: int = 512,
        heads: int = 8,
        feed_forward: int = 2048,
        kernel: int = 31,
    ) -> None:
        super().__init__()
        self.positions = RelativePositions(width)
        self.layers = nn.ModuleList(
            ConformerLayer(width, heads, feed_forward, kernel) for _ in range(layers)
        )

    @classmethod
    def small(cls, *, layers: int = 2) -> Conformer:
        """Return an encoder of narrow layers for tests."""
        return cls(layers=layers, width=32, heads=4, feed_forward=64, kernel=7)

    def forward(self, frames: Tensor, lengths: Tensor) -> Tensor:
        """Return encoded `frames`; `lengths` are at least one."""
        time = torch.arange(frames.shape[1], device=frames.device)
        padding = time.unsqueeze(0) >= lengths.unsqueeze(1)
        positions = self.positions(frames)
        for layer in self.layers:
            frames = layer(frames, positions, padding)
        return frames


class RelativePositions(nn.Module):
    """Sines and cosines of the distances from time - 1 down to 1 - time."""

    def __init__(self, width: int) -> None:
        super().__init__()
        exponents = torch.arange(0, width, 2, dtype=torch.float32) / width
        self.register_buffer("frequencies", 10000.0**-exponents, persistent=False)

    def forward(self, frames: Tensor) -> Tensor:
        """Return [2 × time - 1, width] for `frames` [batch, time, width]."""
        time = frames.shape[1]
        distances = torch.arange(time - 1, -time, -1, device=frames.device)
        angles = distances.to(frames.dtype).unsqueeze(1) * self.frequencies.to(frames.dtype)
        return torch.stack([torch.sin(angles), torch.cos(angles)], dim=-1).flatten(start_dim=1)


class ConformerLayer(nn.Module):
    """Half a feed-forward, attention, convolution, half a feed-forward, LayerNorm."""

    def __init__(self, width: int, heads: int, feed_forward: int, kernel: int) -> None:
        super().__init__()
        self.first = _feed_forward(width, feed_forward)
        self.attention_norm = nn.LayerNorm(width)
        self.attention = RelativeAttention(width, heads)
        self.convolution = Convolution(width, kernel)
        self.second = _feed_forward(width, feed_forward)
        self.norm = nn.LayerNorm(width)

    def forward(self, frames: Tensor, positions: Tensor, padding: Tensor) -> Tensor:
        """Return `frames` after the four residuals."""
        frames = frames + 0.5 * self.first(frames)
        frames = frames + self.attention(self.attention_norm(frames), positions, padding)
        frames = frames + self.convolution(frames, padding)
        frames = frames + 0.5 * self.second(frames)
        return self.norm(frames)


class RelativeAttention(nn.Module):
    """Self-attention whose scores add a term for the distance between query and key."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.scale = 1.0 / math.sqrt(self.head_width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.position = nn.Linear(width, width, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(heads, 1, width // heads))
        self.position_bias = nn.Parameter(torch.zeros(heads, 1, width // heads))
        self.output = nn.Linear(width, width)

    def forward(self, frames: Tensor, positions: Tensor, padding: Tensor) -> Tensor:
        """Return attended `frames`; keys where `padding` is true have no weight."""
        query = self._per_head(self.query(frames))
        key = self._per_head(self.key(frames))
        value = self._per_head(self.value(frames))
        distance = self._per_head(self.position(positions).unsqueeze(0))
        content_scores = (query + self.content_bias) @ key.transpose(-1, -2)
        position_scores = shifted((query + self.position_bias) @ distance.transpose(-1, -2))
        scores = (content_scores + position_scores) * self.scale
        lowest = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(padding[:, None, None, :], lowest)
        attended = torch.softmax(scores, dim=-1) @ value
        return self.output(attended.transpose(1, 2).reshape(frames.shape))

    def _per_head(self, rows: Tensor) -> Tensor:
        return rows.view(rows.shape[0], -1, self.heads, self.head_width).transpose(1, 2)


def shifted(scores: Tensor) -> Tensor:
    """Return [..., t, t] from [..., t, 2 t - 1]: row i starts at column t - 1 - i.

    One more column in front makes rows 2 t long. All rows in one, without the first t elements,
    and cut into rows of 2 t - 1 again: each row begins one element earlier than the row before.
    """
    batch, heads, time, _ = scores.shape
    in_one = functional.pad(scores, (1, 0)).reshape(batch, heads, -1)
    return in_one[:, :, time:].reshape(batch, heads, time, -1)[..., :time]


class Convolution(nn.Module):
    """A gated pointwise, a depthwise and a pointwise convolution along time."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.expand = nn.Conv1d(width, 2 * width, 1)
        self.depthwise = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.batch_norm = nn.BatchNorm1d(width)
        self.reduce = nn.Conv1d(width, width, 1)

    def forward(self, frames: Tensor, padding: Tensor) -> Tensor:
        """Return convolved `frames`; those where `padding` is true count as zeros."""
        channels = functional.glu(self.expand(self.norm(frames).transpose(1, 2)), dim=1)
        channels = self.depthwise(channels.masked_fill(padding.unsqueeze(1), 0.0))
        return self.reduce(functional.silu(self.batch_norm(channels))).transpose(1, 2)


def _feed_forward(width: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, hidden), nn.SiLU(), nn.Linear(hidden, width)
    )
