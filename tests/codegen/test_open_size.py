"""A size may stay open where only outermost loops depend on it; elsewhere the reason is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.open_size import ClosedSizeError, Sized, opened, rows
from burnish.codegen.pipeline import PlanOptions, plan_up_to, prepare
from burnish.codegen.place import BuiltPlan
from burnish.codegen.schedule import Predicted
from burnish.codegen.write import write
from burnish.core.arrays import Array
from burnish.core.errors import ModelError, UsageError
from burnish.rewrite.static import static
from burnish.runtime import load
from burnish.runtime.folder import About
from burnish.runtime.load import LoadedModel, open_folder
from burnish.runtime.open_plan import at_size, fitting_size, open_findings, sizes_text
from burnish.store import onnx_files
from burnish.tile.lower import lower
from codegen.models import MIXED, PORTABLE, mlp, model, reference, weights

ATTENTION = """
attention (float[batch, 4, 8] x, int64[batch, 4] ids)
    => (float[batch, 4, 8] y, float[batch, 8] first)
<int64[2] rows = {-1, 8}, int64[3] back = {-1, 4, 8}>
{
    words = Gather(table, ids)
    sum = Add(x, words)
    flat = Reshape(sum, rows)
    q = MatMul(flat, w)
    query = Reshape(q, back)
    turned = Transpose <perm = [0, 2, 1]> (sum)
    scores = MatMul(query, turned)
    p = Softmax <axis = -1> (scores)
    y = MatMul(p, sum)
    one = Constant <value = int64 {0}> ()
    first = Gather <axis = 1> (y, one)
}
"""
"""Rows of images or texts folded into one dimension, and taken out of it again."""
ATTENTION_WEIGHTS = weights(("w", (8, 8)), ("table", (11, 8)))

MASKED = """
masked (float[batch, 4] x, int64[batch, 4] mask) => (float[batch, 1, 1, 4] y)
<int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[4] own = {0, 1, 2, 3},
 int64[1] last = {4}, int64[4] front = {-1, 1, 1, 1},
 int64[3] all = {1, 1, 4}, float none = {-1e4}, float whole = {0}>
{
    sizes = Shape <start = 0, end = 1> (mask)
    size = Squeeze(sizes, first)
    rows = Range(zero, size, one)
    row = Reshape(rows, front)
    shape = Concat <axis = 0> (sizes, all)
    many = Expand(row, shape)
    places = Unsqueeze(many, last)
    column = Expand(own, shape)
    beside = Unsqueeze(column, last)
    pairs = Concat <axis = -1> (places, beside)
    truth = Cast <to = 9> (mask)
    picked = GatherND(truth, pairs)
    bias = Where(picked, whole, none)
    wide = Unsqueeze(x, inner2)
    sum = Add(wide, bias)
    y = Softmax <axis = -1> (sum)
}
"""
"""A mask that is fetched by places made of the batch, as torch's exporter writes it."""

CONVOLUTIONS = """
convolutions (float[batch, 8, 9, 9] x) => (float[batch, 8] y)
{
    a = Conv <pads = [1, 1, 1, 1]> (x, w)
    b = Relu(a)
    c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (b, w)
    d = Add(c, bias)
    y = ReduceMean <keepdims = 0> (d, axes)
}
"""
CONVOLUTION_WEIGHTS = {
    **weights(("w", (8, 8, 3, 3)), ("bias", (1, 8, 1, 1))),
    "axes": np.array([2, 3]),
}


def up_to(of: ir.Model, most: int, name: str = "batch") -> BuiltPlan:
    """Return a plan for all sizes of a name up to the greatest."""
    options = PlanOptions(PORTABLE, Predicted(PORTABLE))
    return plan_up_to(of, prepare(of, {name: most}), name, options)


def loaded(of: ir.Model, made: BuiltPlan, folder: Path, threads: int = 1) -> LoadedModel:
    """Return the plan, written and loaded."""
    io = onnx_files.interface(of)
    about = About("m", "m.onnx", "0", io.inputs, io.outputs, "f32", "a CPU", "today")
    write(folder, about, [made], PORTABLE)
    return open_folder(folder, threads=threads)


def feeds(of: ir.Model, batch: int) -> dict[str, Array]:
    random = np.random.default_rng(batch)
    found: dict[str, Array] = {}
    for spec in onnx_files.interface(of).inputs:
        shape = [batch if size == "batch" else int(size) for size in spec.shape]
        made = random.integers(0, 11, shape) if spec.dtype == "i64" else random.normal(size=shape)
        found[spec.name] = made.astype(np.int64 if spec.dtype == "i64" else np.float32)
    return found


MODELS: Mapping[str, ir.Model] = {
    "mlp": mlp(),
    "attention": model(ATTENTION, ATTENTION_WEIGHTS),
    "masked": model(MASKED, {"inner2": np.array([1, 2])}),
    "convolutions": model(CONVOLUTIONS, CONVOLUTION_WEIGHTS),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_one_plan_computes_every_size_up_to_its_own(
    name: str, threads: int, tmp_path: Path
) -> None:
    of, most = MODELS[name], 5
    with loaded(of, up_to(of, most), tmp_path / "f", threads) as compiled:
        for size in (5, 1, 3, 2, 4, 1):
            given = feeds(of, size)
            expected = reference(of, given)
            for output, array in compiled.run(given).items():
                assert array.shape == expected[output].shape
                np.testing.assert_allclose(array, expected[output], rtol=2e-4, atol=2e-4)


REFUSED = {
    "sum (float[batch, 8] x) => (float[8] y) <int64[1] axes = {0}> "
    "{ y = ReduceSum <keepdims = 0> (x, axes) }": "depends on it",
    "turn (float[batch, 8] x) => (float[8, batch] y) { y = Transpose(x) }": "another dimension",
    "pairs (float[batch, 8] x) => (float[batch, batch] y) "
    "{ t = Transpose(x) y = MatMul(x, t) }": "another dimension",
    "last (float[batch, 8] x) => (float[8] y) <int64 at = {1}> "
    "{ y = Gather <axis = 0> (x, at) }": "reads other rows of 'x'",
    "back (float[batch, 8] x) => (float[batch, 8] y) "
    "<int64[1] from = {-1}, int64[1] to = {-99}, int64[1] axes = {0}, int64[1] step = {-1}> "
    "{ y = Slice(x, from, to, axes, step) }": "depends on it",
    "scatter (float[batch, 2] x, float[3, 2] z) => (float[batch, 2] y) <int64[3, 1] to = {2, 0, 1}>"
    "{ y = ScatterND(x, to, z) }": "it writes to a place that does not exist",
    "none (float[batch, 8] x) => (float[batch, 8] x) {}": "the model computes nothing",
    "beside (float[batch, 8] x, float[3, batch] z) => (float[batch, 8] y) { y = Exp(x) }": (
        "'z' has it in another dimension"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_depends_on_more_than_outermost_loops_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(ClosedSizeError, match=REFUSED[text]) as raised:
        up_to(model(text), 4)
    assert raised.value.hint == "compile a plan for each size: --shape batch=1 --shape batch=8"


def nests(text: str, batch: int, constants: Mapping[str, Array] | None = None) -> Sized:
    """Return the nests of a model at a size."""
    fixed = static(model(text, constants), {"batch": batch})
    return Sized(lower(tuple(fixed.graph)).graph, batch)


def test_other_nests_and_other_constants_at_another_size_are_told() -> None:
    double, text = "(float[batch, 8] x) => (float[batch, 8] y)", "{ y = Add(x, w) }"
    with pytest.raises(ClosedSizeError, match="other sizes are computed in another way"):
        one, more = "{ y = Neg(x) }", "{ z = Neg(x) y = Exp(z) }"
        rows("batch", nests(f"a {double} {one}", 4), nests(f"a {double} {more}", 5))
    ones, twos = (np.full(8, value, np.float32) for value in (1, 2))
    with pytest.raises(ClosedSizeError, match="the constant 'w' depends on it"):
        whole = f"a {double} {text}"
        rows("batch", nests(whole, 4, {"w": ones}), nests(whole, 5, {"w": twos}))


def test_constants_that_begin_with_the_same_rows_may_stay() -> None:
    text = "a (float[batch, 8] x) => (float[batch, 8] y) { y = Add(x, w) }"
    table = np.arange(40, dtype=np.float32).reshape(5, 8)
    found = rows("batch", nests(text, 4, {"w": table[:4]}), nests(text, 5, {"w": table}))
    assert found == {"x": 1, "w": 1, "y": 1}


def test_a_plan_that_was_not_made_to_be_open_is_refused() -> None:
    made = up_to(mlp(), 6)
    step = made.plan.kernel_steps[0]
    found = {"x": 1, "y": 1}
    (region,) = made.regions
    turned = dataclasses.replace(region, layouts={"x": (1, 0)})
    with pytest.raises(ClosedSizeError, match="'x' lies in memory with something else outermost"):
        opened(dataclasses.replace(made, regions=(turned,)), "batch", 6, found)
    both = dataclasses.replace(step, outputs=("x", "y"))
    two = dataclasses.replace(made, plan=dataclasses.replace(made.plan, steps=(both,)))
    with pytest.raises(ClosedSizeError, match="one kernel computes x, y"):
        opened(two, "batch", 6, {"y": 1})
    with pytest.raises(ClosedSizeError, match="the tiles of 'y' span several of it"):
        opened(made, "batch", 5, found)


def test_what_is_added_to_so_many_rows_leaves_no_other_number_of_them() -> None:
    text = """added (float[batch, 8] x) => (float[batch, 4] y) { [sum] y = Gemm (x, w, b) }"""
    given = model(text, weights(("w", (8, 4)), ("b", (3, 4))))
    with pytest.raises(ClosedSizeError, match=r"it adds \[3, 4\] to a product of 4 rows of 4"):
        up_to(given, 3)


def test_what_onnx_runtime_runs_has_fixed_sizes() -> None:
    with pytest.raises(ClosedSizeError, match="ONNX Runtime runs 'order'"):
        up_to(model(MIXED), 4)


def test_steps_along_a_sequence_have_fixed_sizes() -> None:
    text = """along (float[3, batch, 8] x) => (float[3, 1, batch, 2] y)
    { [walk] y = RNN <hidden_size = 2> (x, w, r) }"""
    with pytest.raises(ClosedSizeError, match="'walk' is repeated along a sequence or has"):
        up_to(model(text, weights(("w", (1, 2, 8)), ("r", (1, 2, 2)))), 4)


def test_branches_have_fixed_sizes() -> None:
    text = """either (float[batch, 8] x, bool c) => (float[batch, 8] y)
    { [choose] y = If (c) <then_branch = yes () => (float[batch, 8] a) { a = Sin(x) },
      else_branch = no () => (float[batch, 8] b) { b = Cos(x) }> }"""
    with pytest.raises(ClosedSizeError, match=r"'choose' is repeated .* or has branches, with"):
        up_to(model(text), 4)


def test_other_sizes_are_refused_with_what_was_compiled(tmp_path: Path) -> None:
    with loaded(mlp(), up_to(mlp(), 4), tmp_path / "f") as compiled:
        hints = {0: "feed batch of at least 1: nothing", 5: "--shape batch=5 -o"}
        for size, hint in hints.items():
            with pytest.raises(UsageError, match="was compiled for batch=1 to 4") as raised:
                compiled.run({"x": np.zeros((size, 8), np.float32)})
            assert hint in (raised.value.hint or "")


def test_other_sizes_beside_the_open_one_are_compiled_up_to_the_same(tmp_path: Path) -> None:
    of = model("m (float[batch, words] x) => (float[batch, words] y) { y = Exp(x) }")
    prepared = prepare(of, {"batch": 4, "words": 8})
    made = plan_up_to(of, prepared, "batch", PlanOptions(PORTABLE, Predicted(PORTABLE)))
    with (
        loaded(of, made, tmp_path / "f") as compiled,
        pytest.raises(UsageError) as raised,
    ):
        compiled.run({"x": np.zeros((1, 9), np.float32)})
    assert "--shape batch=4,words=8 --shape batch=4,words=9 -o" in (raised.value.hint or "")


def test_memory_for_sizes_that_were_long_not_used_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "OPEN_SIZES", 2)
    with loaded(mlp(), up_to(mlp(), 4), tmp_path / "f") as compiled:
        first = compiled.prepare(feeds(mlp(), 1))
        for size in (2, 3, 2, 4, 1):
            given = feeds(mlp(), size)
            expected = reference(mlp(), given)["y"]
            np.testing.assert_allclose(compiled.run(given)["y"], expected, rtol=1e-4, atol=1e-5)
        assert len(compiled._executables) == 2
        first()


def test_threads_that_run_many_sizes_do_not_stop_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "OPEN_SIZES", 1)
    given = {size: feeds(mlp(), size) for size in (1, 2, 3, 4)}
    right: list[bool] = []
    with loaded(mlp(), up_to(mlp(), 4), tmp_path / "f", threads=2) as compiled:
        expected = {size: compiled.run(fed)["y"] for size, fed in given.items()}

        def run(begin: int) -> None:
            for number in range(begin, begin + 60):
                size = number % 4 + 1
                found = compiled.run(given[size])["y"]
                right.append(np.array_equal(found, expected[size]))

        threads = [Thread(target=run, args=(n,), daemon=True) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
    assert right == [True] * 180


@settings(max_examples=20, deadline=None)
@given(size=st.integers(1, 6))
def test_a_smaller_size_has_a_share_of_rows_and_tiles_and_the_same_places(size: int) -> None:
    plan = PLANS["attention"].plan
    smaller = at_size(plan, size)
    assert plan.open is not None
    assert fitting_size(plan, {n: smaller.tensors[n].shape or () for n in plan.inputs}) == size
    for name, tensor in smaller.tensors.items():
        assert (tensor.bytes or 0) * 6 == (plan.tensors[name].bytes or 0) * (
            size if name in plan.open.rows else 6
        )
        assert tensor.offset == plan.tensors[name].offset
    for number, step in enumerate(smaller.kernel_steps):
        whole = plan.kernel_steps[number].launch["tiles"]
        assert step.launch["tiles"] * 6 == whole * (size if number in plan.open.steps else 6)


PLANS = {name: up_to(MODELS[name], 6) for name in ("attention",)}


def test_no_size_beyond_the_greatest_is_made() -> None:
    with pytest.raises(ValueError, match="the plan is for no size of 7"):
        at_size(PLANS["attention"].plan, 7)


def test_an_open_size_that_contradicts_its_plan_is_found(tmp_path: Path) -> None:
    plan = PLANS["attention"].plan
    assert plan.open is not None
    assert not list(open_findings(plan))
    assert sizes_text(plan) == "batch=1 to 6"
    wrong = {
        "cannot stay open": {"most": 7},
        "has no row for each": {"rows": {"x": 2}},
        "has no tile for each": {"steps": (99,)},
    }
    for text, change in wrong.items():
        changed = dataclasses.replace(plan.open, **change)  # type: ignore[arg-type]
        found = list(open_findings(dataclasses.replace(plan, open=changed)))
        assert any(text in finding for finding in found)
    changed = dataclasses.replace(plan.open, rows={"x": 2})
    made = dataclasses.replace(PLANS["attention"], plan=dataclasses.replace(plan, open=changed))
    with pytest.raises(ModelError, match="cannot be run"):
        loaded(MODELS["attention"], made, tmp_path / "f")
