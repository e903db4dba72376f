"""A plan computes what the model computes, with as much of it in kernels as is asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from burnish.codegen.backend import EmittedKernel
from burnish.codegen.pipeline import PlanOptions, plan, whole
from burnish.codegen.place import PreparedModel, canonical_name
from burnish.codegen.schedule import Choice, Predicted
from burnish.core.arrays import Arrays
from burnish.rewrite.static import static
from burnish.runtime.plan import findings
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from codegen.models import MIXED, PORTABLE, built, mlp, model, opened, reference


def check(of: ir.Model, feeds: Arrays, folder: Path, **options: object) -> None:
    """Compare a plan of a static model with ONNX's evaluator."""
    made = built(of, **options)
    assert list(findings(made.plan)) == []
    with opened(made, of, folder, threads=2) as loaded:
        found = loaded.run(feeds)
    expected = reference(of, feeds)
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-5)


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("fusion", ["none", "element-wise"])
def test_kernels_compute_the_model(tmp_path: Path, fusion: str) -> None:
    of = static(mlp(), {"batch": 5})
    assert not built(of, fusion=fusion).plan.ort_steps
    check(of, {"x": numbers(5, 8)}, tmp_path / "c", fusion=fusion)


def test_what_is_not_covered_stays_with_the_library_and_says_why(tmp_path: Path) -> None:
    of = static(model(MIXED), {"batch": 3})
    plan = built(of).plan
    (step,) = plan.ort_steps
    assert set(step.nodes) == {"order", "search"}
    assert set(step.reasons) == set(step.nodes)
    assert all(step.reasons.values())
    assert plan.tensors["found"].home == "value"
    x = np.arange(3300, dtype=np.float32).reshape(3, 1100)
    check(of, {"x": x}, tmp_path / "c")


def test_nodes_can_be_given_to_the_library(tmp_path: Path) -> None:
    of = static(mlp(), {"batch": 5})
    ort = {"relu": "as a test"}
    (step,) = built(of, to_ort=ort).plan.ort_steps
    assert (step.nodes, step.reasons) == (("relu",), ort)
    check(of, {"x": numbers(5, 8)}, tmp_path / "c", to_ort=ort)


@pytest.mark.parametrize(
    "ort", [("up",), ("down",), ("bias", "down"), ("up", "relu"), ("up", "bias", "relu")]
)
def test_whatever_the_library_runs_the_result_is_the_same(
    tmp_path: Path, ort: tuple[str, ...]
) -> None:
    of = static(mlp(), {"batch": 5})
    check(of, {"x": numbers(5, 8)}, tmp_path / "c", to_ort=dict.fromkeys(ort, "as a test"))


def test_results_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    of = static(mlp(), {"batch": 300})
    made = built(of)
    found = []
    for threads in (1, 2, 3):
        with opened(made, of, tmp_path / str(threads), threads) as loaded:
            found.append(loaded.run({"x": numbers(300, 8)})["y"])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_what_the_library_does_better_moves_there() -> None:
    of = static(mlp(), {"batch": 5})

    class Preferring(Predicted):
        def choice(self, group: Group, graph: TileGraph) -> Choice:
            if "up" in group.nodes:
                return Choice(group, None, reason="ONNX Runtime is faster")
            return super().choice(group, graph)

    made = plan(
        PreparedModel(of, {}), PlanOptions(PORTABLE, Preferring(PORTABLE, "element-wise"))
    ).plan
    (step,) = made.ort_steps
    assert "up" in step.nodes
    assert step.reasons["up"] == "ONNX Runtime is faster"
    assert {n for s in made.steps for n in s.nodes} == {"up", "bias", "relu", "down"}


def test_the_whole_model_can_be_the_librarys(tmp_path: Path) -> None:
    of = static(mlp(), {"batch": 5})
    made = whole(PreparedModel(of, {}), PORTABLE, "as a test")
    assert made.kernels == {}
    assert made.plan.requires == ()
    with opened(made, of, tmp_path / "c") as loaded:
        found = loaded.run({"x": numbers(5, 8)})["y"]
    np.testing.assert_allclose(found, reference(of, {"x": numbers(5, 8)})["y"], rtol=1e-5)


def test_a_graph_that_cannot_be_cut_is_left_whole() -> None:
    text = """seq (float[2] x) => (float[2] y)
    { [a] p = Relu(x) [s] q = SequenceConstruct(p, p) [b] r = Exp(p) [t] n = SequenceLength(q)
      [c] m = Cast <to = 1> (n) [d] y = Mul(r, m) }"""
    plan = built(static(model(text), {}), to_ort={"s": "one", "t": "two"}).plan
    assert plan.ort_steps
    assert {n for s in plan.steps for n in s.nodes} == {"a", "s", "b", "t", "c", "d"}


def test_layers_that_do_the_same_share_a_kernel() -> None:
    text = """twice (float[4, 8] x) => (float[4, 8] y)
    { [a] p = MatMul(x, w) [b] q = Relu(p) [c] r = MatMul(q, v) [d] y = Relu(r) }"""
    constants = {name: numbers(8, 8, seed=n) for n, name in enumerate("wv")}
    made = plan(
        PreparedModel(static(model(text, constants), {}), {}),
        PlanOptions(PORTABLE, Predicted(PORTABLE, "element-wise")),
    )
    assert len(made.plan.kernel_steps) == 2
    assert len(made.kernels) == 1


def test_an_output_that_is_a_constant_or_an_input_is_given_back(tmp_path: Path) -> None:
    text = "odd (float[2] x) => (float[2] y, float[2] c, float[2] x) { y = Add(x, c) }"
    of = static(model(text, {"c": np.array([1, 2], np.float32)}), {})
    with opened(built(of), of, tmp_path / "c") as loaded:
        found = loaded.run({"x": np.array([3, 4], np.float32)})
    assert {name: array.tolist() for name, array in found.items()} == {
        "y": [4, 6], "c": [1, 2], "x": [3, 4],
    }  # fmt: skip


@pytest.mark.parametrize("shape", [(0, 8), (1, 8)])
def test_empty_tensors_are_computed(tmp_path: Path, shape: tuple[int, int]) -> None:
    of = static(mlp(), {"batch": shape[0]})
    check(of, {"x": np.zeros(shape, np.float32)}, tmp_path / "c")


def test_a_kernel_is_named_after_what_it_does() -> None:
    (first, *_) = built(static(mlp(), {"batch": 5})).kernels
    assert first.startswith("matmul_add_relu")


def test_equal_code_has_an_equal_name() -> None:
    one = EmittedKernel("code", (), (), {}, ())
    assert canonical_name(one, ["Conv", "Relu", "Conv"]) == canonical_name(one, ["Conv", "Relu"])
    assert canonical_name(one, []).startswith("kernel_")
    assert canonical_name(one, ["com.microsoft.Gelu"]).startswith("com_microsoft_gelu_")
