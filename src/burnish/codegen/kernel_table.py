"""What the machine code of a folder takes: for each kernel the ways in which it may be called.

A kernel is generated for tensors of fixed types and shapes, touches no byte beyond them but the
slack that every buffer has, and has a fixed number of tiles. That is written down beside the code,
apart from the plan: whatever a plan says, its steps must be among the calls that stand here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from burnish.codegen.cpu.image import ImageTable
from burnish.codegen.plan import KernelStep, Plan


@dataclass(frozen=True, slots=True)
class Argument:
    """One tensor that a kernel is given."""

    dtype: str
    shape: tuple[int, ...]
    layout: tuple[int, ...] | None
    written: bool


@dataclass(frozen=True, slots=True)
class Call:
    """One way in which a kernel may be called."""

    arguments: tuple[Argument, ...]
    tiles: int
    scratch_bytes: int


@dataclass(frozen=True, slots=True)
class KernelTable:
    """All kernels of a folder."""

    target: str
    """For which kind of CPU they are; empty: there are none."""
    cpu_features: tuple[str, ...]
    """What they need of a CPU, as the kernel of the system names it."""
    calls: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    """How each kernel may be called, by name."""
    image: ImageTable | None = None
    """How the linked kernels are used; None: their object code could not be linked."""


def table(plans: Iterable[Plan], image: ImageTable | None) -> KernelTable:
    """Return the kernels that sound plans call, as they call them."""
    used = [plan for plan in plans if plan.kernels]
    targets = {(plan.target, plan.cpu_features) for plan in used} or {("", ())}
    if len(targets) > 1:
        raise ValueError("the kernels of one folder are for several kinds of CPU")
    calls: dict[str, dict[Call, None]] = {}
    for plan in used:
        for step in plan.kernel_steps:
            calls.setdefault(step.kernel, {})[call_of(step, plan)] = None
    ((target, features),) = targets
    return KernelTable(target, features, {name: tuple(c) for name, c in calls.items()}, image)


def call_of(step: KernelStep, plan: Plan) -> Call:
    """Return how a step calls its kernel; its tensors must be those of the plan."""
    tensors = [(name, plan.tensors[name]) for name in step.arguments]
    arguments = tuple(
        Argument(tensor.dtype, tensor.shape or (), tensor.layout, name in step.outputs)
        for name, tensor in tensors
    )
    return Call(arguments, step.tiles, step.scratch_bytes)
