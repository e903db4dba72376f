"""What the steps of a plan read and write, as places in memory are found by it."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.runtime.buffers import Uses
from burnish.runtime.plan import Step, loops


def uses(steps: Sequence[Step]) -> tuple[Uses, ...]:
    """Return what each step reads and writes; within a loop, whatever any step of it does.

    A loop comes back to its first step: nothing that one of them uses is free before its end.
    """
    found: list[Uses] = []
    for numbers in loops(steps):
        inside = [steps[number] for number in numbers]
        reads = tuple(dict.fromkeys(name for step in inside for name in step.inputs))
        writes = tuple(dict.fromkeys(name for step in inside for name in step.outputs))
        found += [Uses(reads, writes)] * len(inside)
    return tuple(found)
