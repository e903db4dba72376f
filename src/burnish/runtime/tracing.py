"""A timeline of a compiled model: one span per step, with the nodes whose work it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from burnish.core.arrays import Arrays
from burnish.runtime.executable import Executable, StepTime
from burnish.runtime.plan import KernelStep, Plan, Step
from burnish.trace.events import Span, Trace
from burnish.version import __version__

KERNELS = "burnish"
ORT = "ONNX Runtime"


def trace(executable: Executable, feeds: Arrays, *, warmup: int, runs: int) -> Trace:
    """Return a timeline of `runs` runs after `warmup` dropped ones."""
    plan = executable.plan
    recorded = executable.step_times(feeds, warmup=warmup, runs=runs)
    spans = [span for run, times in enumerate(recorded) for span in _spans(plan, times, run)]
    note = "steps are run one by one: what a step costs, not what runs of many kernels cost"
    return Trace(
        tuple(spans),
        f"burnish {__version__}",
        runs,
        (note,) if plan.kernel_steps else (),
        origins={label(n, step): origins(plan, step) for n, step in enumerate(plan.steps)},
    )


def label(number: int, step: Step) -> str:
    """Return what a step is called: several may run the same kernel."""
    return f"{number}: {step.kernel if isinstance(step, KernelStep) else step.file}"


def origins(plan: Plan, step: Step) -> tuple[str, ...]:
    """Return the nodes, as the model was given, whose work a step does."""
    return tuple(
        dict.fromkeys(name for node in step.nodes for name in plan.origins.get(node, (node,)))
    )


def _spans(plan: Plan, times: Sequence[StepTime], run: int) -> Iterator[Span]:
    if not times:
        yield Span("run", "run", 0.0, 0.0, KERNELS, run)
        return
    start, end = times[0].start_s, times[-1].start_s + times[-1].duration_s
    yield Span("run", "run", start, end - start, KERNELS, run)
    for number, (step, time) in enumerate(zip(plan.steps, times, strict=True)):
        kinds = dict.fromkeys(plan.operators.get(node, "?") for node in step.nodes)
        yield Span(
            label(number, step), "node", time.start_s, time.duration_s, KERNELS, run,
            node=label(number, step),
            op_type="+".join(kinds),
            provider=KERNELS if isinstance(step, KernelStep) else ORT,
        )  # fmt: skip
