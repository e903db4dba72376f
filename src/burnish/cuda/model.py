"""A model on a card: kernels and constants loaded once, and a plan for each choice of sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from burnish.core.closing import Closing
from burnish.core.errors import UsageError
from burnish.cuda.driver import Driver
from burnish.cuda.executable import CardStepTime, DeviceExecutable, Feeds, Result
from burnish.cuda.feeding import described
from burnish.cuda.loaded import Bytes, LoadedKernels, uploaded
from burnish.cuda.plan import DevicePlan
from burnish.cuda.table import DeviceTable


class DeviceModel(Closing):
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
        kernels = {name: each.kernel for name, each in table.kernels.items()}
        self._loaded = LoadedKernels(driver, kernels, code, where=where, command=command)
        self._constants = uploaded(driver, constants, where)

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

    def step_times(self, feeds: Feeds, *, warmup: int, runs: int) -> list[list[CardStepTime]]:
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
        self._loaded.close()
        if self._constants:
            with self._driver.current():
                self._driver.free(self._constants)
            self._constants = 0

    def _executable(self, number: int) -> DeviceExecutable:
        if number not in self._executables:
            with self._driver.current():
                self._executables[number] = DeviceExecutable(
                    self._driver, self.table.plans[number], self._loaded, self._constants
                )
        return self._executables[number]

    def _no_plan(self, shapes: Mapping[str, tuple[int, ...]]) -> UsageError:
        asked = ", ".join(f"{name}: {list(shape)}" for name, shape in shapes.items())
        known = "; or ".join(map(_shapes_text, self.table.plans))
        return UsageError(
            f"{self._where}: was compiled for {known}, and is fed {asked}",
            hint=f"compile it for these shapes, too: {self._command} --shape",
        )


def _shapes_text(plan: DevicePlan) -> str:
    return ", ".join(f"{name}: {list(plan.buffers[name].shape)}" for name in plan.inputs)
