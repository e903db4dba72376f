"""Example inputs for models that read tokens: ids, masks, segments and positions."""

from __future__ import annotations

from typing import Any, Literal

Side = Literal["left", "right"]


def ids(batch: int, length: int, *, vocabulary: int, seed: int) -> Any:  # noqa: ANN401
    """Return token ids, none of them among the first five, which models reserve."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return torch.randint(5, vocabulary, (batch, length), generator=generator)


def mask(batch: int, length: int, *, side: Side) -> Any:  # noqa: ANN401  (a torch.Tensor)
    """Return a mask whose first row is full; the others lack up to half their tokens."""
    import torch

    missing = torch.arange(batch) * max(1, length // 4) % (length // 2 + 1)
    lengths = length - missing
    positions = torch.arange(length)
    present = positions[None, :] < lengths[:, None]
    return (present if side == "right" else present.flip(1)).long()


def segments(batch: int, length: int) -> Any:  # noqa: ANN401  (a torch.Tensor)
    """Return 0 for the first half of the tokens and 1 for the second."""
    import torch

    return (torch.arange(length) >= length // 2).long().repeat(batch, 1)


def positions(mask: Any) -> Any:  # noqa: ANN401  (torch.Tensors)
    """Return each token's number among those that the mask leaves; 0 for the others."""
    return (mask.cumsum(1) - 1).clamp(min=0) * mask
