"""Seeded random weights under which everything a model computes shows in its output.

Usual initialisations (deviation 0.02, zero biases, unit norms) make attention almost uniform,
so that a dropped bias, mask or scale changes nothing one could measure. Here every layer keeps
its input's order of magnitude, and biases and norm weights are far from zero and one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from burnish.zoo.entry import Module, Tensors

BIAS_DEVIATION = 0.2
NORM_DEVIATION = 0.2
TABLE_DEVIATION = 0.5
"""Of parameters added as they are: class tokens, position tables, relative biases."""
_TRANSPOSED = "Conv1D"
"""The linear layer of GPT-2 in transformers, whose weight is stored input-first."""
_DRAWING = frozenset({
    "uniform_", "normal_", "trunc_normal_", "kaiming_uniform_", "kaiming_normal_",
    "xavier_uniform_", "xavier_normal_",
})  # fmt: skip
"""What modules fill their parameters with when they are made."""


@contextmanager
def undrawn() -> Iterator[None]:
    """Make modules without drawing parameters, which `randomise` does next; they are zeros.

    Layers draw theirs when they are made, and `transformers` draws them again: two thirds of the
    time that BERT-base takes to be built.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    class Undrawn(TorchFunctionMode):  # type: ignore[misc]  # torch has no types
        """Zeros in place of what would be drawn."""

        def __torch_function__(
            self,
            function: Any,  # noqa: ANN401  (whatever torch has)
            types: object,
            args: Sequence[Any] = (),
            kwargs: Mapping[str, Any] | None = None,
        ) -> Any:  # noqa: ANN401
            given = kwargs or {}
            if getattr(function, "__name__", "") not in _DRAWING:
                return function(*args, **given)
            with torch.no_grad():
                return (args[0] if args else given["tensor"]).zero_()

    with Undrawn():
        yield


def randomise(module: Module, *, seed: int, gain: float = 1.0) -> Module:
    """Give every floating-point parameter a value that matters, in place; return the module.

    A layer's output deviates `gain` times as much as its input: √2 makes up for what ReLU takes
    where no norm does.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    seen: set[int] = set()
    with torch.no_grad():
        for owner in module.modules():
            for name, parameter in owner.named_parameters(recurse=False):
                if id(parameter) in seen or not parameter.is_floating_point():
                    continue
                seen.add(id(parameter))
                noise = torch.randn(parameter.shape, generator=generator)
                mean, deviation = _distribution(owner, name, parameter, gain)
                parameter.copy_(mean + deviation * noise)
    return module.eval()


def _distribution(
    owner: Module,
    name: str,
    parameter: Any,  # noqa: ANN401  (a torch.Tensor)
    gain: float,
) -> tuple[float, float]:
    """Return the mean and deviation that keep the order of magnitude of what flows through."""
    from torch import nn

    if parameter.ndim == 0:
        return float(parameter), 0.0
    if "bias" in name and parameter.ndim == 1:
        return 0.0, BIAS_DEVIATION
    if parameter.ndim == 1:
        return 1.0, NORM_DEVIATION
    if isinstance(owner, nn.Embedding):
        # a tied output layer multiplies by this table: logits stay of order one
        return 0.0, 1 / math.sqrt(parameter.shape[1])
    if name == "weight" or name.endswith(("_weight", "proj")):
        return 0.0, gain / math.sqrt(_terms(owner, parameter))
    return 0.0, TABLE_DEVIATION


def _terms(owner: Module, parameter: Any) -> int:  # noqa: ANN401  (a torch.Tensor)
    """Return how many products each output of a layer sums."""
    if type(owner).__name__ == _TRANSPOSED:
        return int(parameter.shape[0])
    return max(1, int(parameter[0].numel()))


def calibrate_batch_norms(module: Module, inputs: Tensors) -> Module:
    """Set every batch norm's statistics to those of its own input, in place; return the module.

    Residual streams would grow by a factor per block otherwise. The statistics are rounded, so
    that the last bits of another machine's arithmetic do not change the model.
    """
    import torch
    from torch import nn

    norms = [part for part in module.modules() if isinstance(part, nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return module.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain mean over the calls, here one
        norm.train()
    with torch.no_grad():
        module(**inputs)
        for norm in norms:
            norm.momentum = 0.1
            for statistic in (norm.running_mean, norm.running_var):
                statistic.copy_(statistic.to(torch.bfloat16))
    return module.eval()
