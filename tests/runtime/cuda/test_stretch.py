"""Any order of kernels gets memory in which each finds what earlier ones wrote."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burnish.codegen.place import with_places
from burnish.cuda.memory import aligned
from burnish.runtime.cuda.launch import CudaLaunch
from burnish.runtime.cuda.stretch import stretch
from burnish.runtime.plan import KernelStep, Plan, PlanTensor
from cuda_samples import WEIGHT, N, Sample, cubin, loaded
from fake_driver import FakeDriver

ONE = CudaLaunch((1, 1, 1)).fields


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Return additions of earlier tensors, of which some are given out."""
    names = ["x", "weight"]
    steps = []
    for number in range(draw(st.integers(1, 12))):
        operands = draw(st.tuples(st.sampled_from(names[-4:]), st.sampled_from(names)))
        target = f"t{number}"
        steps.append(KernelStep("add", (*operands, target), (target,), ONE, ()))
        names.append(target)
    more = draw(st.lists(st.sampled_from(names), unique=True))
    outputs = tuple(dict.fromkeys((names[-1], *more)))
    homes = {name: "output" if name in outputs else "arena" for name in names}
    homes |= {"x": "input", "weight": "constant"}
    tensors = {name: PlanTensor("f32", (N,), home) for name, home in homes.items()}  # type: ignore[arg-type]
    placed, arena_bytes = with_places(tensors, steps)
    return Plan("cuda: sm_90", (), placed, ("x",), outputs, tuple(steps), arena_bytes)


@given(plans())
def test_any_plan_gives_what_numpy_gives(plan: Plan) -> None:
    x = np.arange(1, N + 1, dtype=np.float32)
    values = {"x": x, "weight": WEIGHT}
    for step in plan.kernel_steps:
        one, other, result = step.arguments
        values[result] = values[one] + values[other]
    told = stretch(plan, 0, len(plan.steps), {"add": cubin("add", 3)})
    constants = np.resize(WEIGHT, aligned(4 * N) // 4).view(np.uint8)
    model = loaded(FakeDriver(), Sample(told, constants))
    for _ in range(2):
        found = model.run({"x": x})
        assert tuple(found) == plan.outputs
        for name, array in found.items():
            np.testing.assert_array_equal(array, values[name])


@given(plans())
def test_dead_tensors_make_room(plan: Plan) -> None:
    alive = [each for each in plan.tensors.values() if each.home == "arena"]
    assert plan.arena_bytes <= 512 * len(alive)
