"""A model on a card: kernels and constants loaded once, and a plan for each choice of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.core.units import size as size_text
from burnish.cuda.driver import Device, Driver, DriverError, Module
from burnish.cuda.executable import DeviceExecutable, Feeds, Result, StepTime
from burnish.cuda.feeding import described
from burnish.cuda.graphs import Loaded
from burnish.cuda.kernel import Kernel, runs_on
from burnish.cuda.memory import enough_memory
from burnish.cuda.plan import DevicePlan
from burnish.cuda.table import DeviceTable

Bytes = NDArray[np.uint8]


class DeviceModel:
    """What a table tells, on a card; the plan is chosen by the shapes that it is fed.

    `where` names it in errors; `command` compiles it again, as a hint.
    """

    def __init__(
        self,
        driver: Driver,
        table: DeviceTable,
        code: Mapping[str, bytes],
        constants: Bytes,
        *,
        where: str,
        command: str = "burnish compile",
    ) -> None:
        self.table = table
        self._driver = driver
        self._where = where
        self._command = command
        self._executables: dict[int, DeviceExecutable] = {}
        self._check_card()
        with driver.current():
            self._modules: list[Module] = []
            self._loaded = {name: self._load(name, code[name]) for name in table.kernels}
            self._constants = self._uploaded(constants)

    def run(
        self,
        feeds: Feeds,
        *,
        stream: Any = None,  # noqa: ANN401  (of any library)
        on_card: bool | None = None,
    ) -> dict[str, Result]:
        """Run once; see `DeviceExecutable.run`."""
        return self.executable(feeds).run(feeds, stream=stream, on_card=on_card)

    def prepare(self, feeds: Feeds) -> Callable[[], None]:
        """Return one run on these inputs, which are on the card then, that ends when it is done."""
        return self.executable(feeds).prepare(feeds)

    def times_s(
        self, feeds: Feeds, *, warmup: int, runs: int, repeats: int = 1
    ) -> tuple[float, ...]:
        """Return how long runs took; see `DeviceExecutable.times_s`."""
        executable = self.executable(feeds)
        return executable.times_s(feeds, warmup=warmup, runs=runs, repeats=repeats)

    def step_times(self, feeds: Feeds, *, warmup: int, runs: int) -> list[list[StepTime]]:
        """Return when each step of each of `runs` runs began, and how long it took."""
        return self.executable(feeds).step_times(feeds, warmup=warmup, runs=runs)

    def executable(self, feeds: Feeds) -> DeviceExecutable:
        """Return what runs inputs of these shapes."""
        shapes = {name: described(name, feed)[1] for name, feed in feeds.items()}
        for number, plan in enumerate(self.table.plans):
            if all(plan.buffers[name].shape == shapes.get(name) for name in plan.inputs):
                return self._executable(number)
        if len(self.table.plans) == 1 and set(shapes) != set(self.table.plans[0].inputs):
            return self._executable(0)  # which says what is missing
        raise self._no_plan(shapes)

    def close(self) -> None:
        """Free everything on the card but outputs that somebody still has."""
        for executable in self._executables.values():
            executable.close()
        self._executables.clear()
        with self._driver.current():
            for module in self._modules:
                self._driver.unload(module)
            self._modules.clear()
            if self._constants:
                self._driver.free(self._constants)
                self._constants = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _executable(self, number: int) -> DeviceExecutable:
        if number not in self._executables:
            with self._driver.current():
                self._executables[number] = DeviceExecutable(
                    self._driver, self.table.plans[number], self._loaded, self._constants
                )
        return self._executables[number]

    def _check_card(self) -> None:
        device = self._driver.device
        if not runs_on(self.table.architecture, device.capability):
            raise MissingCapabilityError(
                f"{self._where}: its kernels are for {self.table.architecture}, and this card is"
                f" {device.name} ({device.architecture})",
                hint=f"compile it for this card: {self._command} --target {device.architecture}",
            )
        for found in self.table.kernels.values():
            self._check_kernel(found.kernel, device)

    def _check_kernel(self, kernel: Kernel, device: Device) -> None:
        major = int(kernel.toolkit.partition(".")[0] or 0)
        if device.driver[0] < major:
            raise MissingCapabilityError(
                f"{self._where}: its kernels were written by CUDA {kernel.toolkit}, and the driver"
                f" here knows {_dotted(device.driver)} at most",
                hint=f"update NVIDIA's driver to one for CUDA {major} or newer",
            )
        if kernel.shared_bytes > device.shared_bytes:
            raise MissingCapabilityError(
                f"{self._where}: its kernel {kernel.entry!r} needs"
                f" {size_text(kernel.shared_bytes)} of shared memory, and a program on"
                f" {device.name} can have {size_text(device.shared_bytes)}",
                hint=f"compile it for this card: {self._command} --target {device.architecture}",
            )

    def _load(self, name: str, code: bytes) -> Loaded:
        kernel = self.table.kernels[name].kernel
        with self._loading(name, kernel):
            module = self._driver.load(code)
            self._modules.append(module)
            return Loaded(kernel, self._driver.function(module, kernel.entry, kernel.shared_bytes))

    @contextmanager
    def _loading(self, name: str, kernel: Kernel) -> Iterator[None]:
        try:
            yield
        except DriverError as error:
            raise ModelError(
                f"{self._where}: the kernel {name!r} ({kernel.architecture}, CUDA"
                f" {kernel.toolkit}) cannot be loaded: {error}",
                hint=f"compile it again: {self._command}, or update NVIDIA's driver, which knows"
                f" CUDA {_dotted(self._driver.device.driver)}",
            ) from error

    def _uploaded(self, constants: Bytes) -> int:
        """Return where the constants are on the card."""
        if not constants.nbytes:
            return 0
        with enough_memory(self._driver, constants.nbytes, f"{self._where}: its constants"):
            address = self._driver.allocate(constants.nbytes)
        stream = self._driver.new_stream()
        self._driver.copy(address, constants.ctypes.data, constants.nbytes, stream)
        self._driver.synchronize(stream)
        self._driver.drop_stream(stream)
        return address

    def _no_plan(self, shapes: Mapping[str, tuple[int, ...]]) -> UsageError:
        asked = ", ".join(f"{name}: {list(shape)}" for name, shape in shapes.items())
        known = "; or ".join(map(_shapes_text, self.table.plans))
        return UsageError(
            f"{self._where}: was compiled for {known}, and is fed {asked}",
            hint=f"compile it for these shapes, too: {self._command} --shape",
        )


def _shapes_text(plan: DevicePlan) -> str:
    return ", ".join(f"{name}: {list(plan.buffers[name].shape)}" for name in plan.inputs)


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
