"""Small kernels in LLVM IR, and plans of them: what the runtime is tried with."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx_ir as ir

from burnish.codegen.place import BuiltPlan
from burnish.core.tensors import TensorSpec
from burnish.runtime.buffers import Uses, arena
from burnish.runtime.folder import About
from burnish.runtime.plan import KernelStep, OrtStep, Plan, PlanTensor

SUM = """
define void @{name}(ptr %args, i64 %begin, i64 %end, ptr %scratch) {{
entry:
  %a = load ptr, ptr %args
  %b_at = getelementptr ptr, ptr %args, i64 1
  %b = load ptr, ptr %b_at
  %c_at = getelementptr ptr, ptr %args, i64 2
  %c = load ptr, ptr %c_at
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %done
body:
  %p = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %p
  %q = getelementptr float, ptr %b, i64 %i
  %y = load float, ptr %q
  store float %y, ptr %scratch
  %again = load float, ptr %scratch
  %z = f{function} float %x, %again
  %r = getelementptr float, ptr %c, i64 %i
  store float %z, ptr %r
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
"""c[i] = a[i] (function) b[i], one element per tile, through the scratch memory."""

KERNELS = {
    "sum": SUM.format(name="sum", function="add"),
    "product": SUM.format(name="product", function="mul"),
}


FLAGS = ("sse4_1", "sse4_2", "ssse3", "popcnt")
"""What the portable target needs of a CPU."""


def kernel(name: str, left: str, right: str, out: str, size: int) -> KernelStep:
    """Return a step that computes `out` from two tensors of `size` elements."""
    launch = {"tiles": size, "scratch_bytes": 64}
    return KernelStep(name, (left, right, out), (out,), launch, (f"node_of_{out}",))


def plan_of(
    steps: tuple[KernelStep | OrtStep, ...],
    size: int,
    *,
    inputs: tuple[str, ...] = ("x",),
    outputs: tuple[str, ...] = ("y",),
    constants: tuple[str, ...] = (),
    loose: tuple[str, ...] = (),
) -> Plan:
    """Return a plan over f32 vectors of one size; what is nothing else lies in the arena."""
    names = dict.fromkeys(name for step in steps for name in (*step.inputs, *step.outputs))
    homes = dict.fromkeys(inputs, "input")
    homes |= {name: "output" for name in outputs if name not in homes}
    homes |= dict.fromkeys(constants, "constant")
    homes |= dict.fromkeys(loose, "value")
    shared = [name for name in names if name not in homes]
    uses = [
        Uses(*(tuple(n for n in part if n in shared) for part in (step.inputs, step.outputs)))
        for step in steps
    ]
    found = arena(uses, dict.fromkeys(shared, 4 * size))
    tensors = {
        name: PlanTensor("f32", (size,), homes.get(name, "arena"), found.offsets.get(name, 0))
        for name in dict.fromkeys([*inputs, *names, *outputs])
    }
    tensors |= {name: PlanTensor("f32", None, "value") for name in loose}
    return Plan(
        "cpu: portable", FLAGS, tensors, inputs, outputs, steps, found.bytes, sizes={"n": size}
    )


def built(size: int) -> BuiltPlan:
    """Return y = (x + c) · (x + c) + x for vectors of one size."""
    steps = (
        kernel("sum", "x", "c", "a", size),
        kernel("product", "a", "a", "b", size),
        kernel("sum", "b", "x", "y", size),
    )
    plan = plan_of(steps, size, constants=("c",))
    return BuiltPlan(plan, KERNELS, {"c": np.full(size, 0.5, np.float32)})


def expected(x: np.ndarray) -> np.ndarray:
    """Return what `built` computes."""
    return (x + np.float32(0.5)) * (x + np.float32(0.5)) + x


ABOUT = About(
    model="tiny",
    source="tiny.onnx",
    source_key="0" * 64,
    inputs=(TensorSpec("x", "f32", ("n",)),),
    outputs=(TensorSpec("y", "f32", ("n",)),),
    precision="f32",
    device="a CPU",
    date="2026-11-15",
)


def mixed(size: int, model: ir.Model, part: ir.Model) -> BuiltPlan:
    """Return y = relu(x + c) + x where ONNX Runtime runs the Relu (`part`, from a to b)."""
    del model
    steps = (
        kernel("sum", "x", "c", "a", size),
        OrtStep("part_0.onnx", ("a",), ("b",), ("relu",), {"relu": "as a test"}),
        kernel("sum", "b", "x", "y", size),
    )
    plan = plan_of(steps, size, constants=("c",))
    constants = {"c": np.full(size, 0.5, np.float32)}
    return BuiltPlan(
        dataclasses.replace(plan, operators={"relu": "Relu"}), KERNELS, constants,
        {"part_0.onnx": part},
    )  # fmt: skip
