"""What a runtime must know about one emitted kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EARLY = ("tl.extra.cuda.gdc_wait()", "tl.extra.cuda.gdc_launch_dependents()")
"""What a kernel does first that is started while the one before it still runs: wait until that one
has ended, and let the next one come as early. So only its start lies beside the end of another."""


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

    @property
    def early(self) -> bool:
        """Say whether it may be started before those ahead of it have ended."""
        return EARLY[0] in self.source

    def __post_init__(self) -> None:
        if len(self.dtypes) != len(self.arguments) + len(self.scratch):
            raise ValueError(f"{self.name}: every pointer has one element type")
        if missing := set(self.outputs) - {*self.arguments}:
            raise ValueError(f"{self.name}: {', '.join(sorted(missing))} is no argument")
