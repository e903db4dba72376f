"""What a runtime must know about one emitted kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.cuda.library import LibraryProduct

WAITS = "tl.extra.cuda.gdc_wait()"
"""What a kernel does first that is started while the one before it still runs: it waits until that
one has ended. So only its start lies beside the end of another."""
LEADS = "tl.extra.cuda.gdc_launch_dependents()"
"""What a kernel does that lets the next one start early, once it has waited itself: before, the one
after next would start, too, and take room from both (BERT-base at batch 1: 429 us for 339)."""
MOST_WAITING = 768
"""Programs of a kernel that waits: the whole gains 0.6 us, and each seems to cost 0.6 ns (H200)."""
MOST_LEADING = 256
"""Programs of a kernel that lets the next one start. When all did, Restormer took 6.36 ms instead
of 5.75; supposed, not tested: beside what fills a card, programs of the next kernel gather on the
few multiprocessors that are free first, and beside a few on each they spread as they do alone."""


LEADING_WARPS = 1024
"""Warps of all programs together, up to which more of these lead, too: eight a multiprocessor leave
room for what follows (the 512 rows of a Conformer, one warp each)."""


def first_lines(programs: int, warps: int) -> tuple[str, ...]:
    """Return what a kernel of so many programs does before all else, on a card that can."""
    if programs > MOST_WAITING:
        return ()
    few = programs <= MOST_LEADING or programs * warps <= LEADING_WARPS
    return (WAITS, LEADS) if few else (WAITS,)


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel and how it is started; shapes are constants of its source."""

    name: str
    """The function in the source; equal code has an equal name."""
    source: str
    """A Python module that imports nothing but Triton."""
    arguments: tuple[str, ...]
    """Tensors, in the order of the function's pointers; then `scratch`, in its own order."""
    dtypes: tuple[str, ...]
    """The element type behind each pointer, those of `scratch` included."""
    grid: tuple[int, int, int]
    warps: int
    stages: int
    outputs: tuple[str, ...]
    """Those of the arguments that are written."""
    scratch: Mapping[str, int] = field(default_factory=dict)
    """Short-lived buffers on the device by name, in bytes; pointers behind the arguments."""
    zeroed: tuple[str, ...] = ()
    """Those of scratch and outputs that must be zero before the launch."""
    library: LibraryProduct | None = None
    """What a library forms in its place, where there is one."""

    @property
    def early(self) -> bool:
        """Say whether it may be started before those ahead of it have ended."""
        return WAITS in self.source

    def __post_init__(self) -> None:
        if len(self.dtypes) != len(self.arguments) + len(self.scratch):
            raise ValueError(f"{self.name}: every pointer has one element type")
        if missing := set(self.outputs) - {*self.arguments}:
            raise ValueError(f"{self.name}: {', '.join(sorted(missing))} is no argument")
