"""What must be true of a plan for a card before it runs: its numbers agree with each other.

A bundle is a file, and files come from anywhere. What is checked here keeps every address that a
kernel is given inside the memory that it is told to be in, and large enough for what the kernel was
compiled for. The first finding ends the plan: later checks rely on earlier ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from burnish.core.placing import Lifetime
from burnish.core.tensors import BITS
from burnish.cuda.plan import Buffer, Copy, CubinStep, DevicePlan
from burnish.cuda.table import DeviceTable, FittedKernel

MOST_BYTES = 2**46
"""No buffer is as large: sums of sizes stay far from what 64 bits hold."""
_ALIGNMENT = 16
"""Bytes: kernels load so many at once."""
_MOST_PROGRAMS = (2**31 - 1, 65_535, 65_535)
"""What the driver takes along each dimension."""
_MOST_WARPS = 32
_MOST_TRAILING = 4


def findings(table: DeviceTable) -> Iterator[str]:
    """Yield what is wrong with what a folder tells a card to do."""
    for name, each in table.kernels.items():
        yield from _kernel_findings(name, each, table.architecture)
    for number, plan in enumerate(table.plans):
        for finding in plan_findings(plan, table):
            yield f"plan {number}: {finding}"


def plan_findings(plan: DevicePlan, table: DeviceTable) -> Iterator[str]:
    """Yield what is wrong with one plan; only the first is sure to be a finding of its own."""
    for name, buffer in plan.buffers.items():
        yield from _buffer_findings(name, buffer)
    yield from _home_findings(plan)
    for number, step in enumerate(plan.steps):
        for finding in _step_findings(step, plan.buffers, table.kernels):
            yield f"step {number} {finding}"
    yield from _order_findings(plan)
    for name, buffer in plan.buffers.items():
        most = {"arena": plan.arena_bytes, "constant": table.constants_bytes}.get(buffer.home)
        if most is not None and not 0 <= buffer.offset <= most - buffer.bytes:
            yield f"buffer {name!r} does not lie in its {buffer.home} memory"
    yield from _overlaps(plan)


def _kernel_findings(name: str, found: FittedKernel, architecture: str) -> Iterator[str]:
    kernel = found.kernel
    if kernel.architecture != architecture:
        yield f"kernel {name!r} is for {kernel.architecture}, the others for {architecture}"
    if len(kernel.pointers) != len(found.pointer_bytes):
        yield f"kernel {name!r} has {len(kernel.pointers)} pointers, not {len(found.pointer_bytes)}"
    if not (1 <= kernel.warps <= _MOST_WARPS and 0 <= kernel.trailing <= _MOST_TRAILING):
        yield f"kernel {name!r} cannot be started as it says"
    if min((kernel.shared_bytes, kernel.program_bytes, *found.pointer_bytes)) < 0:
        yield f"kernel {name!r} needs less than no memory"
    if kernel.program_bytes and not kernel.trailing:
        yield f"kernel {name!r} needs memory for its programs, and takes none"


def _buffer_findings(name: str, buffer: Buffer) -> Iterator[str]:
    if buffer.dtype not in BITS:
        yield f"buffer {name!r} holds {buffer.dtype}, which is no element type"
        return
    if any(size < 0 for size in buffer.shape) or buffer.bytes > MOST_BYTES:
        yield f"buffer {name!r} has the shape {list(buffer.shape)}"
    if buffer.offset < 0 or buffer.offset % _ALIGNMENT:
        yield f"buffer {name!r} begins at {buffer.offset}, which is no multiple of {_ALIGNMENT}"


def _home_findings(plan: DevicePlan) -> Iterator[str]:
    for names, home in ((plan.inputs, "input"), (plan.outputs, "output")):
        told = {name for name, buffer in plan.buffers.items() if buffer.home == home}
        if told != set(names) or len(set(names)) != len(names):
            yield f"the {home}s are {list(names)}, the buffers with that home {sorted(told)}"
    if plan.results and len(plan.results) != len(plan.outputs):
        yield f"there are {len(plan.outputs)} outputs, and {len(plan.results)} names for them"
    if not 0 <= plan.arena_bytes <= MOST_BYTES:
        yield f"the arena has {plan.arena_bytes} bytes"


def _step_findings(
    step: CubinStep | Copy, buffers: Mapping[str, Buffer], kernels: Mapping[str, FittedKernel]
) -> Iterator[str]:
    names = (step.source, step.target) if isinstance(step, Copy) else step.arguments
    for name in names:
        if name not in buffers:
            yield f"uses {name!r}, which is no buffer"
            return
    if isinstance(step, Copy):
        if buffers[step.source].bytes != buffers[step.target].bytes:
            yield f"copies {step.source!r} to {step.target!r}, which is not as large"
        return
    if step.kernel not in kernels:
        yield f"starts {step.kernel!r}, which is no kernel of the folder"
        return
    yield from _call_findings(step, buffers, kernels[step.kernel])


def _call_findings(
    step: CubinStep, buffers: Mapping[str, Buffer], found: FittedKernel
) -> Iterator[str]:
    if any(not 1 <= size <= most for size, most in zip(step.grid, _MOST_PROGRAMS, strict=True)):
        yield f"starts {'×'.join(map(str, step.grid))} programs"
    if len(step.arguments) != len(found.pointer_bytes):
        yield f"gives {step.kernel!r} {len(step.arguments)} buffers, not {len(found.pointer_bytes)}"
        return
    given = Counter(step.arguments)
    for name in step.outputs:
        if given[name] != 1:
            yield f"writes {name!r}, which it is given {given[name]} times"
    for name in step.zeroed:
        if not given[name]:
            yield f"zeroes {name!r}, which it is not given"
    needs = zip(step.arguments, found.kernel.pointers, found.pointer_bytes, strict=True)
    for name, dtype, size in needs:
        buffer = buffers[name]
        if buffer.dtype != dtype or buffer.bytes < size:
            yield (
                f"gives {step.kernel!r} {buffer.bytes:,} bytes of {buffer.dtype} in {name!r},"
                f" not {size:,} of {dtype}"
            )


def _order_findings(plan: DevicePlan) -> Iterator[str]:
    """Yield what is read before it is written, or written though it must not change."""
    known = {name for name, buffer in plan.buffers.items() if buffer.home in ("input", "constant")}
    kept = frozenset(known)
    for number, step in enumerate(plan.steps):
        reads, writes = _uses(step)
        for name in reads:
            if name not in known:
                yield f"step {number} reads {name!r} before it is written"
        for name in writes:
            if name in kept:
                yield f"step {number} writes {name!r}, which is an input or a constant"
        known |= set(writes)
    for name in plan.outputs:
        if name not in known:
            yield f"output {name!r} is never written"


def _uses(step: CubinStep | Copy) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if isinstance(step, Copy):
        return (step.source,), (step.target,)
    writes = dict.fromkeys((*step.outputs, *step.zeroed))
    return tuple(name for name in step.arguments if name not in writes), tuple(writes)


def _overlaps(plan: DevicePlan) -> Iterator[str]:
    """Yield buffers of the arena that lie on each other while both are needed."""
    lives: dict[str, Lifetime] = {}
    for number, step in enumerate(plan.steps):
        for name in sum(_uses(step), ()):
            if plan.buffers[name].home == "arena" and plan.buffers[name].bytes:
                first = lives[name].first if name in lives else number
                lives[name] = Lifetime(first, number)
    for number in range(len(plan.steps)):
        alive = [name for name, life in lives.items() if life.first <= number <= life.last]
        begins = sorted(
            (plan.buffers[name].offset, plan.buffers[name].bytes, name) for name in alive
        )
        for (low, size, name), (high, _, other) in pairwise(begins):
            if low + size > high:
                yield f"buffers {name!r} and {other!r} lie on each other"
