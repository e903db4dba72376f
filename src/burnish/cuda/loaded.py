"""Kernels and constants on a card, after everything that can be told beforehand was checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.core.units import size as size_text
from burnish.cuda.driver import Driver, DriverError, Function, Module
from burnish.cuda.kernel import CubinKernel, runs_on
from burnish.cuda.memory import enough_memory

Bytes = NDArray[np.uint8]


class LoadedKernels:
    """Cubins that a card has taken; to be closed.

    `where` names them in errors.
    """

    def __init__(
        self,
        driver: Driver,
        kernels: Mapping[str, CubinKernel],
        code: Mapping[str, bytes],
        *,
        where: str,
    ) -> None:
        self.kernels = kernels
        self._driver = driver
        self._where = where
        self._modules: list[Module] = []
        for kernel in kernels.values():
            self._check(kernel)
        with driver.current():
            self.functions = {name: self._load(name, code[name]) for name in kernels}
            self.by_library = frozenset(
                name
                for name, kernel in kernels.items()
                if kernel.library is not None and driver.multiplies(kernel.library)
            )
            """Those in whose place the library here forms a product."""

    def close(self) -> None:
        """Let the card forget them."""
        with self._driver.current():
            while self._modules:
                self._driver.unload(self._modules.pop())

    def _check(self, kernel: CubinKernel) -> None:
        """Raise if the card here cannot run a kernel."""
        device = self._driver.device
        again = f"compile it for this card: burnish compile --target {device.architecture}"
        if not runs_on(kernel.architecture, device.capability):
            raise MissingCapabilityError(
                f"{self._where}: its kernels are for {kernel.architecture}, and this card is"
                f" {device.name} ({device.architecture})",
                hint=again,
            )
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
                hint=again,
            )

    def _load(self, name: str, code: bytes) -> Function:
        kernel = self.kernels[name]
        with self._loading(name, kernel):
            module = self._driver.load(code)
            self._modules.append(module)
            return self._driver.function(module, kernel.entry, kernel.shared_bytes)

    @contextmanager
    def _loading(self, name: str, kernel: CubinKernel) -> Iterator[None]:
        try:
            yield
        except DriverError as error:
            raise ModelError(
                f"{self._where}: the kernel {name!r} ({kernel.architecture}, CUDA"
                f" {kernel.toolkit}) cannot be loaded: {error}",
                hint=f"compile it again: burnish compile, or update NVIDIA's driver, which knows"
                f" CUDA {_dotted(self._driver.device.driver)}",
            ) from error


def uploaded(driver: Driver, constants: Bytes, where: str) -> int:
    """Return where constants are on the card; 0: there are none."""
    if not constants.nbytes:
        return 0
    with driver.current():
        with enough_memory(driver, constants.nbytes, f"{where}: its constants"):
            address = driver.allocate(constants.nbytes)
        stream = driver.new_stream()
        driver.copy(address, constants.ctypes.data, constants.nbytes, stream)
        driver.synchronize(stream)
        driver.drop_stream(stream)
    return address


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
