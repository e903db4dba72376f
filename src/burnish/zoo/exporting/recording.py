"""What PyTorch computes, as the judge of what is exported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.store.datasets import DataSet
from burnish.zoo.entry import BuiltModel, Module, Tensors
from burnish.zoo.precision import cast

_HALF_BYTES = 2


def recorded(built: BuiltModel, inputs: Tensors) -> DataSet:
    """Return inputs and what the module makes of them, as arrays."""
    import torch

    with torch.inference_mode():
        outputs = built.module(**inputs)
    pairs = zip(built.output_names, outputs, strict=True)
    return DataSet(
        {name: array_of(tensor) for name, tensor in inputs.items()},
        {name: array_of(tensor) for name, tensor in pairs},
    )


def judging(built: BuiltModel, inputs: Sequence[Tensors]) -> list[DataSet]:
    """Return what an export is judged by: all inputs, and what the module makes of them.

    A module of 16 bits is computed in f32, and what it gives is rounded once: processors that
    add in 16 bits drift away from each other, and the drift of one is no measure for another.
    Not so where masks go in: they are filled with the least number of the type, and a row that
    is masked throughout means something else in another type.
    """
    if not all(map(_goes_wide, (tensor for one in inputs for tensor in one.values()))):
        return [recorded(built, one) for one in inputs]
    try:
        types = [_output_types(built, one) for one in inputs]
        with _in_f32(built.module):
            wide = [cast(one, "fp32") for one in inputs]
            given = [recorded(built, one) for one in wide]
    except Exception:  # modules raise anything: this one wants its own type
        return [recorded(built, one) for one in inputs]
    return [
        DataSet(
            {name: array_of(tensor) for name, tensor in fed.items()},
            {name: one.outputs[name].astype(kinds[name]) for name in one.outputs},
        )
        for fed, one, kinds in zip(inputs, given, types, strict=True)
    ]


def _goes_wide(tensor: Any) -> bool:  # noqa: ANN401  (a torch.Tensor)
    """Return whether an input is a number of 16 bits, or a count; tokens and masks are tables."""
    if tensor.is_floating_point():
        return bool(tensor.element_size() == _HALF_BYTES)
    return bool(tensor.dim() <= 1)


def _output_types(built: BuiltModel, inputs: Tensors) -> dict[str, Any]:
    """Return the NumPy types that the outputs have in the module's own type, without computing."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with torch.inference_mode(False), torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
        outputs = built.module(**inputs)
    pairs = zip(built.output_names, outputs, strict=True)
    return {name: array_of(torch.empty(0, dtype=tensor.dtype)).dtype for name, tensor in pairs}


@contextmanager
def _in_f32(module: Module) -> Iterator[None]:
    """Compute in f32 meanwhile, with the same numbers: f32 holds all that 16 bits can."""
    kinds = {name: tensor.dtype for name, tensor in _tensors(module)}
    try:
        module.float()
        yield
    finally:
        for name, tensor in _tensors(module):
            tensor.data = tensor.data.to(kinds[name])


def _tensors(module: Module) -> Iterator[tuple[str, Any]]:
    yield from module.named_parameters()
    yield from module.named_buffers()


def array_of(tensor: Any) -> Array:  # noqa: ANN401  (a torch.Tensor)
    """Return a tensor as an array; bf16, which NumPy lacks, by way of f32, which holds it all."""
    import torch

    dense = tensor.detach().cpu().contiguous()
    if dense.dtype == torch.bfloat16:
        widened: Array = dense.float().numpy().astype(array_type("bf16"))
        return widened
    array: Array = dense.numpy()
    return array
