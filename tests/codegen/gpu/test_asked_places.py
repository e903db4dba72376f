"""Computed places and long rows stay on a card: compared pair by pair instead of handed over."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.backend import open_backend
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.core.arrays import Array
from burnish.operators.loops import ordering
from burnish.tile.connect import singles
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import run_groups
from tile.one_node import by_runtime, numbers, one_node
from tile.test_ops_asked_places import ORDER, counted

pytestmark = pytest.mark.torch

RANDOM = np.random.default_rng(0)


def elements(reduction: str) -> tuple[onnx.ModelProto, dict[str, Array]]:
    places = np.tile(RANDOM.integers(-20, 20, (30, 1)), (1, 16))
    inputs = {"x": numbers((20, 16)), "places": places, "update": numbers((30, 16), seed=1)}
    return one_node("ScatterElements", inputs, order=ORDER, axis=0, reduction=reduction), inputs


def slices(reduction: str) -> tuple[onnx.ModelProto, dict[str, Array]]:
    places = np.stack([RANDOM.integers(0, 12, 20), RANDOM.integers(-9, 9, 20)], 1)
    inputs = {"x": numbers((12, 9, 8)), "places": places, "update": numbers((20, 8), seed=1)}
    return one_node("ScatterND", inputs, order=ORDER, reduction=reduction), inputs


def ordered(_: str) -> tuple[onnx.ModelProto, dict[str, Array]]:
    inputs = {"x": np.round(numbers((3, 100)))}
    kinds = ("float32", "int64")
    outputs = ("out", "places")
    return one_node("TopK", inputs, {"k": np.array([9])}, outputs=outputs, results=kinds), inputs


CASES = [
    (elements, "none"), (elements, "add"), (elements, "max"), (slices, "none"), (slices, "add"),
    (slices, "mul"), (ordered, ""),
]  # fmt: skip


@pytest.mark.parametrize(("make", "how"), CASES)
def test_kernels_write_where_the_model_does(make: object, how: str) -> None:
    model, inputs = make(how)  # type: ignore[operator]
    simple = simplify(counted(model))
    found = run_groups(simple, [(group, {}) for group in singles(simple)], inputs)
    for name, array in by_runtime(model, inputs).items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("length", "count"), [(100, 9), (64, 20), (90, 90)])
def test_kernels_order_long_rows_in_parts(
    length: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering, "PARTS", (16,))
    monkeypatch.setattr(ordering, "WORTH_PAIRS", -(2**40))
    x = np.round(numbers((3, length)))
    x[0, ::7] = -np.inf
    kinds = ("float32", "int64")
    held = {"k": np.array([count])}
    model = one_node("TopK", {"x": x}, held, outputs=("out", "places"), results=kinds)
    simple = simplify(counted(model))
    found = run_groups(simple, [(group, {}) for group in singles(simple)], {"x": x})
    for name, array in by_runtime(model, {"x": x}).items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("make", [elements, slices, ordered])
def test_a_plan_for_a_card_leaves_none_of_them_to_the_host(make: object) -> None:
    model, _ = make("add")  # type: ignore[operator]
    backend = open_backend("cuda: sm_90", 1)
    prepared = prepare(ir.serde.deserialize_model(model), {})
    made = plan(prepared, PlanOptions(backend, Predicted(backend), buildable=False))
    assert made.plan.kernel_steps
    assert not made.plan.ort_steps
