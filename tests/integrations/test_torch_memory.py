"""Outputs lie in the memory in which PyTorch has them, whoever computes them."""

from __future__ import annotations

import pytest
import torch

from burnish.integrations.torch_memory import laid, memory_of
from burnish.integrations.torch_opened import NotCompiledError

pytestmark = pytest.mark.torch


def again(outputs: list[torch.Tensor], values: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return outputs as somebody else would compute them, laid like these."""
    memory = memory_of(outputs, values)
    computed = [
        None if lies is None or lies.is_view else each.clone(memory_format=torch.contiguous_format)
        for each, lies in zip(outputs, memory, strict=True)
    ]
    return laid(computed, values, memory)


def test_a_view_of_an_input_is_one() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    part = x[1:]  # begins behind the memory's first element
    rows, sums = again([part.t(), part + 1], [part])
    assert torch.equal(rows, part.t())
    rows.zero_()
    assert part.tolist() == [[0.0] * 4] * 2
    assert x[0].tolist() == [0, 1, 2, 3]
    assert sums[0, 0] == 5


def test_a_view_of_another_output_is_one() -> None:
    whole = torch.arange(6.0).reshape(2, 3)
    column, copied, none = again([whole[:, 1], whole, torch.ones(0)], [])
    column.fill_(9)
    assert copied.tolist() == [[0, 9, 2], [3, 9, 5]]
    assert none.shape == (0,)
    assert whole[0, 1] == 1


def test_parts_of_a_block_that_do_not_meet_are_apart() -> None:
    whole = torch.arange(6.0)
    first, last = again([whole[:3], whole[3:]], [])
    assert (first.tolist(), last.tolist()) == ([0, 1, 2], [3, 4, 5])


def test_dense_outputs_lie_in_pytorchs_order() -> None:
    picture = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    wide = torch.ones(1, 1).expand(3, 4)
    found, widened = again([picture, wide], [])
    assert found.stride() == picture.stride()
    assert torch.equal(found, picture)
    assert widened.stride() == wide.stride()
    widened[0, 0] = 7
    assert widened.tolist() == [[7.0] * 4] * 3


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda x: ([x.view(torch.int32)], [x]), "an output is a view of an input in a way that"),
        (lambda x: ([x[1:]], [x, x[:2]]), "an output is a view of an input in a way that"),
        (lambda x: ([x[:3], x[2:]], []), "its outputs share memory, and none of them has all of"),
    ],
)
def test_what_cannot_be_laid_is_left_to_pytorch(make: object, reason: str) -> None:
    with pytest.raises(NotCompiledError, match=reason):
        memory_of(*make(torch.arange(4.0)))  # type: ignore[operator]
