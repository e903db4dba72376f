"""What the machine code of a folder takes: for each kernel the ways in which it may be called.

A kernel is generated for tensors of fixed types and shapes, touches no byte beyond them but the
slack that every buffer has, and is started in one way. That is written down beside the code,
apart from the plan: whatever a plan says, its steps must be among the calls that stand here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.runtime.plan import KernelStep, Plan


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One tensor that a kernel is given."""

    dtype: str
    shape: tuple[int, ...]
    layout: tuple[int, ...] | None
    written: bool
    strides: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class KernelCall:
    """One way in which a kernel may be called."""

    arguments: tuple[KernelArgument, ...]
    launch: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class KernelTable:
    """All kernels of a folder."""

    target: str
    """The back end and the device that they are for; empty: there are none."""
    requires: tuple[str, ...]
    """What they need of a device, in the back end's words."""
    calls: Mapping[str, tuple[KernelCall, ...]] = field(default_factory=dict)
    """How each kernel may be called, by name."""
    code: Mapping[str, Any] = field(default_factory=dict)
    """What the back end must know to load them, in the fields of a record of its own."""


def table(plans: Iterable[Plan], code: Mapping[str, Any]) -> KernelTable:
    """Return the kernels that sound plans call, as they call them."""
    used = [plan for plan in plans if plan.kernels]
    targets = {(plan.target, plan.requires) for plan in used} or {("", ())}
    if len(targets) > 1:
        raise ValueError("the kernels of one folder are for several devices")
    calls: dict[str, list[KernelCall]] = {}
    for plan in used:
        for step in plan.kernel_steps:
            call, known = call_of(step, plan), calls.setdefault(step.kernel, [])
            if call not in known:
                known.append(call)
    ((target, requires),) = targets
    return KernelTable(target, requires, {name: tuple(c) for name, c in calls.items()}, code)


def call_of(step: KernelStep, plan: Plan) -> KernelCall:
    """Return how a step calls its kernel; its tensors must be those of the plan."""
    arguments = tuple(_argument(step, place, plan) for place in range(len(step.arguments)))
    return KernelCall(arguments, dict(step.launch))


def _argument(step: KernelStep, place: int, plan: Plan) -> KernelArgument:
    name, strip = step.arguments[place], step.strip(place)
    tensor, written = plan.tensors[name], name in step.outputs
    if strip is not None:
        return KernelArgument(tensor.dtype, strip.shape, None, written)
    shape = tensor.shape or ()
    return KernelArgument(tensor.dtype, shape, tensor.layout, written, tensor.strides)
