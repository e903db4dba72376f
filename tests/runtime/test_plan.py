"""A plan survives being written, and what is wrong with one is found before it runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from burnish.core import records
from burnish.runtime.plan import SCHEMA, Condition, KernelStep, OrtStep, Plan, PlanTensor, findings
from codegen.hand_written import built, kernel, plan_of

ORT = OrtStep("part_0.onnx", ("a",), ("y",), ("relu",), {"relu": "as a test"})


def mixed_plan() -> Plan:
    return plan_of((kernel("sum", "x", "x", "a", 4), ORT), 4)


@pytest.mark.parametrize("plan", [built(5).plan, mixed_plan()])
def test_a_plan_is_the_same_when_read_again(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(records.text_of(records.document(plan, schema=SCHEMA)))
    assert records.read_document(Plan, path, schema=SCHEMA) == plan


def test_it_tells_its_kernels_its_library_parts_and_the_scratch_memory() -> None:
    plan = mixed_plan()
    assert plan.kernels == ("sum",)
    assert plan.ort_steps == (ORT,)


@pytest.mark.parametrize(
    ("dtype", "shape", "size"),
    [("f32", (2, 3), 24), ("f16", (5,), 10), ("bool", (7,), 7), ("f64", (), 8), ("i8", (0, 4), 0)],
)
def test_a_tensor_knows_its_size(dtype: str, shape: tuple[int, ...], size: int) -> None:
    assert PlanTensor(dtype, shape, "arena").bytes == size


@pytest.mark.parametrize(("dtype", "shape"), [("str", (3,)), ("f32", None)])
def test_text_and_open_shapes_have_no_size(dtype: str, shape: tuple[int, ...] | None) -> None:
    assert PlanTensor(dtype, shape, "value").bytes is None


def test_a_sound_plan_has_no_findings() -> None:
    assert list(findings(built(5).plan)) == []


def step(*arguments: str) -> KernelStep:
    return kernel("sum", *arguments, 4)


def chosen(output: str, holds: bool, taken: str = "x") -> KernelStep:
    return dataclasses.replace(step(taken, "x", output), when=Condition("x", holds))


def test_what_both_ways_write_is_there() -> None:
    way = (chosen("a", True), chosen("y", True, "a"), chosen("y", False))
    assert list(findings(plan_of(way, 4))) == []
    assert str(way[2]).endswith(", unless x  # node_of_y")


@pytest.mark.parametrize(
    ("steps", "finding"),
    [
        ((step("x", "later", "y"),), "step 0 reads 'later' before it is written"),
        ((step("x", "x", "y"), step("x", "x", "y")), "step 1 writes 'y', which is already there"),
        ((step("x", "x", "a"),), "output 'y' is never written"),
        ((chosen("y", True), chosen("y", True)), "step 1 writes 'y', which is already there"),
        ((chosen("y", True), step("x", "x", "y")), "step 1 writes 'y', which is already there"),
        ((chosen("y", True),), "output 'y' is not always written"),
        (
            (chosen("a", True), chosen("y", False, "a"), chosen("y", True)),
            "step 1 reads 'a' before it is written",
        ),
    ],
)
def test_a_wrong_order_is_found(steps: tuple[KernelStep, ...], finding: str) -> None:
    assert finding in list(findings(plan_of(steps, 4)))


def test_an_unknown_tensor_is_found() -> None:
    plan = dataclasses.replace(plan_of((step("x", "x", "y"),), 4), steps=(step("x", "z", "y"),))
    assert "step 0 uses 'z', which is no tensor of the plan" in list(findings(plan))


def test_a_kernel_cannot_use_what_has_no_size() -> None:
    plan = plan_of((step("x", "v", "y"),), 4, inputs=("x", "v"), loose=("v",))
    assert "step 0 is a kernel, and 'v' has no fixed size" in list(findings(plan))


def test_the_library_cannot_use_another_layout() -> None:
    plan = mixed_plan()
    turned = PlanTensor("f32", (2, 2), "arena", 0, (1, 0))
    plan = dataclasses.replace(plan, tensors={**plan.tensors, "a": turned})
    finding = "step 1 is an ONNX Runtime part, and 'a' is not in ONNX's order"
    assert finding in list(findings(plan))
