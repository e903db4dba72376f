"""Branches of If in kernels, of which only those of the branch that is taken run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.codegen.write import write, write_sums
from burnish.core import backends
from burnish.core.arrays import Array
from burnish.core.errors import ModelError, UsageError
from burnish.rewrite.static import static
from burnish.runtime.cpu.runner import CpuCall
from burnish.runtime.folder import About
from burnish.runtime.load import load
from burnish.store import onnx_files
from burnish.store.compiled import PLAN
from burnish.tile.lower import cover
from codegen.models import PORTABLE, built, model, opened, weights
from codegen.test_turns import by_onnxruntime

KNOWN: Mapping[str, Array] = {
    **weights(("w", (4, 4)), ("r", (4, 3))),
    "zero": np.zeros((), np.float32),
    "ones": np.ones((2, 4), np.float32),
}

CHOICES = {
    "a product or a sum, of what is fed": """(float[2, 4] x, bool c) => (float[2, 4] y)
{ y = If (c) <then_branch = yes () => (float[2, 4] a) { h = MatMul(x, w) a = Tanh(h) },
  else_branch = no () => (float[2, 4] b) { b = Add(x, x) }> }""",
    "what kernels outside made, read inside, and read again": """
(float[2, 4] x, float[2, 4] z) => (float[2, 4] y)
{ up = MatMul(x, w)
  total = ReduceSum <keepdims = 0> (x)
  c = Greater(total, zero)
  k = If (c) <then_branch = yes () => (float[2, 4] a) { h = Exp(up) a = Sub(h, z) },
    else_branch = no () => (float[2, 4] b) { g = Neg(up) b = MatMul(g, w) }>
  s = Softmax(k)
  y = Add(s, up) }""",
    "two outputs, one a constant, one handed on": """
(float[2, 4] x, bool[1] c) => (float[2, 4] y, float[2, 3] z)
{ y, z = If (c) <then_branch = yes () => (float[2, 4] a, float[2, 3] p)
    { a = Identity(x) p = MatMul(x, r) },
  else_branch = no () => (float[2, 4] b, float[2, 3] q)
    { b = Identity(ones) n = Neg(x) q = MatMul(n, r) }> }""",
    "one of two outputs is read": """(float[2, 4] x, bool c) => (float[2, 4] y)
{ k, y = If (c) <then_branch = yes () => (float[2, 3] p, float[2, 4] a)
    { a = Sin(x) p = MatMul(a, r) },
  else_branch = no () => (float[2, 3] q, float[2, 4] b)
    { b = Cos(x) q = MatMul(b, r) }> }""",
    "one behind another, with one condition": """(float[2, 4] x, bool c) => (float[2, 4] y)
{ k = If (c) <then_branch = yes () => (float[2, 4] a) { a = Sin(x) },
    else_branch = no () => (float[2, 4] b) { b = Cos(x) }>
  m = MatMul(k, w)
  y = If (c) <then_branch = yes2 () => (float[2, 4] a2) { h = MatMul(m, w) a2 = Add(h, k) },
    else_branch = no2 () => (float[2, 4] b2) { b2 = Sub(m, k) }> }""",
}


def feeds_of(given: ir.Model, random: np.random.Generator, chosen: bool) -> dict[str, Array]:
    """Return inputs, with truth values as asked for."""
    shapes = {value.name or "": [int(n) for n in value.shape or ()] for value in given.graph.inputs}
    sign = np.float32(1 if chosen else -1)
    return {
        name: np.full(shape, chosen)
        if name == "c"
        else sign * np.abs(random.normal(size=shape)).astype(np.float32)
        for name, shape in shapes.items()
    }


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CHOICES)
def test_both_branches_give_what_onnx_runtime_gives(
    name: str, threads: int, tmp_path: Path
) -> None:
    given = model("either " + CHOICES[name], KNOWN)
    fixed = static(given, {})
    made = built(fixed)
    assert not made.plan.ort_steps
    random = np.random.default_rng(3)
    with opened(made, fixed, tmp_path / "f", threads) as loaded:
        for chosen in (True, False, True):
            feeds = feeds_of(given, random, chosen)
            found, wanted = loaded.run(feeds), by_onnxruntime(given, feeds)
            for output, array in wanted.items():
                np.testing.assert_allclose(found[output], array, rtol=2e-5, atol=2e-6)


LEFT = {
    "(float[4] x, bool c) => (float[n] y) { y = If (c) <then_branch = yes () => (float[n] a)"
    " { a = Concat <axis = 0> (x, x) }, else_branch = no () => (float[n] b) { b = Neg(x) }> }":
        "'y' is f32[8] in one branch, f32[4] in the other",
    "(float[4] x, bool c) => (float[4] y) { y = If (c) <then_branch = yes () => (float[4] a)"
    " { a = RandomUniformLike(x) }, else_branch = no () => (float[4] b) { b = Neg(x) }> }":
        "in its body, 'randomuniformlike_2' (RandomUniformLike): the operator RandomUniformLike has"
        " no tile semantics",
}  # fmt: skip


@pytest.mark.parametrize("text", LEFT)
def test_what_stays_with_onnx_runtime_says_why(text: str, tmp_path: Path) -> None:
    given = model("either " + text, KNOWN)
    fixed = static(given, {})
    (reason,) = cover(fixed.graph, repeats=True).left.values()
    assert reason == LEFT[text]
    if "Random" not in text:
        with opened(built(fixed), fixed, tmp_path / "f") as loaded:
            feeds = {"x": np.arange(4, dtype=np.float32), "c": np.array(False)}
            np.testing.assert_array_equal(loaded.run(feeds)["y"], -feeds["x"])


PICKED = """(float[5, 4] x, int64[2] at, bool c) => (float[2, 4] y)
{ y = If (c) <then_branch = yes () => (float[2, 4] a) { a = Gather(x, at) },
  else_branch = no () => (float[2, 4] b) { b = Identity(ones) }> }"""


def test_indices_are_looked_at_where_their_branch_is_taken(tmp_path: Path) -> None:
    given = model("either " + PICKED, KNOWN)
    fixed = static(given, {})
    feeds = {"x": np.ones((5, 4), np.float32), "at": np.array([0, 9])}
    with opened(built(fixed), fixed, tmp_path / "f") as loaded:
        found = loaded.run({**feeds, "c": np.array(False)})
        np.testing.assert_array_equal(found["y"], KNOWN["ones"])
        with pytest.raises(UsageError, match="input 'at' holds 9"):
            loaded.run({**feeds, "c": np.array(True)})


NOWHERE = """(float[2, 4] x, bool c) => (float[2, 4] y)
{ y = If (c) <then_branch = yes () => (float[2, 4] a) { a = Neg(x) },
  else_branch = no () => (float[2, 4] b) { i = Constant <value = int64[2] {7, 9}> ()
    b = Gather(x, i) }> }"""


def test_a_branch_that_reads_what_does_not_exist_is_an_error_only_where_it_is_taken(
    tmp_path: Path,
) -> None:
    fixed = static(model("either " + NOWHERE, KNOWN), {})
    feeds = {"x": np.ones((2, 4), np.float32)}
    with opened(built(fixed), fixed, tmp_path / "f") as loaded:
        found = loaded.run({**feeds, "c": np.array(True)})
        np.testing.assert_array_equal(found["y"], -feeds["x"])
        with pytest.raises(ModelError, match="indices element out of data bounds"):
            loaded.run({**feeds, "c": np.array(False)})


def test_kernels_of_the_other_branch_do_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = static(model("either " + CHOICES["a product or a sum, of what is fed"], KNOWN), {})
    made = built(fixed)
    ran: list[int] = []
    kernels = CpuCall.run

    def watched(self: CpuCall, first: int, count: int) -> None:
        ran.extend(range(first, first + count))
        kernels(self, first, count)

    monkeypatch.setattr(CpuCall, "run", watched)
    feeds = {"x": np.ones((2, 4), np.float32)}
    with opened(made, fixed, tmp_path / "f") as loaded:
        for chosen in (True, False):
            ran.clear()
            loaded.run({**feeds, "c": np.array(chosen)})
            mine = [
                n for n, s in enumerate(made.plan.kernel_steps) if s.when and s.when.holds == chosen
            ]
            assert ran == mine


BOUND = """(float[batch, 4] x, bool c) => (float[batch, 4] y)
{ size = Shape(x)
  y = If (c) <then_branch = yes () => (float[p, 4] a) { o = Expand(zero, size) a = Sub(o, x) },
    else_branch = no () => (float[q, 4] b) { h = MatMul(x, w) g = Sigmoid(h) b = Mul(h, g) }> }"""


def test_sizes_reach_the_branches_of_a_rewritten_model(tmp_path: Path) -> None:
    given = model("either " + BOUND, KNOWN)
    prepared = prepare(given, {"batch": 3})
    made = plan(prepared, PlanOptions(PORTABLE, Predicted(PORTABLE)))
    assert not made.plan.ort_steps
    random = np.random.default_rng(3)
    with opened(made, prepared.model, tmp_path / "f") as loaded:
        for chosen in (True, False):
            feeds = {"x": random.normal(size=(3, 4)).astype(np.float32), "c": np.array(chosen)}
            wanted = by_onnxruntime(given, feeds)
            np.testing.assert_allclose(loaded.run(feeds)["y"], wanted["y"], rtol=2e-5, atol=2e-6)


def altered(folder: Path, change: Callable[[dict[str, Any]], object]) -> str:
    """Change every step of a written plan, and return why it is refused."""
    fixed = static(model("either " + CHOICES["a product or a sum, of what is fed"], KNOWN), {})
    interface = onnx_files.interface(fixed)
    about = About("m", "m.onnx", "0", interface.inputs, interface.outputs, "f32", "a CPU", "today")
    write(folder, about, [built(fixed)], PORTABLE)
    data = json.loads((folder / PLAN).read_text())
    for step in data["plans"][0]["steps"]:
        change(step)
    (folder / PLAN).write_text(json.dumps(data))
    write_sums(folder)
    with pytest.raises(ModelError) as found, load(folder, threads=1):
        pass
    return found.value.problem.removeprefix(f"{folder}: plan 0 cannot be run: ")


def test_a_condition_must_be_one_truth_value(tmp_path: Path) -> None:
    problem = altered(tmp_path / "f", lambda step: step["when"].update(tensor="x"))
    assert problem == "step 0 runs if x, which is not one truth value"


def test_what_leaves_no_step_out_runs_no_branches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    always = dataclasses.replace(backends.BACKENDS["cpu"], repeats=False)
    monkeypatch.setattr(backends, "BACKENDS", {**backends.BACKENDS, "cpu": always})
    problem = altered(tmp_path / "f", lambda _step: None)
    assert problem == "step 0 cannot be repeated or left out on cpu: portable"


def test_cards_leave_it_to_onnx_runtime() -> None:
    fixed = static(model("either " + CHOICES["a product or a sum, of what is fed"], KNOWN), {})
    assert [*cover(fixed.graph).left.values()] == ["the operator If has no tile semantics"]
