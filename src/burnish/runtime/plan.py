"""What an executable does, as data: tensors, where they live, and the steps in order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from burnish.core.existing import LookKind
from burnish.core.tensors import BITS

SCHEMA = 1

Home = Literal["input", "output", "arena", "constant", "value"]
"""Where a tensor's memory is.

`input`: the caller's array. `output`: the array that is handed back. `arena`: memory that steps
share. `constant`: the plan's constants. `value`: whatever ONNX Runtime allocated, for text and for
what has no size before it is computed; only ONNX Runtime parts can read or write it.
"""


@dataclass(frozen=True, slots=True)
class PlanTensor:
    """A tensor that some step reads or writes in memory."""

    dtype: str
    shape: tuple[int, ...] | None
    """None: only known when it has been computed."""
    home: Home
    offset: int = 0
    """In the arena or among the constants, in bytes."""
    layout: tuple[int, ...] | None = None
    """Its dimensions from the outermost to the innermost in memory; None: ONNX's order."""
    strides: tuple[int, ...] | None = None
    """Elements from each to its neighbour along each dimension; None: they lie densely."""

    def __str__(self) -> str:
        shape = "?" if self.shape is None else ", ".join(map(str, self.shape))
        place = f" at {self.offset:,}" if self.home in ("arena", "constant") else ""
        order = f", order {' '.join(map(str, self.layout))}" if self.layout else ""
        apart = f", strides {' '.join(map(str, self.strides))}" if self.strides else ""
        return f"{self.dtype}[{shape}] {self.home}{place}{order}{apart}"

    @property
    def bytes(self) -> int | None:
        """Return how much memory it takes; None: it has no fixed size."""
        if self.shape is None or self.dtype not in BITS:
            return None
        elements = math.prod(self.shape)
        if self.strides is not None and elements:
            steps = zip(self.shape, self.strides, strict=False)
            elements = 1 + sum((size - 1) * stride for size, stride in steps)
        return elements * (-(-BITS[self.dtype] // 8))


@dataclass(frozen=True, slots=True)
class Strip:
    """What an argument of a repeated step is, time after time: parts of a tensor, in bytes."""

    shape: tuple[int, ...]
    start: int
    """Where it begins the first time."""
    step: int
    """How much further it begins each next time."""
    initial: str = ""
    """The tensor that stands for it the first time; empty: there is no other."""
    initial_start: int = 0

    def begin(self, time: int) -> int:
        """Return where it begins, in its tensor or the first time in its initial one."""
        return self.start + time * self.step if time or not self.initial else self.initial_start


@dataclass(frozen=True, slots=True)
class Repeat:
    """That a step runs many times: with its neighbours of the same loop, in turns."""

    loop: int
    """Steps of one loop stand side by side."""
    chain: int
    """Steps of different chains of a loop need nothing of each other."""
    times: int
    strips: tuple[Strip | None, ...]
    """One for each argument; None: it is the whole tensor."""


@dataclass(frozen=True, slots=True)
class Condition:
    """That a step runs only if a tensor of one truth value holds this."""

    tensor: str
    holds: bool

    @property
    def otherwise(self) -> Condition:
        """Return the condition that is true where this one is not."""
        return Condition(self.tensor, not self.holds)

    def __str__(self) -> str:
        return f"{'if' if self.holds else 'unless'} {self.tensor}"


@dataclass(frozen=True, slots=True)
class TensorLook:
    """That whoever runs a plan looks at whole numbers, which kernels take as they come."""

    tensor: str
    name: str
    """What it is called in the model."""
    kind: LookKind
    size: int = 0
    """How many places there are, or the steps of the longest row."""
    column: int | None = None
    """The part of the innermost dimension that is looked at; None: all of it."""
    told: bool = False
    """Whether a kernel has looked: the tensor is what it tells of the one that is called so in the
    model, -1 - least, and greatest; of divisors, of 1 for each, and 0 for each that is 0."""
    forward: bool = False
    """Whether places are not counted from the end."""


@dataclass(frozen=True, slots=True)
class KernelStep:
    """One generated kernel, over all its tiles."""

    kernel: str
    """The function; steps that do the same with other tensors share it."""
    arguments: tuple[str, ...]
    """Tensors in the order in which the function takes their addresses."""
    outputs: tuple[str, ...]
    """Those of the arguments that it writes."""
    launch: Mapping[str, int]
    """How its back end starts it, in the fields of a record of the back end's own."""
    nodes: tuple[str, ...]
    """The ONNX nodes whose work it does."""
    tile: tuple[int, ...] = ()
    """The shape of a tile of its last output."""
    run: int = 1
    """Tiles that are computed one after the other, and keep what they share."""
    predicted_s: float | None = None
    predicted_bytes: float | None = None
    """Predicted traffic between memory and the caches."""
    measured_s: float | None = None
    indices: Mapping[str, int] = field(default_factory=dict)
    """Arguments that hold indices, and how many there are; kernels take others for the nearest.

    Empty where looks say it."""
    looks: tuple[TensorLook, ...] = ()
    """What must be true of its tensors: of inputs before it runs, of others when it has run."""
    repeat: Repeat | None = None
    """None: it runs once."""
    when: Condition | None = None
    """None: it always runs."""

    def __str__(self) -> str:
        launch = ", ".join(f"{name} {value:,}" for name, value in self.launch.items())
        taken, given = ", ".join(self.inputs), ", ".join(self.outputs)
        often = f", {self.repeat.times:,} times" if self.repeat else ""
        chosen = f", {self.when}" if self.when else ""
        made = f"{given} = {self.kernel}({taken}) with {launch}{often}{chosen}"
        return f"{made}  # {', '.join(self.nodes)}"

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the tensors that it reads, constants and what says whether it runs included."""
        strips = self.repeat.strips if self.repeat else ()
        more = [strip.initial for strip in strips if strip is not None and strip.initial]
        more += [self.when.tensor] if self.when else []
        more += [look.tensor for look in self.looks]
        every = dict.fromkeys((*self.arguments, *more)) if more else self.arguments
        return tuple(name for name in every if name not in self.outputs)

    def strip(self, position: int) -> Strip | None:
        """Return which part of a tensor an argument is; None: all of it."""
        return self.repeat.strips[position] if self.repeat else None


@dataclass(frozen=True, slots=True)
class OrtStep:
    """A part of the model that ONNX Runtime runs."""

    file: str
    """The part as a model of its own."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[str, ...]
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why each node is with ONNX Runtime, by node."""
    measured_s: float | None = None

    def __str__(self) -> str:
        taken, given = ", ".join(self.inputs), ", ".join(self.outputs)
        return f"{given} = onnxruntime {self.file}({taken})  # {', '.join(self.nodes)}"


Step = KernelStep | OrtStep


@dataclass(frozen=True, slots=True)
class OpenSize:
    """A size that a plan leaves open: with a smaller one it computes the front of its tensors."""

    name: str
    most: int
    """What the plan's tensors and steps are for."""
    rows: Mapping[str, int]
    """How many outermost rows tensors have for each one of it; others do not depend on it."""
    steps: tuple[int, ...]
    """Those that have a tile less for each row less."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is known before a model is fed; sizes are fixed, but for an open one."""

    target: str
    """The back end and the device that its kernels are for: `cpu: avx512`, `cuda: sm_90`."""
    requires: tuple[str, ...]
    """What its kernels need of a device, in the back end's words: flags of a CPU."""
    tensors: Mapping[str, PlanTensor]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    steps: tuple[Step, ...]
    arena_bytes: int
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The size of each symbolic dimension of the model."""
    operators: Mapping[str, str] = field(default_factory=dict)
    """The operator of each node, by node."""
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The nodes of the model as it was given that each node stands for, by node."""
    device_memory_bytes: int | None = None
    """The most of a card's memory that it may take; None: as much as there is."""
    open: OpenSize | None = None
    """None: all sizes are fixed."""

    def __str__(self) -> str:
        lines = [f"for {self.target}", f"arena of {self.arena_bytes:,} bytes"]
        lines += [f"{name}: {tensor}" for name, tensor in self.tensors.items()]
        return "\n".join([*lines, *(f"{at}: {step}" for at, step in enumerate(self.steps))])

    @property
    def kernels(self) -> tuple[str, ...]:
        """Return the functions that the plan calls, each once."""
        return tuple(dict.fromkeys(step.kernel for step in self.kernel_steps))

    @property
    def kernel_steps(self) -> tuple[KernelStep, ...]:
        """Return the generated part of the plan."""
        return tuple(step for step in self.steps if isinstance(step, KernelStep))

    @property
    def ort_steps(self) -> tuple[OrtStep, ...]:
        """Return the part that ONNX Runtime runs."""
        return tuple(step for step in self.steps if isinstance(step, OrtStep))

    @property
    def indices(self) -> dict[str, int]:
        """Return the inputs that hold indices whatever is chosen, each with how many there are."""
        return self.indices_of([step for step in self.kernel_steps if step.when is None])

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return the tensors that say which steps run, each once."""
        found = (step.when.tensor for step in self.kernel_steps if step.when is not None)
        return tuple(dict.fromkeys(found))

    def fed_looks(self, steps: Iterable[Step]) -> tuple[TensorLook, ...]:
        """Return what is looked at of inputs before these steps run, each once."""
        return tuple(look for look in _looks(steps) if look.tensor in self.inputs)

    def computed_looks(self, steps: Iterable[Step]) -> tuple[TensorLook, ...]:
        """Return what is looked at in memory when these steps have run, each once."""
        found = (look for look in _looks(steps) if look.tensor not in self.inputs)
        return tuple(look for look in found if not look.told)

    @property
    def spans(self) -> dict[str, TensorLook]:
        """Return what kernels tell of what they looked at, by the tensor that holds it."""
        return told_looks(self.kernel_steps)

    def indices_of(self, steps: Iterable[Step]) -> dict[str, int]:
        """Return the inputs that steps take for indices, each with how many there are."""
        found: dict[str, int] = {}
        for step in (step for step in steps if isinstance(step, KernelStep)):
            for name, size in step.indices.items():
                if name in self.inputs:
                    found[name] = min(size, found.get(name, size))
        return found


def told_looks(steps: Iterable[Step]) -> dict[str, TensorLook]:
    """Return what these steps tell of what they looked at, by the tensor that holds it."""
    return {look.tensor: look for look in _looks(steps) if look.told}


def _looks(steps: Iterable[Step]) -> dict[TensorLook, None]:
    of_kernels = (step.looks for step in steps if isinstance(step, KernelStep))
    return {look: None for looks in of_kernels for look in looks}


def loops(steps: Sequence[Step]) -> Iterator[range]:
    """Yield the numbers of steps that run as one: those of a loop, each other one by itself."""
    begin = 0
    while begin < len(steps):
        end, first = begin + 1, loop_of(steps[begin])
        while first is not None and end < len(steps) and loop_of(steps[end]) == first:
            end += 1
        yield range(begin, end)
        begin = end


def loop_of(step: Step) -> int | None:
    """Return the loop that a step is part of; None: it runs once."""
    return step.repeat.loop if isinstance(step, KernelStep) and step.repeat else None


def findings(plan: Plan) -> Iterator[str]:
    """Yield what is wrong with a plan; a plan with findings must not be run."""
    known = _Known({*plan.inputs, *(n for n, t in plan.tensors.items() if t.home == "constant")})
    for number, step in enumerate(plan.steps):
        for name in (*step.inputs, *step.outputs):
            if name not in plan.tensors:
                yield f"step {number} uses {name!r}, which is no tensor of the plan"
                return
    for numbers in loops(plan.steps):
        yield from _order_findings(plan, numbers, known)
        for number in numbers:
            known.add(plan.steps[number])
    for name in plan.outputs:
        if name not in known.always:
            often = "not always" if known.is_taken(name, None) else "never"
            yield f"output {name!r} is {often} written"


def condition_of(step: Step) -> Condition | None:
    """Return where a step runs; None: always."""
    return step.when if isinstance(step, KernelStep) else None


@dataclass(slots=True)
class _Known:
    """What has been written: always, or where a condition is true."""

    always: set[str]
    chosen: dict[Condition, set[str]] = field(default_factory=dict)

    def has(self, name: str, step: Step) -> bool:
        """Say whether a tensor is there whenever a step runs."""
        when = condition_of(step)
        return name in self.always or (when is not None and name in self.chosen.get(when, ()))

    def is_taken(self, name: str, when: Condition | None) -> bool:
        """Say whether a tensor may have been written before a step that runs under a condition."""
        other = (found for each, found in self.chosen.items() if not when or each != when.otherwise)
        return name in self.always or any(name in found for found in other)

    def add(self, step: Step) -> None:
        """Take note of what a step writes; what both ways write is always there."""
        when = condition_of(step)
        if when is None:
            self.always.update(step.outputs)
            return
        self.chosen.setdefault(when, set()).update(step.outputs)
        self.always |= self.chosen[when] & self.chosen.get(when.otherwise, set())


def _order_findings(plan: Plan, numbers: range, known: _Known) -> Iterator[str]:
    """Yield what steps that run as one read too early or write too late, given what is there."""
    # within a loop, what one step writes another reads in the next turn
    own = {name for number in numbers for name in plan.steps[number].outputs}
    for number in numbers:
        step = plan.steps[number]
        for name in step.inputs:
            if not known.has(name, step) and name not in own:
                yield f"step {number} reads {name!r} before it is written"
        for name in step.outputs:
            if known.is_taken(name, condition_of(step)):
                yield f"step {number} writes {name!r}, which is already there"
        yield from _home_findings(plan, number, step)


def _home_findings(plan: Plan, number: int, step: Step) -> Iterator[str]:
    for name in (*step.inputs, *step.outputs):
        tensor = plan.tensors[name]
        if isinstance(step, KernelStep):
            if tensor.home == "value" or tensor.bytes is None:
                yield f"step {number} is a kernel, and {name!r} has no fixed size"
        elif tensor.strides or tensor.layout not in (None, tuple(range(len(tensor.shape or ())))):
            yield f"step {number} is an ONNX Runtime part, and {name!r} is not in ONNX's order"
