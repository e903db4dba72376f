"""An output that stays on the card: other libraries take it without a copy, NumPy with one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.tensors import BITS
from burnish.cuda import dlpack
from burnish.cuda.driver import LEGACY, Driver, Stream
from burnish.cuda.memory import Holder, Slot


class DeviceArray:
    """A tensor on a card; `torch.from_dlpack` and its like share its memory, `np.asarray` copies.

    Its memory is given out again when this object and all who share it are gone.
    """

    def __init__(
        self,
        driver: Driver,
        piece: dlpack.LentMemory,
        memory: tuple[Slot, Holder],
        stream: Stream | None,
        look: Callable[[], None],
    ) -> None:
        self._driver = driver
        self._piece = piece
        self._slot, self._holder = memory
        self._stream = stream
        """In which it is written; None: it is done."""
        self._look = look
        """Raises if a run that is over was led to a place that does not exist."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return its sizes."""
        return self._piece.shape

    @property
    def dtype(self) -> str:
        """Return the short name of its element type."""
        return self._piece.dtype

    @property
    def nbytes(self) -> int:
        """Return how much memory it takes."""
        return math.prod(self.shape) * -(-BITS[self.dtype] // 8)

    @property
    def address(self) -> int:
        """Return where it begins on the card."""
        return self._piece.address

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._piece.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        **_options: Any,  # noqa: ANN401  (newer versions')
    ) -> dlpack.Capsule:
        if stream != -1:
            self._ready_for(LEGACY if stream in (None, 0) else int(stream))
        return dlpack.lend(self._piece, self._holder)

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> Array:  # noqa: ANN401
        if copy is False:
            raise ValueError("what lies on a card cannot be an array without a copy")
        found = np.empty(self.shape, array_type(self.dtype))
        with self._driver.current():
            stream = self._driver.stream(LEGACY) if self._stream is None else self._stream
            self._driver.copy(found.ctypes.data, self.address, self.nbytes, stream)
            self._driver.synchronize(stream)
            self._look()
        return found if dtype is None else found.astype(dtype)

    def __repr__(self) -> str:
        return f"DeviceArray({self.dtype}{list(self.shape)} on {self._driver.device.name})"

    def _ready_for(self, handle: int) -> None:
        """Let another's stream wait until what was put in line here is done."""
        self._slot.users.add(handle)
        if self._stream is None or handle == self._driver.handle(self._stream):
            return
        with self._driver.current():
            event = self._driver.new_event()
            self._driver.record(event, self._stream)
            self._driver.wait(self._driver.stream(handle), event)
            self._driver.drop_event(event)
