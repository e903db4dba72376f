"""A folder's kernels and constants on a card, and whether a plan fits beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from burnish.cuda.driver import Driver
from burnish.cuda.executable import DeviceExecutable, needed_bytes
from burnish.cuda.loaded import Bytes, LoadedKernels, uploaded
from burnish.cuda.looking import Looks
from burnish.cuda.memory import aligned
from burnish.cuda.plan import DevicePlan
from burnish.cuda.streamed import StreamedExecutable

_USABLE = 0.95
"""Of what is free: the driver takes memory in large pieces, and others want some, too."""


@dataclass(slots=True)
class CardMemory:
    """What all plans of a folder share; constants follow when the first plan fits."""

    driver: Driver
    kernels: LoadedKernels
    constants: Bytes
    where: str
    """Names the folder in errors."""
    address: int | None = None
    """Where the constants are on the card; None: they are not."""
    others: list[int] = field(default_factory=list)
    """Where constants of plans are that borrow some of them."""
    looks: list[Looks] = field(default_factory=list)
    """Of all plans that are open: whoever runs one is told what runs of others were led to."""

    def opened(
        self,
        plan: DevicePlan,
        limit_bytes: int | None,
        lent: Mapping[str, int] = MappingProxyType({}),
    ) -> DeviceExecutable | StreamedExecutable:
        """Return a plan on the card, streamed where it needs more than it may have.

        `lent`: where constants lie there already; they are not brought a second time.
        """
        with self.driver.current():
            room = self._room_bytes(limit_bytes)
            needed = needed_bytes(plan, self.kernels.kernels)
            if needed + self.constants.nbytes > room:
                return StreamedExecutable(self.driver, plan, self.kernels, self.constants, room)
            if lent:
                rest, packed = _packed(plan, self.constants, lent)
                address = uploaded(self.driver, packed, self.where)
                self.others.append(address)
                return DeviceExecutable(
                    self.driver, rest, self.kernels, address, lent, looks=self.looks
                )
            if self.address is None:
                self.address = uploaded(self.driver, self.constants, self.where)
            return DeviceExecutable(self.driver, plan, self.kernels, self.address, looks=self.looks)

    def close(self) -> None:
        """Free the constants."""
        with self.driver.current():
            for address in (self.address, *self.others):
                if address:
                    self.driver.free(address)
        self.address, self.others = None, []

    def _room_bytes(self, limit_bytes: int | None) -> int:
        """Return what a plan may have; constants that are on the card already are part of it."""
        if limit_bytes is not None:
            return limit_bytes
        there = self.constants.nbytes if self.address is not None else 0
        return int(_USABLE * self.driver.free_bytes()) + there


def _packed(
    plan: DevicePlan, constants: Bytes, lent: Mapping[str, int]
) -> tuple[DevicePlan, Bytes]:
    """Return a plan whose own constants are those that nobody lends, and these side by side."""
    own = {
        name: buffer
        for name, buffer in plan.buffers.items()
        if buffer.home == "constant" and name not in lent
    }
    places: dict[tuple[int, int], int] = {}
    end = 0
    for buffer in own.values():
        if (buffer.offset, buffer.bytes) not in places:
            places[buffer.offset, buffer.bytes] = end
            end += aligned(buffer.bytes)
    packed = np.zeros(end, np.uint8)
    for (offset, size), place in places.items():
        packed[place : place + size] = constants[offset : offset + size]
    moved = {n: replace(b, offset=places[b.offset, b.bytes]) for n, b in own.items()}
    return replace(plan, buffers={**plan.buffers, **moved}), packed
