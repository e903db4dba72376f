"""In whose memory the outputs of a graph lie, and in which order.

Who calls a graph may write into what it gave: a view of an input, or of another output, must be one
for a compiled graph too. Which of them are views is seen in what PyTorch itself gave.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnish.integrations.torch_opened import NotCompiledError, is_tensor

Tensor = Any
"""`torch.Tensor`: torch is imported only where it is used."""


@dataclass(frozen=True, slots=True)
class OutputMemory:
    """How an output lies in memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    of_value: int | None = None
    """Which of the graph's values it is a view of; that needs not be computed."""
    of_output: int | None = None
    """Which other output it is a view of."""
    offset: int = 0
    """Elements from the first of what it is a view of to its own first."""

    @property
    def is_view(self) -> bool:
        """Say whether it is in another tensor's memory."""
        return self.of_value is not None or self.of_output is not None


def memory_of(outputs: Sequence[Any], values: Sequence[Any]) -> tuple[OutputMemory | None, ...]:
    """Return how each output lies; None: it is no tensor.

    `NotCompiledError` says why this cannot be had of memory that somebody else computes.
    """
    lying = [_in_a_value(each, values) if is_tensor(each) else None for each in outputs]
    own = [n for n, each in enumerate(lying) if each is not None and not each.is_view]
    storages: dict[int, list[int]] = {}
    for n in own:
        if outputs[n].numel():
            storages.setdefault(_storage(outputs[n]), []).append(n)
    for together in storages.values():
        for n, found in _in_one_output(outputs, together).items():
            lying[n] = found
    return tuple(lying)


def laid(
    outputs: Sequence[Any], values: Sequence[Any], memory: Sequence[OutputMemory | None]
) -> tuple[Any, ...]:
    """Return outputs, as computed, the way they are to lie; views are made, whatever is there."""
    own = [
        each if lies is None or lies.is_view else _in_order(each, lies)
        for each, lies in zip(outputs, memory, strict=True)
    ]
    return tuple(
        each if lies is None or not lies.is_view else _view(own, values, lies)
        for each, lies in zip(own, memory, strict=True)
    )


def _in_a_value(output: Tensor, values: Sequence[Any]) -> OutputMemory:
    """Return how an output lies: in the memory of a value, or in its own for all we know yet."""
    plain = OutputMemory(tuple(output.shape), tuple(output.stride()))
    if not output.numel():
        return plain
    owners = [
        n for n, each in enumerate(values) if is_tensor(each) and _storage(each) == _storage(output)
    ]
    if not owners:
        return plain
    owner = values[owners[0]]
    # two inputs that share memory now need not do so in the next call
    if len(owners) > 1 or not _same_kind(owner, output):
        raise NotCompiledError(
            "an output is a view of an input in a way that is not known for sure"
        )
    offset = output.storage_offset() - owner.storage_offset()
    return OutputMemory(plain.shape, plain.strides, of_value=owners[0], offset=offset)


def _in_one_output(outputs: Sequence[Any], together: Sequence[int]) -> dict[int, OutputMemory]:
    """Return how outputs of one block of memory lie in that of them which has all others in it."""
    spans = {n: _span(outputs[n]) for n in together}
    ordered = sorted(spans.values())
    if all(one[1] < two[0] for one, two in itertools.pairwise(ordered)):
        return {}
    ends = min(first for first, _ in ordered), max(last for _, last in ordered)
    whole = next((n for n in together if spans[n] == ends and outputs[n].is_contiguous()), None)
    if whole is None or not all(_same_kind(outputs[whole], outputs[n]) for n in together):
        raise NotCompiledError("its outputs share memory, and none of them has all of it")
    return {
        n: OutputMemory(
            tuple(outputs[n].shape),
            tuple(outputs[n].stride()),
            of_output=whole,
            offset=spans[n][0] - ends[0],
        )
        for n in together
        if n != whole
    }


def _span(tensor: Tensor) -> tuple[int, int]:
    """Return the first and the last element of its storage that a tensor reaches."""
    first = tensor.storage_offset()
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return first, first + sum((size - 1) * stride for size, stride in steps)


def _in_order(tensor: Tensor, memory: OutputMemory) -> Tensor:
    """Return a dense tensor in the order in which PyTorch would have it, where that is dense."""
    import torch

    if tuple(tensor.stride()) == memory.strides:
        return tensor
    if 0 in memory.strides and tensor.numel():  # one element in many places
        first = [slice(0, 1) if step == 0 else slice(None) for step in memory.strides]
        return tensor[tuple(first)].expand(memory.shape)
    found = torch.empty_strided(
        memory.shape, memory.strides, dtype=tensor.dtype, device=tensor.device
    )
    if not torch.ops.aten.is_non_overlapping_and_dense(found):
        return tensor
    return found.copy_(tensor)


def _view(outputs: Sequence[Any], values: Sequence[Any], memory: OutputMemory) -> Tensor:
    owner = (
        values[memory.of_value] if memory.of_value is not None else outputs[memory.of_output or 0]
    )
    start = owner.storage_offset() + memory.offset
    # not detached: what is a view of a weight says that it wants gradients, as PyTorch's does
    return owner.as_strided(memory.shape, memory.strides, start)


def _same_kind(one: Tensor, two: Tensor) -> bool:
    """Say whether the same bytes mean the same in both."""
    return bool(
        one.dtype == two.dtype and one.is_conj() == two.is_conj() and one.is_neg() == two.is_neg()
    )


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())
