"""Check what is fed to a model before anything runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from burnish.core.array_types import array_type, name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.core.tensors import TensorSpec
from burnish.store.interface import ANY_RANK


def check_feeds(feeds: Arrays, inputs: Sequence[TensorSpec]) -> None:
    """Raise a UsageError that names the input when `feeds` do not fit `inputs`.

    A symbolic size fits any number: engines differ in how strictly they read equal names.
    """
    expected = {spec.name: spec for spec in inputs}
    if not isinstance(feeds, Mapping):
        raise UsageError(
            f"the inputs are a {type(feeds).__name__}, not arrays by their names",
            hint=f"feed {{{', '.join(f'{name!r}: …' for name in expected)}}}",
        )
    for name in feeds:
        if name not in expected:
            found = suggestion(str(name), expected)
            raise UsageError(f"the model has no input {name!r}", hint=found)
    for name, spec in expected.items():
        if name not in feeds:
            raise UsageError(
                f"input {name!r} is missing; the model expects {spec}",
                hint="make inputs for all of the model with `burnish inputs`",
            )
        _check_one(feeds[name], spec)


def _check_one(array: Array, spec: TensorSpec) -> None:
    if not isinstance(array, np.ndarray):
        raise UsageError(
            f"input {spec.name!r} is a {type(array).__name__}, not an array",
            hint=f"make it one: numpy.asarray(…, {_numpy_name(spec)!r})",
        )
    if not array.dtype.isnative:
        raise UsageError(
            f"input {spec.name!r} has its bytes in the other order ({array.dtype.str})",
            hint=f"turn them: array.astype({_numpy_name(spec)!r})",
        )
    dtype = name_of(array)
    if dtype != spec.dtype or not _fits(array.shape, spec):
        found = TensorSpec(spec.name, dtype, array.shape)
        what = "shape" if found.dtype == spec.dtype else "element type"
        raise UsageError(
            f"input {spec.name!r} has the wrong {what}: found {_kind(found)}, "
            f"expected {_kind(spec)}",
            hint="make inputs that fit with `burnish inputs`",
        )


def _numpy_name(spec: TensorSpec) -> str:
    return array_type(spec.dtype).name


def _fits(shape: tuple[int, ...], spec: TensorSpec) -> bool:
    if spec.shape in (shape, (ANY_RANK,)):
        return True
    pairs = zip(shape, spec.shape, strict=False)
    same_rank = len(shape) == len(spec.shape)
    return same_rank and all(isinstance(dim, str) or size == dim for size, dim in pairs)


def _kind(spec: TensorSpec) -> str:
    return f"{spec.dtype}[{', '.join(map(str, spec.shape))}]"
