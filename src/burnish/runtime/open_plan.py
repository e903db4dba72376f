"""A plan with an open size at one size: the same steps, over the front of the same tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from burnish.runtime.plan import KernelStep, OpenSize, Plan, PlanTensor, Step


def at_size(plan: Plan, size: int) -> Plan:
    """Return an open plan as one for a size up to its greatest; memory stays set out for that."""
    if plan.open is None or not 1 <= size <= plan.open.most:
        raise ValueError(f"the plan is for no size of {size}")
    tensors = {name: _of_rows(name, each, plan.open, size) for name, each in plan.tensors.items()}
    steps = tuple(_shortened(n, step, plan.open, size) for n, step in enumerate(plan.steps))
    sizes = {**plan.sizes, plan.open.name: size}
    return dataclasses.replace(plan, tensors=tensors, steps=steps, sizes=sizes, open=None)


def fitting_size(plan: Plan, given: Mapping[str, tuple[int, ...]]) -> int | None:
    """Return the size at which a plan takes inputs of these shapes; None: at none.

    A plan without an open size takes them or does not: then it is 0.
    """
    shapes = {name: plan.tensors[name].shape for name in plan.inputs}
    if plan.open is None:
        return 0 if all(shape in (None, given.get(n)) for n, shape in shapes.items()) else None
    rows = plan.open.rows
    open_inputs = [name for name in shapes if name in rows and given.get(name)]
    found = {given[name][0] // rows[name] for name in open_inputs}
    if len(found) != 1 or not 1 <= (size := found.pop()) <= plan.open.most:
        return None
    wanted = at_size(plan, size).tensors
    return size if all(wanted[name].shape == given.get(name) for name in shapes) else None


def open_findings(plan: Plan) -> Iterator[str]:
    """Yield what is wrong with an open size; everything else must be sound."""
    if (found := plan.open) is None:
        return
    if found.most < 1 or plan.sizes.get(found.name) != found.most or plan.ort_steps:
        yield f"{found.name!r} cannot stay open"
        return
    for name, per in found.rows.items():
        tensor = plan.tensors.get(name)
        order = (tensor.layout or (0,)) if tensor else (1,)
        if tensor is None or not tensor.shape or tensor.shape[0] != per * found.most or order[0]:
            yield f"tensor {name!r} has no row for each {found.name!r}"
            return
    for number in found.steps:
        step = plan.steps[number] if 0 <= number < len(plan.steps) else None
        if not isinstance(step, KernelStep) or step.launch.get("tiles", 1) % found.most:
            yield f"step {number} has no tile for each {found.name!r}"


def sizes_text(plan: Plan) -> str:
    """Return what a plan was compiled for, as `--shape` has it; an open size as a range."""
    opened = plan.open
    texts = {name: str(size) for name, size in plan.sizes.items()}
    if opened is not None:
        texts[opened.name] = f"1 to {opened.most}"
    return ",".join(f"{name}={text}" for name, text in texts.items()) or "fixed sizes"


def _of_rows(name: str, tensor: PlanTensor, of: OpenSize, size: int) -> PlanTensor:
    if name not in of.rows or tensor.shape is None:
        return tensor
    return dataclasses.replace(tensor, shape=(of.rows[name] * size, *tensor.shape[1:]))


def _shortened(number: int, step: Step, of: OpenSize, size: int) -> Step:
    if number not in of.steps or not isinstance(step, KernelStep):
        return step
    tiles = step.launch["tiles"] * size // of.most
    return dataclasses.replace(step, launch={**step.launch, "tiles": tiles})
