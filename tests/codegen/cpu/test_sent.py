"""Updates that go to computed places, as kernels: against ONNX Runtime, whatever the threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.cpu.kernel import generate
from burnish.codegen.cpu.target import InstructionSet, available
from burnish.core.arrays import Arrays
from burnish.core.errors import UsageError
from burnish.rewrite.static import static
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.parse import parse
from burnish.tile.reference import evaluate_op
from burnish.tile.schedule import Schedule
from codegen.cpu.calling import load_kernel
from codegen.models import built, opened
from tile.one_node import by_runtime, numbers, one_node

WAYS = ["none", "add", "mul", "max", "min"]


def assert_as_runtime(model: onnx.ModelProto, inputs: Arrays, folder: Path) -> None:
    fixed = static(ir.serde.deserialize_model(model), {})
    made = built(fixed)
    assert not made.plan.ort_steps
    (expected,) = by_runtime(model, inputs).values()
    with opened(made, fixed, folder / "c") as compiled:
        np.testing.assert_allclose(compiled.run(inputs)["out"], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize("columns", [1, 7, 70])
def test_rows_go_where_they_belong(tmp_path: Path, columns: int, reduction: str) -> None:
    places = np.random.default_rng(columns).integers(-6, 6, (40, 1))
    update = numbers((40, columns), seed=1)
    inputs = {"x": numbers((6, columns)), "places": places, "update": update}
    assert_as_runtime(one_node("ScatterND", inputs, reduction=reduction), inputs, tmp_path)


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("is_short", [False, True])
def test_elements_go_where_they_belong(
    tmp_path: Path, axis: int, reduction: str, is_short: bool
) -> None:
    shape, given = [3, 5, 18], [2, 4, 17] if is_short else [3, 5, 18]
    given[axis] = 11
    places = np.random.default_rng(axis).integers(-shape[axis], shape[axis], given)
    inputs = {"x": numbers(shape), "places": places, "update": numbers(given, seed=1)}
    model = one_node("ScatterElements", inputs, axis=axis, reduction=reduction)
    assert_as_runtime(model, inputs, tmp_path)


@pytest.mark.parametrize(
    ("dtype", "reduction"),
    [
        *((dtype, how) for dtype in ("float64", "int32", "int64", "uint8") for how in WAYS),
        ("float16", "none"),
        ("bool", "none"),
    ],
)
def test_they_are_of_any_type(tmp_path: Path, dtype: str, reduction: str) -> None:
    places = np.array([[0, 1], [2, 0], [-1, -1], [0, 1]])
    update = numbers((4, 5), seed=1).astype(dtype)
    inputs = {"x": numbers((3, 2, 5)).astype(dtype), "places": places, "update": update}
    assert_as_runtime(one_node("ScatterND", inputs, reduction=reduction), inputs, tmp_path)


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize("count", [1, 3])
def test_a_place_in_a_cache_is_asked_once_for_all_of_its_rows(
    tmp_path: Path, count: int, reduction: str
) -> None:
    text = f"""<ir_version: 10, opset_import: ["": 20]>
    cached (float[2, 9, 8] x, int64[{count}, 1] at, float[2, {count}, 8] new)
    => (float[2, 9, 8] out) <int64[3] wide = {{2, {count}, 8}}> {{
        places = Expand(at, wide)
        out = ScatterElements <axis = 1, reduction = "{reduction}"> (x, places, new)
    }}"""
    at = np.array([[4], [-1], [4]][:count])
    inputs = {"x": numbers((2, 9, 8)), "at": at, "new": numbers((2, count, 8), seed=1)}
    assert_as_runtime(onnx.parser.parse_model(text), inputs, tmp_path)


def test_which_update_came_last_is_kept_for_what_places_depend_on() -> None:
    text = """<ir_version: 10, opset_import: ["": 20]>
    cached (float[2, 9, 8] x, int64[3, 1] at, float[2, 3, 8] new) => (float[2, 9, 8] out)
    <int64[3] wide = {2, 3, 8}> {
        places = Expand(at, wide)
        out = ScatterElements <axis = 1> (x, places, new)
    }"""
    fixed = static(ir.from_proto(onnx.parser.parse_model(text)), {})
    last = next(op for op in lower(tuple(fixed.graph)).graph.ops if ".last" in op.output)
    assert last.shape == (9,)


def test_of_several_the_last_wins(tmp_path: Path) -> None:
    places = np.array([2, 0, 2, 2, 0])[:, None]
    inputs = {"x": numbers((3, 4)), "places": places, "update": numbers((5, 4), seed=1)}
    model = one_node("ScatterND", inputs)
    assert_as_runtime(model, inputs, tmp_path)
    np.testing.assert_array_equal(by_runtime(model, inputs)["out"][2], inputs["update"][3])


@pytest.mark.parametrize("wrong", [3, -4, 2**40])
def test_a_place_that_does_not_exist_is_refused_where_it_is_fed(tmp_path: Path, wrong: int) -> None:
    inputs = {"x": numbers((3, 4)), "places": np.zeros((5, 1), np.int64), "update": numbers((5, 4))}
    fixed = static(ir.serde.deserialize_model(one_node("ScatterND", inputs)), {})
    inputs["places"][2] = wrong
    compiled = opened(built(fixed), fixed, tmp_path / "c")
    with compiled, pytest.raises(UsageError) as caught:
        compiled.run(inputs)
    assert caught.value.problem == (
        f"input 'places' holds {wrong}, and what it points into has 3 entries"
    )


@pytest.mark.parametrize("tile", [(4, 37), (4, 16), (4, 5), (2, 37), (1, 1)], ids=str)
@pytest.mark.parametrize("target", available(), ids=lambda found: found.name)
def test_tiles_with_all_places_and_with_some_give_the_same(
    tile: tuple[int, int], target: InstructionSet
) -> None:
    here = "inside(0 <= -1*i0 + fetch(at[k0], 4) < 1)"
    graph = parse(
        "in x: f32[9, 37]\nin at: i64[9]\nin w: f32[4, 37]\nout y\n"
        f"y: f32[i0=4, i1=37] = max(k0=9) where({here}, x[k0, i1], -inf) then acc * w[i0, i1]",
        {},
    )
    draw = np.random.default_rng(0)
    values = {
        "x": numbers((9, 37)),
        "at": draw.permutation(np.array([0, 1, 2, 3, -1, -4, 0, 1, 1])),
        "w": numbers((4, 37), seed=1),
    }
    kernel = generate(Group(graph.ops, ("y",)), Schedule(tile), graph, target)
    found = np.empty((4, 37), np.float32)
    load_kernel(kernel, target).bound({**values, "y": found}).run()
    np.testing.assert_array_equal(found, evaluate_op(graph.ops[0], values))
