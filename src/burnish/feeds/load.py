"""Load inputs from a file, and check that they are what the model takes."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from burnish.core.array_types import array_type, name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.command import command
from burnish.core.errors import ModelError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.feeds import dimension
from burnish.feeds.feed import Feeds
from burnish.store import datasets
from burnish.store.interface import ANY_RANK, Interface

_UNREADABLE = (
    OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, NotImplementedError,
    RecursionError, MemoryError, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What is raised for damage: a header is read as Python, and may claim anything."""


def load(path: Path, interface: Interface) -> Feeds:
    """Return the inputs in an .npz file or a `test_data_set_N` folder."""
    if path.is_dir():
        found = datasets.read(path, interface).inputs
    elif not path.exists():
        raise UsageError(
            f"{path}: no such file or folder",
            hint=f"{command('inputs', 'MODEL', '-o', path)} writes one",
        )
    elif path.suffix == ".npz":
        found = _read_npz(path)
    else:
        raise UsageError(
            f"{path}: is neither an .npz file nor a test_data_set_N folder",
            hint="save the inputs by name with numpy.savez",
        )
    _check_names(found, interface.inputs, path)
    arrays = {spec.name: _fitting(found[spec.name], spec, path) for spec in interface.inputs}
    return Feeds(arrays, _sizes(arrays, interface.inputs, path))


def _read_npz(path: Path) -> dict[str, Array]:
    hint = "save the inputs by name with numpy.savez, as numbers and not as objects"
    if not zipfile.is_zipfile(path):
        raise ModelError(f"{path}: is not a readable .npz file (it is no zip archive)", hint=hint)
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except _UNREADABLE as error:
        raise ModelError(f"{path}: is not a readable .npz file ({error})", hint=hint) from error
    for name, content in found.items():
        if not isinstance(content, np.ndarray):  # NumPy gives bytes for what is no array
            raise ModelError(f"{path}: {name!r} in it is not an array", hint=hint)
    return found


def _check_names(found: Arrays, inputs: Sequence[TensorSpec], path: Path) -> None:
    names = [spec.name for spec in inputs]
    missing = [str(spec) for spec in inputs if spec.name not in found]
    extra = [name for name in found if name not in names]
    if missing:
        raise ModelError(
            f"{path}: lacks {', '.join(missing)}; it has {', '.join(found) or 'nothing'}",
            hint=f"the model takes: {', '.join(names)}",
        )
    if extra:
        raise ModelError(
            f"{path}: has {', '.join(extra)}, which the model does not take",
            hint=f"the model takes: {', '.join(names)}",
        )


def _fitting(array: Array, spec: TensorSpec, path: Path) -> Array:
    """Return the array in the model's type; only NumPy's nameless types are reinterpreted."""
    wanted = array_type(spec.dtype)
    if array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize:
        array = array.view(wanted)
    if spec.dtype == "str" and array.dtype.kind in "US":
        array = array.astype(object)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if name_of(array) != spec.dtype:
        raise ModelError(
            f"{path}: {spec.name!r} is {name_of(array)}, the model takes {spec}",
            hint=f"convert it to {wanted} before saving",
        )
    _check_shape(array, spec, path)
    return array


def _check_shape(array: Array, spec: TensorSpec, path: Path) -> None:
    if ANY_RANK in spec.shape:
        return
    fixed = zip(array.shape, spec.shape, strict=False)
    agrees = all(size == dim for size, dim in fixed if isinstance(dim, int))
    if array.ndim != len(spec.shape) or not agrees:
        raise ModelError(
            f"{path}: {spec.name!r} has the shape {list(array.shape)}, the model takes {spec}",
            hint="save it in the model's shape, or export the model with dynamic dimensions",
        )


def _sizes(arrays: Arrays, inputs: Sequence[TensorSpec], path: Path) -> dict[str, int]:
    """Return the size of every symbol; inputs that share one must agree."""
    sizes: dict[str, int] = {}
    origin: dict[str, str] = {}
    for spec in inputs:
        for dim, size in zip(spec.shape, arrays[spec.name].shape, strict=False):
            if not isinstance(dim, str) or dimension.atoms(dim) != (dim,):
                continue
            if sizes.setdefault(dim, size) != size:
                raise ModelError(
                    f"{path}: {dim!r} is {sizes[dim]} in {origin[dim]} and {size} in {spec.name}",
                    hint="make the inputs agree on the sizes that they share",
                )
            origin.setdefault(dim, spec.name)
    _check_expressions(arrays, inputs, sizes, path)
    return sizes


def _check_expressions(
    arrays: Arrays, inputs: Sequence[TensorSpec], sizes: Mapping[str, int], path: Path
) -> None:
    for spec in inputs:
        for dim, size in zip(spec.shape, arrays[spec.name].shape, strict=False):
            if not isinstance(dim, str) or not all(name in sizes for name in dimension.atoms(dim)):
                continue
            expected = dimension.evaluate(dim, sizes)
            if size != expected:
                known = ", ".join(f"{name}={sizes[name]}" for name in dimension.atoms(dim))
                raise ModelError(
                    f"{path}: {spec.name!r} has {size} where {dim!r} is {expected} ({known})",
                    hint="make the inputs agree on the sizes that they share",
                )
