"""NVIDIA's driver, through NVIDIA's own bindings (the package `cuda-bindings`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from burnish.core.errors import MissingCapabilityError
from burnish.cuda.cublas import Cublas, open_cublas
from burnish.cuda.driver import (
    NO_DEVICE,
    NOT_READY,
    Device,
    DriverError,
    Event,
    Function,
    Graph,
    Module,
    Start,
    Stream,
)
from burnish.cuda.library import LibraryProduct

Bindings = Any
"""The module `cuda.bindings.driver`: it has no types."""

_PORTABLE_SHARED = 48 << 10
"""What a program may have of shared memory without asking for more, in bytes."""
_CUDA_IN_DLPACK = 2


def bindings() -> Bindings:
    """Return NVIDIA's bindings, wherever this version of them keeps the driver."""
    try:
        try:
            from cuda.bindings import driver
        except ImportError:
            from cuda import cuda as driver  # as it was called before version 12.6
    except ImportError as error:
        raise MissingCapabilityError(
            "NVIDIA's driver is reached through the package cuda-bindings, which is not installed",
            hint="pip install cuda-bindings",
        ) from error
    return driver


class NvidiaDriver:
    """A card by its number; uses the context that other libraries of the process use, too."""

    def __init__(self, ordinal: int = 0) -> None:
        self._api = bindings()
        self._ordinal = ordinal
        self._device = self._opened(ordinal)
        self._context = self._call("cuDevicePrimaryCtxRetain", self._device)

    @cached_property
    def device(self) -> Device:
        """Return what is known of the card."""
        kinds = self._api.CUdevice_attribute
        value = self._attribute
        prefix = "CU_DEVICE_ATTRIBUTE_"
        version = self._call("cuDriverGetVersion")
        return Device(
            name=self._call("cuDeviceGetName", 128, self._device).split(b"\0")[0].decode(),
            capability=(
                value(getattr(kinds, f"{prefix}COMPUTE_CAPABILITY_MAJOR")),
                value(getattr(kinds, f"{prefix}COMPUTE_CAPABILITY_MINOR")),
            ),
            memory_bytes=self._call("cuDeviceTotalMem", self._device),
            multiprocessors=value(getattr(kinds, f"{prefix}MULTIPROCESSOR_COUNT")),
            shared_bytes=value(getattr(kinds, f"{prefix}MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")),
            driver=(version // 1000, version % 1000 // 10),
            dlpack=(_CUDA_IN_DLPACK, self._ordinal),
        )

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make the card the one that this thread's calls are for, as long as it is held."""
        self._call("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            self._call("cuCtxPopCurrent")

    def load(self, code: bytes) -> Module:
        """Return a cubin as the card runs it."""
        return self._call("cuModuleLoadData", code)

    def unload(self, module: Module) -> None:
        """Free what `load` gave."""
        self._call("cuModuleUnload", module)

    def function(self, module: Module, entry: str, shared_bytes: int) -> Function:
        """Return a kernel of a module that may be started with so much shared memory."""
        found = self._call("cuModuleGetFunction", module, entry.encode())
        kinds = self._api.CUfunction_attribute
        if shared_bytes > _PORTABLE_SHARED:
            self._call(
                "cuFuncSetCacheConfig", found, self._api.CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED
            )
            fixed = self._call(
                "cuFuncGetAttribute", kinds.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, found
            )
            most = kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", found, most, self.device.shared_bytes - fixed)
        return found

    def free_bytes(self) -> int:
        """Return how much of the card's memory nobody has."""
        return int(self._call("cuMemGetInfo")[0])

    def allocate(self, size: int) -> int:
        """Return the address of new memory on the card."""
        return int(self._call("cuMemAlloc", size))

    def free(self, address: int) -> None:
        """Give memory on the card back."""
        self._call("cuMemFree", address)

    def allocate_pinned(self, size: int) -> int:
        """Return the address of new memory of the host that the card can reach by itself."""
        return int(self._call("cuMemHostAlloc", size, 0))

    def free_pinned(self, address: int) -> None:
        """Give such memory back."""
        self._call("cuMemFreeHost", address)

    def zero(self, address: int, size: int, stream: Stream) -> None:
        """Fill memory on the card with zeros."""
        self._call("cuMemsetD8Async", address, 0, size, stream)

    def copy(self, target: int, source: int, size: int, stream: Stream) -> None:
        """Copy memory; either side may be the card's or the host's."""
        self._call("cuMemcpyAsync", target, source, size, stream)

    def launch(self, function: Function, start: Start, stream: Stream) -> None:
        """Start a kernel."""
        import ctypes

        count = len(start.addresses)
        parameters = (start.addresses, (ctypes.c_void_p,) * count)
        size = (*start.grid, start.threads, 1, 1)
        if start.early:
            config = self._early(size, start.shared_bytes, stream)
            self._call("cuLaunchKernelEx", config, function, parameters, 0)
            return
        self._call("cuLaunchKernel", function, *size, start.shared_bytes, stream, parameters, 0)

    def _early(self, size: tuple[int, ...], shared_bytes: int, stream: Stream) -> Any:  # noqa: ANN401
        """Return how a kernel is started beside the end of the one ahead of it."""
        config, attribute = self._api.CUlaunchConfig(), self._api.CUlaunchAttribute()
        dimensions = [f"{kind}Dim{axis}" for kind in ("grid", "block") for axis in "XYZ"]
        for dimension, count in zip(dimensions, size, strict=True):
            setattr(config, dimension, count)
        config.sharedMemBytes, config.hStream = shared_bytes, stream
        kinds = self._api.CUlaunchAttributeID
        attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
        config.attrs, config.numAttrs = [attribute], 1
        return config

    def multiplies(self, product: LibraryProduct) -> bool:
        """Say whether cuBLASLt is here, and forms a product on this card."""
        return self._library is not None and self._library.knows(product)

    def multiply(self, product: LibraryProduct, addresses: Sequence[int], stream: Stream) -> None:
        """Let cuBLASLt form a product, over the pointers of the kernel in whose place it is."""
        assert self._library is not None
        self._library.multiply(product, addresses, int(stream))

    @cached_property
    def _library(self) -> Cublas | None:
        return open_cublas()

    def new_stream(self) -> Stream:
        """Return a line of work that waits for no other."""
        kind = int(self._api.CUstream_flags.CU_STREAM_NON_BLOCKING)
        return self._call("cuStreamCreate", kind)

    def stream(self, handle: int) -> Stream:
        """Return the stream that somebody else made."""
        return self._api.CUstream(handle)

    def handle(self, stream: Stream) -> int:
        """Return the number by which others know a stream."""
        return int(stream)

    def drop_stream(self, stream: Stream) -> None:
        """Free what `new_stream` gave."""
        self._call("cuStreamDestroy", stream)

    def synchronize(self, stream: Stream) -> None:
        """Wait until all that stands in a stream is done."""
        self._call("cuStreamSynchronize", stream)

    def new_event(self) -> Event:
        """Return something that notes when it was reached."""
        return self._call("cuEventCreate", int(self._api.CUevent_flags.CU_EVENT_DEFAULT))

    def drop_event(self, event: Event) -> None:
        """Free what `new_event` gave."""
        self._call("cuEventDestroy", event)

    def record(self, event: Event, stream: Stream, *, at_replay: bool = False) -> None:
        """Put an event in line; `at_replay`: in a captured graph, to be reached by each replay."""
        if at_replay:
            kind = self._api.CUevent_record_flags.CU_EVENT_RECORD_EXTERNAL
            self._call("cuEventRecordWithFlags", event, stream, int(kind))
        else:
            self._call("cuEventRecord", event, stream)

    def wait(self, stream: Stream, event: Event) -> None:
        """Let a stream wait for an event."""
        self._call("cuStreamWaitEvent", stream, event, 0)

    def finish(self, event: Event) -> None:
        """Wait until an event was reached; one that never was in line is."""
        self._call("cuEventSynchronize", event)

    def is_reached(self, event: Event) -> bool:
        """Say whether an event was reached, without waiting."""
        try:
            self._call("cuEventQuery", event)
        except DriverError as error:
            if error.name != NOT_READY:
                raise
            return False
        return True

    def elapsed_s(self, start: Event, end: Event) -> float:
        """Return the seconds between two events that were reached."""
        return float(self._call("cuEventElapsedTime", start, end)) / 1e3

    def begin_capture(self, stream: Stream) -> None:
        """Record what is put into a stream from now on instead of doing it."""
        modes = self._api.CUstreamCaptureMode
        # what other libraries free meanwhile, when Python collects garbage, does not concern it
        mode = modes.CU_STREAM_CAPTURE_MODE_RELAXED
        self._call("cuStreamBeginCapture", stream, mode)

    def end_capture(self, stream: Stream) -> Graph:
        """Return what was recorded, ready to be replayed."""
        graph = self._call("cuStreamEndCapture", stream)
        try:
            return self._call("cuGraphInstantiate", graph, 0)
        finally:
            self._call("cuGraphDestroy", graph)

    def replay(self, graph: Graph, stream: Stream) -> None:
        """Put all that was recorded in line."""
        self._call("cuGraphLaunch", graph, stream)

    def drop_graph(self, graph: Graph) -> None:
        """Free what `end_capture` gave."""
        self._call("cuGraphExecDestroy", graph)

    def _opened(self, ordinal: int) -> Any:  # noqa: ANN401  (the driver's own handle)
        """Return the card of this number; explain why there is none."""
        try:
            self._call("cuInit", 0)
            count = self._call("cuDeviceGetCount")
        except DriverError as error:
            raise _no_card(str(error)) from error
        except RuntimeError as error:  # there is no driver to load
            reason = str(error).partition("\n")[0]
            raise _no_card(f"the driver cannot be loaded: {reason}") from error
        if ordinal >= count:
            raise _no_card(f"there are {count}, and number {ordinal} was asked for")
        return self._call("cuDeviceGet", ordinal)

    def _attribute(self, kind: Any) -> int:  # noqa: ANN401
        return int(self._call("cuDeviceGetAttribute", kind, self._device))

    def _call(self, name: str, *arguments: Any) -> Any:  # noqa: ANN401  (as the driver's)
        """Return what a function of the driver gives: one thing, several, or None."""
        code, *found = getattr(self._api, name)(*arguments)
        if int(code):
            raise DriverError(name, *self._explained(code))
        return found[0] if len(found) == 1 else tuple(found) or None

    def _explained(self, code: Any) -> tuple[str, str]:  # noqa: ANN401
        failed, text = self._api.cuGetErrorString(code)
        name = getattr(code, "name", str(code))
        return name, "" if int(failed) or text is None else text.decode()


def _no_card(reason: str) -> MissingCapabilityError:
    text = "the driver finds none" if NO_DEVICE in reason else reason
    return MissingCapabilityError(
        f"no NVIDIA card can be used here: {text}",
        hint="look at what the driver sees: nvidia-smi",
    )
