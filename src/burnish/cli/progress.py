"""Draw progress: one bar that moves on a terminal, one line per finished stage elsewhere."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from burnish.cli import output
from burnish.core.plain_text import plain
from burnish.core.progress import SILENT, Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


SOON_S = 1.0
"""After this long without a word, something is said."""
_AGAIN_S = 30.0
"""After this long, a stage that goes on is told of again."""


class Lines:
    """Prints a line on stderr when a stage begins to take time, and when it is finished."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[str, float] = {}
        """When each stage was last told of."""

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Print when some of a stage is done, when all of it is, and now and then between.

        Where nobody knows how much there is, the total is 0 until the end.
        """
        now = self._clock()
        if done >= total > 0 or now - self._said.get(stage, -math.inf) >= _AGAIN_S:
            self._said[stage] = now
            output.note(f"{stage}: {note or f'{done} of {total}'}")


class Bar:
    """Bars on a terminal, one per stage."""

    def __init__(self, bars: RichProgress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Move the bar of `stage`."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(plain(stage), total=total, note="")
        self._bars.update(self._tasks[stage], completed=done, total=total, note=plain(note))


class shown:  # noqa: N801  (used like a function: `with shown() as progress`)
    """Show progress on stderr while the block runs; that it runs is seen within two seconds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bars = _terminal_bars()
        self._soon = threading.Timer(SOON_S, self._say_that_it_runs)
        self._soon.daemon = True
        self._bar: Bar | None = None

    def __enter__(self) -> Progress:
        self._soon.start()
        if self._bars is not None:
            self._bars.start()
            self._bar = Bar(self._bars)
            return self._bar
        return SILENT if output.is_quiet() else Lines()

    def __exit__(self, *_: object) -> None:
        self._soon.cancel()
        if self._bars is not None:
            self._bars.stop()

    def _say_that_it_runs(self) -> None:
        if self._bar is not None:
            self._bar.step(self._name, 0, 1, "working")
        elif self._bars is None:
            output.note(f"{self._name}: working")


def _terminal_bars() -> RichProgress | None:
    if output.is_quiet() or not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
