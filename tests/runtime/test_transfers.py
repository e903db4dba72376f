"""What plans and operators touch, as a small memory sees it."""

from __future__ import annotations

from burnish.core.residency import Touched
from burnish.runtime.plan import Home, KernelStep, Plan, PlanTensor
from burnish.runtime.transfers import operators_of, work_of

HOMES: dict[str, Home] = {
    "x": "input", "w": "constant", "mean": "arena", "norm": "arena", "h": "arena", "y": "output"
}  # fmt: skip


def step(node: str, reads: tuple[str, ...], target: str) -> KernelStep:
    return KernelStep("k", (*reads, target), (target,), {}, (node,))


PLAN = Plan(
    target="cuda: sm_90",
    requires=(),
    tensors={name: PlanTensor("f32", (16,), home) for name, home in HOMES.items()},
    inputs=("x",),
    outputs=("y",),
    steps=(
        step("norm", ("x",), "mean"),
        step("norm", ("x", "mean"), "norm"),
        step("product", ("norm", "w"), "h"),
        step("sum", ("h", "x"), "y"),
    ),
    arena_bytes=256,
)


def test_a_plan_touches_what_its_kernels_take() -> None:
    work = work_of(PLAN)
    assert work.steps[1] == Touched(("x", "mean"), ("norm",))
    assert work.sizes["x"] == 64
    assert work.given == frozenset({"x", "w"})
    assert work.wanted == frozenset({"y"})
    assert work.lasting == work.fixed == frozenset({"w"})


def test_what_passes_between_kernels_of_one_operator_counts_as_nothing() -> None:
    work = operators_of(PLAN)
    assert work.steps == (
        Touched(("x",), ("norm",)),
        Touched(("norm", "w"), ("h",)),
        Touched(("h", "x"), ("y",)),
    )
    assert "mean" not in work.sizes
