"""Who is right where a compiled graph and PyTorch differ."""

from __future__ import annotations

import pytest
import torch

from burnish.integrations.torch_judge import in_f32, judged
from burnish.integrations.torch_opened import NotCompiledError

pytestmark = pytest.mark.torch

TRUTH = torch.linspace(1, 2, 64)


def off(by: float, sign: int = 1) -> tuple[torch.Tensor]:
    signs = sign * (1 - 2 * (torch.arange(64) % 2))
    return ((TRUTH + by * signs).half(),)


def never() -> tuple[torch.Tensor]:
    raise AssertionError("nobody asks")


def test_what_is_equal_within_rounding_needs_no_judge() -> None:
    assert judged(off(1e-4), off(-1e-4), never) == ()


def test_what_differs_and_is_as_near_to_the_truth_is_taken_with_a_note() -> None:
    (note,) = judged(off(0.05), off(0.06, -1), lambda: (TRUTH,))
    assert note.startswith("output_0 differs from PyTorch's by more than rounding, and is as near")
    assert note.endswith("of its root mean square away, PyTorch's own 0.033")


@pytest.mark.parametrize("ours", [0.2, float("nan"), float("inf")])
def test_what_is_farther_from_the_truth_is_not_taken(ours: float) -> None:
    with pytest.raises(NotCompiledError, match="its output_0 differs from PyTorch's: "):
        judged(off(0.05), off(ours), lambda: (TRUTH,))


def test_whole_numbers_that_differ_are_not_taken() -> None:
    with pytest.raises(NotCompiledError, match="its output_0 differs"):
        judged((torch.arange(4),), (torch.arange(4) + 1,), lambda: (torch.arange(4),))


def test_a_graph_in_f32_has_weights_and_inputs_in_f32() -> None:
    graph = torch.fx.symbolic_trace(torch.nn.Linear(4, 4).half())
    (found,) = (in_f32(graph, (torch.ones(2, 4).half(),)),)
    assert found.dtype == torch.float32
