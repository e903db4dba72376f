"""A card that is none and computes all the same: kernels of a folder in Triton's interpreter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import fake_driver
from burnish.codegen.gpu.launch import Launch
from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.tensors import BITS
from burnish.cuda.kernel import source_of
from burnish.runtime.cuda import runner
from burnish.runtime.folder import read_table
from burnish.runtime.kernel_table import KernelArgument
from burnish.store.compiled import KERNELS
from codegen.gpu.interpreting import interpreted


def interpreted_card(monkeypatch: pytest.MonkeyPatch, folder: Path) -> fake_driver.FakeDriver:
    """Return a card that runs a folder's kernels; every allocation has room for slack."""
    table = read_table(folder)
    for name, calls in table.calls.items():
        text = (folder / KERNELS / f"{name}.py").read_text()
        monkeypatch.setitem(fake_driver.KERNELS, name, _kernel(name, text, calls[0].arguments))
    card = fake_driver.FakeDriver()
    monkeypatch.setattr(runner, "_OPEN", [card])
    return card


def _kernel(name: str, text: str, arguments: Sequence[KernelArgument]) -> fake_driver.FakeKernel:
    source = source_of(name, text)
    names = tuple(f"a{number}" for number in range(len(arguments)))
    written = tuple(n for n, each in zip(names, arguments, strict=True) if each.written)

    def run(grid: tuple[int, int, int], *memory: Array | None) -> None:
        launch = Launch(
            name, text, names, source.pointers, grid, source.warps, source.stages, written
        )
        places = {n: _view(m, a) for n, m, a in zip(names, memory, arguments, strict=False)}
        found = interpreted([launch], places)
        for each in written:
            places[each][...] = found[each]

    return run


def _view(memory: Array | None, argument: KernelArgument) -> Array:
    assert memory is not None
    size = math.prod(argument.shape) * BITS[argument.dtype] // 8
    assert size <= memory.nbytes, "a kernel is given less than it may touch"
    return memory[:size].view(np.dtype(array_type(argument.dtype)))
