"""From what the caller gives, arrays of the host or of the card, to addresses on the card."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnish.core.array_types import name_of
from burnish.core.arrays import Array
from burnish.core.errors import UsageError
from burnish.cuda import dlpack
from burnish.cuda.driver import LEGACY, Device, Driver, Stream
from burnish.cuda.plan import DevicePlan

Feed = Any
"""An array of NumPy, or whatever has `__dlpack__`: a tensor of PyTorch, CuPy, JAX …"""

_VECTOR = 16
"""Bytes: kernels load so many at once, from addresses that are multiples of it."""


@dataclass(frozen=True, slots=True)
class GivenInput:
    """One input, wherever it lies."""

    address: int
    on_card: bool
    dtype: str
    shape: tuple[int, ...]
    contiguous: bool
    owner: object
    """Keeps the memory."""
    release: Callable[[], None] = lambda: None

    @property
    def usable(self) -> bool:
        """Say whether kernels can read it where it is."""
        return self.on_card and self.address % _VECTOR == 0


def given(name: str, feed: Feed, device: Device, stream: int) -> GivenInput:
    """Return what an input is; what lies on the card is made ready for a stream there."""
    if isinstance(feed, np.ndarray) or not hasattr(feed, "__dlpack_device__"):
        return _of_host(np.asarray(feed))
    place = tuple(int(each) for each in feed.__dlpack_device__())
    if place == device.dlpack:
        lent = _taken(name, feed, stream if place[0] != dlpack.CPU else None)
    elif place[0] == dlpack.CPU:
        lent = _taken(name, feed, None)
    else:
        raise UsageError(
            f"input {name!r} lies on device {place}, and the model on {device.dlpack},"
            f" {device.name}",
            hint="copy it there first, or feed an array of NumPy",
        )
    on_card = place == device.dlpack
    return GivenInput(
        lent.address, on_card, lent.dtype, lent.shape, lent.contiguous, feed, lent.release
    )


def checked(
    feeds: Mapping[str, Feed], plan: DevicePlan, driver: Driver, line: Stream, until_done: ExitStack
) -> dict[str, GivenInput]:
    """Return the inputs of a plan, checked; what others lend is given back when all is done."""
    wrong = missing(feeds, plan.inputs)
    if wrong is not None:
        raise wrong
    found = {}
    for name in plan.inputs:
        each = given(name, feeds[name], driver.device, driver.handle(line))
        until_done.callback(each.release)
        buffer = plan.buffers[name]
        for finding in findings(name, each, buffer.dtype, buffer.shape):
            raise finding
        found[name] = each
    return found


def described(name: str, feed: Feed) -> tuple[str, tuple[int, ...]]:
    """Return the element type and the shape of an input, without taking it."""
    if isinstance(feed, np.ndarray) or not hasattr(feed, "__dlpack_device__"):
        array = np.asarray(feed)
        return name_of(array), array.shape
    if not hasattr(feed, "shape"):
        raise UsageError(
            f"input {name!r} is {type(feed).__name__}, which has no shape",
            hint="feed arrays of NumPy, or tensors that have __dlpack__ and shape",
        )
    # a short name such as torch.float16 or a NumPy type, whatever the library has
    return "", tuple(int(size) for size in feed.shape)


def findings(
    name: str, found: GivenInput, dtype: str, shape: tuple[int, ...]
) -> Iterator[UsageError]:
    """Yield why an input is not what a plan reads."""
    if found.dtype != dtype:
        yield UsageError(
            f"input {name!r} holds {found.dtype or 'elements of an unknown type'}, not {dtype}",
            hint=f"convert it to {dtype} first",
        )
    if found.shape != shape:
        yield UsageError(
            f"input {name!r} is {list(found.shape)}, not {list(shape)}",
            hint="feed the shapes that it was compiled for",
        )
    if not found.contiguous:
        yield UsageError(
            f"input {name!r} is not laid out row after row",
            hint="copy it so first: tensor.contiguous()",
        )


def stream_handle(stream: Any) -> int:  # noqa: ANN401  (a number, or a stream of any library)
    """Return the driver's number of a stream of any library; never 0, which DLPack forbids."""
    if isinstance(stream, int):
        return stream or LEGACY
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1]) or LEGACY
    for attribute in ("cuda_stream", "ptr"):  # PyTorch's, CuPy's
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute)) or LEGACY
    raise UsageError(
        f"{type(stream).__name__} is no stream",
        hint="give torch.cuda.current_stream(), or the number of a CUDA stream",
    )


def missing(feeds: Mapping[str, Feed], names: tuple[str, ...]) -> UsageError | None:
    """Return what is wrong with the names of the inputs; None: nothing."""
    if set(feeds) == set(names):
        return None
    return UsageError(
        f"the inputs are {', '.join(sorted(feeds)) or 'none'}, the model's {', '.join(names)}",
        hint="feed each input of the model by its name",
    )


def _of_host(array: Array) -> GivenInput:
    dense = np.ascontiguousarray(array)
    return GivenInput(dense.ctypes.data, False, name_of(array), array.shape, True, dense)


def _taken(name: str, feed: Feed, stream: int | None) -> dlpack.Lent:
    """Return memory that a library lends; one that does not says why."""
    try:
        capsule = feed.__dlpack__() if stream is None else feed.__dlpack__(stream=stream)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise UsageError(
            f"input {name!r} is not lent by its library: {reason}",
            hint="feed tensor.detach(), or an array of NumPy",
        ) from error
    return dlpack.take(capsule)
