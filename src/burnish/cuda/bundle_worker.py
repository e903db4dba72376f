"""The process in which candidates run: what crashes or hangs the card ends it, and nothing else."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.cuda import bundle as bundles
from burnish.cuda.bundle import Contents, PreparedGroup
from burnish.cuda.device_array import DeviceArray
from burnish.cuda.dlpack import LentMemory
from burnish.cuda.driver import Device, Driver
from burnish.cuda.expected import finding
from burnish.cuda.memory import Holder, Slot, SlotPool
from burnish.cuda.model import DeviceModel
from burnish.cuda.soundness import findings
from burnish.cuda.table import DeviceTable, code_findings

_BLOCK_S = 2e-3
"""Runs are repeated in one graph until they take about as long."""
_MOST_REPEATS = 50


@dataclass(frozen=True, slots=True)
class BundleOpening:
    """Which bundle to time, and on what."""

    path: Path
    driver: str
    """What is a card: `package.module:Class`."""


@dataclass(frozen=True, slots=True)
class Which:
    """One candidate, by its places in the bundle."""

    group: int
    candidate: int
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a candidate that was run once."""

    failure: str = ""
    """Why it is not to be timed."""


@dataclass(frozen=True, slots=True)
class CandidateTime:
    """How long one run takes."""

    samples_s: tuple[float, ...]


class BundleWorker:
    """Keeps the candidates of one group on the card, to time them in turns."""

    def __init__(self) -> None:
        self._driver: Driver | None = None
        self._contents: Contents | None = None
        self._group = -1
        self._inputs: dict[str, DeviceArray] = {}
        self._models: dict[int, DeviceModel] = {}
        self._repeats: dict[int, int] = {}

    def open(self, asked: BundleOpening) -> Device:
        """Read a bundle, take the card, and return which one it is."""
        module, _, name = asked.driver.partition(":")
        self._driver = getattr(importlib.import_module(module), name)()
        self._contents = bundles.read(asked.path)
        assert self._driver is not None
        return self._driver.device

    def try_once(self, which: Which) -> Tried:
        """Run a candidate, and hold what it gives against what is expected."""
        group = self._entered(which.group)
        table = group.candidates[which.candidate].table
        assert table is not None
        assert self._contents is not None
        model = self._loaded(table)
        found = model.run(self._inputs, on_card=False)
        for name, expected in group.expected.items():
            wrong = finding(name, np.asarray(found[name]), expected, self._contents.values)
            if wrong:
                model.close()
                return Tried(wrong)
        self._models[which.candidate] = model
        return Tried()

    def time(self, which: Which) -> CandidateTime:
        """Return how long runs of a candidate take that was tried before."""
        model = self._models[which.candidate]
        if which.candidate not in self._repeats:
            (look,) = model.times_s(self._inputs, warmup=2, runs=1)
            wanted = math.ceil(_BLOCK_S / max(look, 1e-9))
            self._repeats[which.candidate] = min(max(wanted, 1), _MOST_REPEATS)
        repeats = self._repeats[which.candidate]
        found = model.times_s(self._inputs, warmup=1, runs=which.runs, repeats=repeats)
        return CandidateTime(found)

    def _entered(self, number: int) -> PreparedGroup:
        """Return a group, with its inputs on the card and no other's candidates there."""
        assert self._contents is not None
        group = self._contents.bundle.groups[number]
        if number != self._group:
            for model in self._models.values():
                model.close()
            self._models.clear()
            self._repeats.clear()
            inputs = {name: self._contents.made(each) for name, each in group.inputs.items()}
            self._inputs = {name: self._sent(each) for name, each in inputs.items()}
            self._group = number
        return group

    def _sent(self, array: Array) -> DeviceArray:
        """Return an array on the card."""
        assert self._driver is not None
        return on_card(self._driver, array)

    def _loaded(self, table: DeviceTable) -> DeviceModel:
        assert self._contents is not None
        assert self._driver is not None
        code = {name: self._contents.code[each.key] for name, each in table.kernels.items()}
        cubins = (code_findings(table.kernels[name].kernel, each) for name, each in code.items())
        # the first one ends it: later checks rely on earlier ones
        for reason in chain(findings(table), chain.from_iterable(cubins)):
            raise ModelError(f"cannot be run: {reason}", hint="make the bundle again")
        # constants would make a bundle large: whatever a candidate reads is an input
        nothing = np.zeros(0, np.uint8)
        return DeviceModel(self._driver, table, code, nothing, where="candidate")


def on_card(driver: Driver, array: Array) -> DeviceArray:
    """Return a copy of an array on a card."""
    from burnish.core.array_types import name_of

    dense = np.ascontiguousarray(array)
    with driver.current():
        stream = driver.new_stream()
        pool = SlotPool(driver, dense.nbytes)
        memory: tuple[Slot, Holder] = pool.take(stream)
        pool.close()  # it is freed when nobody has it any more
        driver.copy(memory[0].address, dense.ctypes.data, dense.nbytes, stream)
        driver.synchronize(stream)
        memory[0].users.clear()
        driver.drop_stream(stream)
    piece = LentMemory(memory[0].address, name_of(array), array.shape, driver.device.dlpack)
    return DeviceArray(driver, piece, memory, None)
