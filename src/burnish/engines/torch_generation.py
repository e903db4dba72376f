"""Write tokens with PyTorch: everything stays in tensors on their device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from burnish.engines.generation import Continuation
from burnish.engines.torch_values import Tensor


def writer(
    call: Callable[[Mapping[str, Tensor]], Sequence[Tensor]],
    begin: Mapping[str, Tensor],
    outputs: Sequence[str],
    how: Continuation,
) -> Callable[[], Tensor]:
    """Return what writes tokens after the inputs `begin`; `call` runs one step."""
    import torch

    def step(fed: dict[str, Any], given: Mapping[str, Tensor], chosen: Tensor) -> dict[str, Any]:
        small: dict[str, Any] = {how.ids: chosen}
        if how.mask:
            mask = fed["attention_mask"]
            small["attention_mask"] = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
        if how.positions:
            small["position_ids"] = fed["position_ids"][:, -1:] + 1
        return {**small, **{name: given[output] for name, output in how.past.items()}}

    def text() -> Tensor:
        fed, written = dict(begin), []
        with torch.inference_mode():
            for _ in range(how.tokens):
                given = dict(zip(outputs, call(fed), strict=True))
                chosen = given[how.logits][:, -1].argmax(dim=-1, keepdim=True)
                written.append(chosen)
                fed = step(fed, given, chosen)
            return torch.cat(written, dim=1)

    return text
