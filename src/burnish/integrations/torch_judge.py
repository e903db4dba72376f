"""Whether a compiled graph gives what PyTorch gives, and if not, who is nearer to the truth."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from burnish.core import units
from burnish.core.arrays import Array
from burnish.integrations.torch_opened import NotCompiledError, array_of
from burnish.parity.compare import compare
from burnish.parity.tolerances import Tolerances

Tensor = Any
GraphModule = Any
"""PyTorch's types: torch is imported only where it is used."""

ALLOWED = 1.5
"""Times PyTorch's own error that a compiled graph's may be, where both are far from the truth."""


def judged(
    expected: Sequence[Any], found: Sequence[Any], truth: Callable[[], Sequence[Any]]
) -> tuple[str, ...]:
    """Return what there is to say of outputs that differ from PyTorch's and are no less right.

    Networks in 16 bits may be so sensitive that two right orders of summing differ by more than
    rounding explains; then both are held against the graph in f32. Raise where one is farther off.
    """
    wanted, given = _arrays(expected), _arrays(found)
    failing = [each for each in compare(wanted, given, Tolerances()) if not each.passed]
    if not failing:
        return ()
    right = _arrays(truth())
    notes = []
    for diff in failing:
        own, ours = (_error(each[diff.name], right[diff.name]) for each in (wanted, given))
        if not ours <= ALLOWED * own:
            raise NotCompiledError(f"its {diff.name} differs from PyTorch's: {diff.reason}")
        notes.append(
            f"{diff.name} differs from PyTorch's by more than rounding, and is as near to the graph"
            f" in f32: {units.error(ours)} of its root mean square away, PyTorch's own"
            f" {units.error(own)}"
        )
    return tuple(notes)


def in_f32(graph: GraphModule, values: Sequence[Any]) -> Sequence[Any]:
    """Return what a graph gives where its tensors of 16 bits are f32."""
    import torch

    with torch.no_grad():
        wide = copy.deepcopy(graph).float()
        found: Sequence[Any] = wide(*(_wide(each) for each in values))
    return found


def _wide(value: Any) -> Any:  # noqa: ANN401  (tensors and sizes)
    import torch

    if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16):
        return value.detach().float()
    return value


def _arrays(values: Sequence[Any]) -> dict[str, Array]:
    return dict(_named(values))


def _named(values: Sequence[Any]) -> Iterator[tuple[str, Array]]:
    import torch

    for number, value in enumerate(values):
        if isinstance(value, torch.Tensor):
            yield f"output_{number}", array_of(value)


def _error(array: Array, right: Array) -> float:
    """Return how far an array is from the truth, in the truth's root mean square."""
    if array.shape != right.shape or right.dtype.kind not in "fV":
        return float("nan")
    truth = right.astype(np.float64)
    apart = np.sqrt(np.mean((array.astype(np.float64) - truth) ** 2))
    return float(apart / max(float(np.sqrt(np.mean(truth**2))), 1e-30))
