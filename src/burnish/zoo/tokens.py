"""Example inputs for models that read tokens: ids, masks, segments and positions."""

from __future__ import annotations

from typing import Any, Literal

Side = Literal["left", "right", "after-first"]
"""Where tokens are missing: before the others, after them, or between the first and the rest.

A causal model padded on the left has rows that may attend to nothing, for which PyTorch gives
zero and exported graphs, with as much reason, a mean; after the first token, no row is empty.
"""


def ids(batch: int, length: int, *, vocabulary: int, seed: int) -> Any:  # noqa: ANN401
    """Return token ids, none of them among the first five, which models reserve."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return torch.randint(5, vocabulary, (batch, length), generator=generator)


def mask(batch: int, length: int, *, side: Side) -> Any:  # noqa: ANN401  (a torch.Tensor)
    """Return a mask whose first row is full; the others lack up to half their tokens."""
    import torch

    missing = torch.arange(batch) * max(1, length // 4) % (length // 2 + 1)
    present = torch.arange(length)[None, :] < (length - missing)[:, None]
    if side != "right":
        present = present.flip(1)
    if side == "after-first":
        present[:, 0] = True
    return present.long()


def segments(batch: int, length: int) -> Any:  # noqa: ANN401  (a torch.Tensor)
    """Return 0 for the first half of the tokens and 1 for the second."""
    import torch

    return (torch.arange(length) >= length // 2).long().repeat(batch, 1)


def positions(mask: Any) -> Any:  # noqa: ANN401  (torch.Tensors)
    """Return each token's number among those that the mask leaves; 0 for the others."""
    return (mask.cumsum(1) - 1).clamp(min=0) * mask
