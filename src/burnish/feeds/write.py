"""Write inputs to disk, and say what was written."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.errors import UsageError
from burnish.core.files import check_folder, written_beside
from burnish.core.tensors import TensorSpec
from burnish.feeds.feed import Feeds
from burnish.feeds.report import InputsReport, WrittenSample
from burnish.store import datasets
from burnish.store.interface import Interface

_LONGEST_NAME = 2**16 - 5
"""What a zip archive can hold, less the `.npy` of each entry."""


def write(
    feeds: Sequence[Feeds], target: Path, *, interface: Interface, model: str
) -> InputsReport:
    """Write an .npz file, or one `test_data_set_N` folder per sample into the folder `target`."""
    if target.suffix == ".npz":
        paths: tuple[Path, ...] = (_write_npz(feeds, target),)
    else:
        paths = tuple(target / f"test_data_set_{index}" for index in range(len(feeds)))
        for path in paths:
            check_folder(path, datasets.INPUTS)  # all before any is written
        for path, fed in zip(paths, feeds, strict=True):
            datasets.write(path, datasets.DataSet(fed.arrays, {}), interface)
    samples = (
        WrittenSample(path, _specs(fed.arrays, interface), fed.bindings, fed.notes)
        for path, fed in zip(paths, feeds, strict=True)
    )
    return InputsReport(model, tuple(samples))


def _write_npz(feeds: Sequence[Feeds], target: Path) -> Path:
    if len(feeds) != 1:
        raise UsageError(
            f"{target}: an .npz file holds one sample, not {len(feeds)}",
            hint=f"name a folder instead: -o {_folder(target)}",
        )
    write_npz(feeds[0].arrays, target)
    return target


def write_npz(arrays: Arrays, target: Path) -> None:
    """Write tensors by name into an .npz file: all of it, or nothing."""
    for name in arrays:
        if len(name.encode()) > _LONGEST_NAME:
            raise UsageError(
                f"{target}: no .npz file holds a tensor with a name of {len(name):,} characters",
                hint=f"name a folder instead: -o {_folder(target)}",
            )
    # Not numpy.savez: it takes the tensors as keywords, and one may be called `file`.
    with written_beside(target) as folder, zipfile.ZipFile(folder / target.name, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, _plain(array), allow_pickle=False)


def _folder(target: Path) -> str:
    return shlex.quote(str(target.with_suffix("")))


def _plain(array: Array) -> Array:
    """Return an array that an .npz file can hold; types that NumPy lacks become bare bytes."""
    if array.dtype.kind == "O":
        return array.astype(str)
    return array if array.dtype.isbuiltin == 1 else array.view(f"V{array.dtype.itemsize}")


def _specs(arrays: Arrays, interface: Interface) -> tuple[TensorSpec, ...]:
    return tuple(
        TensorSpec(spec.name, spec.dtype, arrays[spec.name].shape) for spec in interface.inputs
    )
