"""How the process of an engine ended: a plain record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Crash:
    """How the process of an engine ended, with which model in it."""

    engine: str
    model: str
    doing: str
    """`loading`, `running`, `profiling`."""
    how: str
    """`SIGSEGV`, and what was said last."""
    level: str | None = None
    """How far the engine optimised; None: it has no levels."""
    runs_at: str | None = None
    """The highest level below at which it does not end; None: none was found."""
    everywhere: bool = False
    """Whether it was tried at every level below, and ended at each."""

    def __str__(self) -> str:
        level = f" at level {self.level}" if self.level else ""
        lower = " and every level below" if self.everywhere else ""
        lower = f", runs at level {self.runs_at}" if self.runs_at else lower
        return f"{self.engine} crashes{level}{lower}: {self.how} while {self.doing} {self.model}"
