"""What must be true of a plan before it runs: its numbers agree with each other and with the code.

A plan is a file, and files come from anywhere. What is checked here keeps every step inside the
memory that it is given and lets it end, whatever the plan says; whether it computes the right thing
is for the proof to show. Each check may rely on those before it: the first finding ends the plan.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from pathlib import PurePosixPath

from burnish.core.backends import backend_of
from burnish.core.errors import BurnishError
from burnish.core.placing import ALIGNMENT, Lifetime
from burnish.core.tensors import BITS, TensorSpec
from burnish.runtime.buffers import SLACK_BYTES, lifetimes, padded
from burnish.runtime.kernel_table import KernelTable, call_of
from burnish.runtime.open_plan import open_findings
from burnish.runtime.plan import KernelStep, OrtStep, Plan, PlanTensor, Strip, loop_of, loops
from burnish.runtime.plan import findings as order_findings
from burnish.runtime.runner import runner_for
from burnish.runtime.step_uses import uses
from burnish.store.interface import ANY_RANK

MOST_BYTES = 2**46
"""No tensor is as large: sums of sizes below stay far from what 64 bits hold."""
MOST_TIMES = 2**18
"""No step is repeated as often: a table has a row for each time."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a plan is checked against: the rest of its folder."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    table: KernelTable
    constants_bytes: int
    files: Collection[str]


def findings(plan: Plan, around: Surroundings) -> Iterator[str]:
    """Yield what is wrong with a plan; only the first is sure to be a finding of its own."""
    for name, tensor in plan.tensors.items():
        yield from _tensor_findings(name, tensor)
    yield from _interface_findings(plan, plan.inputs, around.inputs, "input")
    yield from _interface_findings(plan, plan.outputs, around.outputs, "output")
    yield from _home_findings(plan)
    yield from _machine_findings(plan, around.table)
    for number, step in enumerate(plan.steps):
        if isinstance(step, KernelStep):
            yield from _kernel_findings(number, step, around.table)
        else:
            yield from _library_findings(number, step, around.files)
    yield from order_findings(plan)
    yield from _repeat_findings(plan)
    yield from _look_findings(plan)
    yield from _condition_findings(plan)
    yield from _call_findings(plan, around.table)
    yield from _constant_findings(plan, around.constants_bytes)
    yield from _arena_findings(plan)
    yield from open_findings(plan)


def _tensor_findings(name: str, tensor: PlanTensor) -> Iterator[str]:
    shape = tensor.shape
    if (tensor.home == "value") != (shape is None or tensor.dtype not in BITS):
        yield f"tensor {name!r} has no fixed size, or has one and no place"
    if shape is None:
        return
    if any(size < 0 for size in shape):
        yield f"tensor {name!r} has a negative size"
    if tensor.bytes is not None and tensor.bytes > MOST_BYTES:
        yield f"tensor {name!r} is larger than any memory"
    if tensor.layout is not None and sorted(tensor.layout) != list(range(len(shape))):
        yield f"tensor {name!r} has a layout that is no order of its dimensions"
    if tensor.strides is not None and not _is_spaced(tensor, tensor.strides):
        yield f"tensor {name!r} has strides that no plan gives it"


def _is_spaced(tensor: PlanTensor, strides: Sequence[int]) -> bool:
    """Say whether strides are those of a tensor inside a plan, in ONNX's order, with room between.

    Along each dimension the next element lies behind all that the dimensions inside it reach.
    """
    reach = 1
    for size, stride in zip(reversed(tensor.shape or ()), reversed(strides), strict=False):
        if stride < reach:
            return False
        reach += max(size - 1, 0) * stride
    fits = len(strides) == len(tensor.shape or ())
    return fits and tensor.home == "arena" and tensor.layout is None


def _interface_findings(
    plan: Plan, names: Sequence[str], specs: Sequence[TensorSpec], kind: str
) -> Iterator[str]:
    told = dict.fromkeys(spec.name for spec in specs)
    if list(names) != list(told):
        yield f"the plan's {kind}s are {list(names)}, the model's {list(told)}"
    for spec in specs:
        tensor = plan.tensors.get(spec.name)
        if tensor is None:
            yield f"{kind} {spec.name!r} is no tensor of the plan"
            return
        if tensor.dtype != spec.dtype and tensor.home != "value":
            yield f"{kind} {spec.name!r} is {tensor.dtype}, the model's is {spec.dtype}"
        if tensor.shape is not None and not fits(tensor.shape, spec):
            yield f"{kind} {spec.name!r} is {list(tensor.shape)}, the model's {list(spec.shape)}"


def fits(shape: tuple[int, ...], spec: TensorSpec) -> bool:
    """Return whether a tensor of this shape can be what is declared."""
    if ANY_RANK in spec.shape:
        return True
    pairs = zip(shape, spec.shape, strict=False)
    return len(shape) == len(spec.shape) and all(
        isinstance(dim, str) or size == dim for size, dim in pairs
    )


def _home_findings(plan: Plan) -> Iterator[str]:
    """Yield tensors that are said to lie where nobody puts them."""
    inputs, outputs = set(plan.inputs), set(plan.outputs)
    for name, tensor in plan.tensors.items():
        if (tensor.home == "input") != (name in inputs) and tensor.home != "value":
            yield f"tensor {name!r} has the home {tensor.home!r}, and is an input or is none"
        if tensor.home == "output" and name not in outputs:
            yield f"tensor {name!r} has the home 'output', and is none"
    for name in plan.outputs:
        if plan.tensors[name].home == "arena":
            yield f"output {name!r} lies where other tensors come to lie"


def _machine_findings(plan: Plan, table: KernelTable) -> Iterator[str]:
    try:
        runner = runner_for(plan.target)
    except BurnishError as error:
        yield error.problem
        return
    needed = (table.target, table.requires) if plan.kernels else (plan.target, ())
    if (plan.target, plan.requires) != needed:
        yield f"the plan is for {plan.target}, its kernels are for {needed[0]} or need more"
    for number, step in enumerate(plan.steps):
        if isinstance(step, KernelStep):
            for finding in runner.launch_findings(plan.target, step.launch):
                yield f"step {number} cannot be started: {finding}"
            if (step.repeat or step.when) and not backend_of(plan.target).repeats:
                yield f"step {number} cannot be repeated or left out on {plan.target}"


def _kernel_findings(number: int, step: KernelStep, table: KernelTable) -> Iterator[str]:
    calls = table.calls.get(step.kernel, ())
    if not calls:
        yield f"step {number} calls {step.kernel!r}, which is no kernel of the folder"
    if all(len(call.arguments) != len(step.arguments) for call in calls):
        yield f"step {number} gives {step.kernel!r} another number of tensors than it takes"
    given, outputs = Counter(step.arguments), set(step.outputs)
    twice = step.repeat is None and any(given[name] > 1 for name in outputs)
    if len(outputs) != len(step.outputs) or twice:
        yield f"step {number} writes a tensor twice"
    if not outputs <= set(given):
        yield f"step {number} writes what it is not given"


def _repeat_findings(plan: Plan) -> Iterator[str]:
    """Yield repeated steps that are not one loop, or whose strips leave their tensors."""
    runs = Counter(loop_of(plan.steps[numbers.start]) for numbers in loops(plan.steps))
    times: dict[int, int] = {}
    for number, step in enumerate(plan.steps):
        if not isinstance(step, KernelStep) or step.repeat is None:
            continue
        repeat = step.repeat
        if runs[repeat.loop] > 1 or times.setdefault(repeat.loop, repeat.times) != repeat.times:
            yield f"step {number} is not beside all others of its loop, or not as often repeated"
        if not 1 <= repeat.times <= MOST_TIMES or not 0 <= repeat.chain < MOST_TIMES:
            yield f"step {number} is repeated {repeat.times} times, in chain {repeat.chain}"
        if len(repeat.strips) != len(step.arguments):
            yield f"step {number} has another number of strips than of tensors"
            return
        for name, strip in zip(step.arguments, repeat.strips, strict=True):
            if strip is not None and not _lies_inside(plan, name, strip, repeat.times):
                yield f"step {number} leaves {name!r} when it is repeated"


def _condition_findings(plan: Plan) -> Iterator[str]:
    """Yield steps whose conditions are not one truth value in memory, or that are repeated, too."""
    for number, step in enumerate(plan.steps):
        if not isinstance(step, KernelStep) or step.when is None:
            continue
        tensor = plan.tensors[step.when.tensor]
        if tensor.dtype != "bool" or tensor.bytes != 1:
            yield f"step {number} runs {step.when}, which is not one truth value"
        if step.repeat is not None:
            yield f"step {number} is repeated, and runs {step.when}"


def _look_findings(plan: Plan) -> Iterator[str]:
    """Yield looks at what is no table of whole numbers with such a column."""
    for number, step in enumerate(plan.steps):
        for look in step.looks if isinstance(step, KernelStep) else ():
            tensor = plan.tensors[look.tensor]
            width = (tensor.shape or (0,))[-1]
            is_whole = tensor.dtype[0] in "iu"
            if not is_whole or (look.column is not None and not 0 <= look.column < width):
                yield f"step {number} looks at {look.tensor!r}, which is no such table"
            if look.told and (tensor.shape != (2,) or look.tensor not in step.outputs):
                yield f"step {number} tells in {look.tensor!r}, which is no pair that it writes"


def _lies_inside(plan: Plan, name: str, strip: Strip, times: int) -> bool:
    """Say whether an argument never leaves its tensors, which must be those of the plan."""
    tensor, first = plan.tensors[name], plan.tensors[strip.initial or name]
    size = replace(tensor, shape=strip.shape, layout=None, strides=None).bytes
    if size is None or size < 0 or tensor.dtype != first.dtype:
        return False
    if any(each.layout or each.strides for each in (tensor, first)):
        return False
    ends = [(first if strip.initial else tensor, strip.begin(0))]
    ends += [(tensor, strip.begin(time)) for time in (1, times - 1) if 1 <= time < times]
    return all(0 <= begin <= (whole.bytes or 0) - size for whole, begin in ends)


def _call_findings(plan: Plan, table: KernelTable) -> Iterator[str]:
    for number, step in enumerate(plan.steps):
        if isinstance(step, KernelStep) and call_of(step, plan) not in table.calls[step.kernel]:
            yield (
                f"step {number} calls {step.kernel!r} with other tensors, or in another way, than"
                " it was compiled for"
            )


def _library_findings(number: int, step: OrtStep, files: Collection[str]) -> Iterator[str]:
    names = (*step.inputs, *step.outputs)
    if len(set(names)) != len(names):
        yield f"step {number} has two tensors of one name"
    if step.file not in files or PurePosixPath(step.file).name != step.file:
        yield f"step {number} is in {step.file!r}, which is no file of the folder"


def _constant_findings(plan: Plan, constants_bytes: int) -> Iterator[str]:
    for name, tensor in plan.tensors.items():
        if tensor.home == "constant":
            end = tensor.offset + (tensor.bytes or 0) + SLACK_BYTES
            if tensor.offset < 0 or tensor.offset % ALIGNMENT or end > constants_bytes:
                yield f"constant {name!r} does not lie among the constants"


def _arena_findings(plan: Plan) -> Iterator[str]:
    """Yield tensors that lie outside of the arena, or on each other while both are needed."""
    sizes = {n: padded(t.bytes or 0) for n, t in plan.tensors.items() if t.home == "arena"}
    if not 0 <= plan.arena_bytes <= sum(sizes.values()):
        yield f"the arena has {plan.arena_bytes} bytes, its tensors {sum(sizes.values())}"
    places = {name: plan.tensors[name].offset for name in sizes}
    for name, start in places.items():
        if start < 0 or start % ALIGNMENT or start + sizes[name] > plan.arena_bytes:
            yield f"tensor {name!r} does not lie in the arena"
    spans = {name: (places[name], places[name] + sizes[name]) for name in sizes}
    yield from overlaps(lifetimes(uses(plan.steps), sizes), spans)


def overlaps(lives: Mapping[str, Lifetime], spans: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Yield what lies on something else while both are needed; after the first, not all of it.

    In the order in which they come to life, each is compared with its neighbours among those
    alive, which lie apart: the time this takes does not grow with the square of their number.
    """
    alive: list[tuple[int, int, str]] = []
    ends: list[tuple[int, tuple[int, int, str]]] = []
    for name in sorted(lives, key=lambda each: lives[each].first):
        while ends and ends[0][0] < lives[name].first:
            del alive[bisect_left(alive, heappop(ends)[1])]
        low, high = spans[name]
        at = bisect_left(alive, (low, high, name))
        for begin, end, other in alive[max(at - 1, 0) : at + 1]:
            if begin < high and low < end:
                yield f"tensors {other!r} and {name!r} lie on each other"
        alive.insert(at, (low, high, name))
        heappush(ends, (lives[name].last, alive[at]))
