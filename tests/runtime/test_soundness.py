"""A plan that contradicts itself, or the kernels that it calls, is refused before anything runs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.codegen import write
from burnish.codegen.place import BuiltPlan
from burnish.core.errors import ModelError
from burnish.core.placing import Lifetime
from burnish.runtime.kernel_table import KernelArgument, KernelCall, call_of, table
from burnish.runtime.load import load
from burnish.runtime.soundness import overlaps
from burnish.store.compiled import PLAN
from codegen.hand_written import ABOUT, FLAGS, built, mixed
from codegen.models import PORTABLE
from runtime.test_executable import RELU
from torture import folders as torture

Json = Any
SIZE = 100


def written(target: Path, made: BuiltPlan) -> Path:
    write.write(target, ABOUT, [made], PORTABLE)
    return target


def relu() -> ir.Model:
    return ir.serde.deserialize_model(onnx.parser.parse_model(RELU))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "c", mixed(SIZE, relu(), relu()))


def changed(folder: Path, change: Callable[[Json], object]) -> str:
    """Change the plan, make the sums again, and return why it is refused."""
    data = json.loads((folder / PLAN).read_text())
    change(data["plans"][0])
    (folder / PLAN).write_text(json.dumps(data))
    write.write_sums(folder)
    with pytest.raises(ModelError) as found, load(folder, threads=1) as model:
        model.run({"x": np.ones(SIZE, np.float32)})
    assert found.value.hint == ("copy the folder again, or compile it again with burnish compile")
    return found.value.problem.removeprefix(f"{folder}: plan 0 cannot be run: ")


def test_a_sound_plan_runs(folder: Path) -> None:
    x = np.linspace(-1, 1, SIZE, dtype=np.float32)
    with load(folder, threads=2) as model:
        np.testing.assert_array_equal(
            model.run({"x": x})["y"], np.maximum(x + np.float32(0.5), 0) + x
        )


LOOK = {"name": "at", "kind": "place", "size": 9, "column": None, "told": True}
CALLED = "with other tensors, or in another way, than it was compiled for"
TENSORS: list[tuple[str, dict[str, Any], str]] = [
    ("a", {"shape": [-100]}, "tensor 'a' has a negative size"),
    ("a", {"shape": [-10, -10]}, "tensor 'a' has a negative size"),
    ("a", {"shape": [2**40]}, f"step 0 calls 'sum' {CALLED}"),
    ("a", {"shape": [2**50]}, "tensor 'a' is larger than any memory"),
    ("a", {"shape": None}, "tensor 'a' has no fixed size, or has one and no place"),
    ("a", {"dtype": "nonsense"}, "tensor 'a' has no fixed size, or has one and no place"),
    ("a", {"layout": [1]}, "tensor 'a' has a layout that is no order of its dimensions"),
    ("a", {"strides": [2]}, "step 1 is an ONNX Runtime part, and 'a' is not in ONNX's order"),
    ("a", {"strides": [0]}, "tensor 'a' has strides that no plan gives it"),
    ("a", {"strides": [-1]}, "tensor 'a' has strides that no plan gives it"),
    ("a", {"strides": []}, "tensor 'a' has strides that no plan gives it"),
    ("a", {"strides": [100, 1]}, "tensor 'a' has strides that no plan gives it"),
    ("a", {"strides": [1], "layout": [0]}, "tensor 'a' has strides that no plan gives it"),
    ("x", {"strides": [2]}, "tensor 'x' has strides that no plan gives it"),
    ("b", {"strides": [1]}, "step 1 is an ONNX Runtime part, and 'b' is not in ONNX's order"),
    ("a", {"offset": -64}, "tensor 'a' does not lie in the arena"),
    ("a", {"offset": 2**40}, "tensor 'a' does not lie in the arena"),
    ("a", {"offset": 4}, "tensor 'a' does not lie in the arena"),
    ("a", {"home": "input"}, "tensor 'a' has the home 'input', and is an input or is none"),
    ("a", {"home": "output"}, "tensor 'a' has the home 'output', and is none"),
    ("a", {"home": "constant"}, "step 0 writes 'a', which is already there"),
    ("b", {"offset": 0}, "tensors 'a' and 'b' lie on each other"),
    ("c", {"offset": 2**30}, "constant 'c' does not lie among the constants"),
    ("c", {"offset": -64}, "constant 'c' does not lie among the constants"),
    ("c", {"offset": 64}, "constant 'c' does not lie among the constants"),
    ("c", {"home": "arena"}, "step 0 reads 'c' before it is written"),
    ("x", {"dtype": "f64"}, "input 'x' is f64, the model's is f32"),
    ("x", {"shape": [10, 10]}, "input 'x' is [10, 10], the model's ['n']"),
    ("x", {"shape": [SIZE + 1]}, f"step 0 calls 'sum' {CALLED}"),
    ("x", {"home": "arena"}, "tensor 'x' has the home 'arena', and is an input or is none"),
    ("y", {"home": "arena"}, "output 'y' lies where other tensors come to lie"),
    ("y", {"dtype": "i32"}, "output 'y' is i32, the model's is f32"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "finding"), TENSORS)
def test_a_tensor_must_be_what_its_steps_take(
    folder: Path, name: str, change: dict[str, Any], finding: str
) -> None:
    assert changed(folder, lambda plan: plan["tensors"][name].update(change)) == finding


STEPS: list[tuple[int, dict[str, Any], str]] = [
    (0, {"launch": {"tiles": SIZE + 1, "scratch_bytes": 64}}, f"step 0 calls 'sum' {CALLED}"),
    (0, {"launch": {"tiles": -1, "scratch_bytes": 64}}, "step 0 cannot be started: tiles is -1"),
    (0, {"launch": {"tiles": 2**62, "scratch_bytes": 64}},
     f"step 0 cannot be started: tiles is {2**62}"),
    (0, {"launch": {"tiles": SIZE, "scratch_bytes": 0}}, f"step 0 calls 'sum' {CALLED}"),
    (0, {"launch": {"tiles": SIZE}},
     "step 0 cannot be started: a CPU is told tiles and scratch_bytes, not tiles"),
    (0, {"launch": {}},
     "step 0 cannot be started: a CPU is told tiles and scratch_bytes, not nothing"),
    (0, {"kernel": "../sum"}, "step 0 calls '../sum', which is no kernel of the folder"),
    (0, {"arguments": ["x", "a"]},
     "step 0 gives 'sum' another number of tensors than it takes"),
    (0, {"arguments": ["a", "x", "c"]}, f"step 0 calls 'sum' {CALLED}"),
    (0, {"arguments": ["x", "a", "a"]}, "step 0 writes a tensor twice"),
    (0, {"outputs": ["b"]}, "step 0 writes what it is not given"),
    (0, {"outputs": ["a", "a"]}, "step 0 writes a tensor twice"),
    (0, {"outputs": []}, "step 0 reads 'a' before it is written"),
    (0, {"looks": [{**LOOK, "tensor": "a"}]}, "step 0 looks at 'a', which is no such table"),
    (0, {"looks": [{**LOOK, "tensor": "e"}]},
     "step 0 uses 'e', which is no tensor of the plan"),
    (1, {"file": "plan.json"}, "step 1 is in 'plan.json', which is no file of the folder"),
    (1, {"file": "../c/part_0.onnx"},
     "step 1 is in '../c/part_0.onnx', which is no file of the folder"),
    (1, {"inputs": ["a", "a"]}, "step 1 has two tensors of one name"),
    (0, {"when": {"tensor": "x", "holds": True}}, "step 1 reads 'a' before it is written"),
    (0, {"when": {"tensor": "d", "holds": True}},
     "step 0 uses 'd', which is no tensor of the plan"),
    (2, {"when": {"tensor": "x", "holds": True}}, "output 'y' is not always written"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "change", "finding"), STEPS)
def test_a_step_must_be_one_that_the_code_is_for(
    folder: Path, number: int, change: dict[str, Any], finding: str
) -> None:
    assert changed(folder, lambda plan: plan["steps"][number].update(change)) == finding


@pytest.mark.parametrize(("number", "shape"), [(0, [3]), (2, [2])])
def test_what_a_kernel_tells_is_a_pair_that_it_writes(
    folder: Path, number: int, shape: list[int]
) -> None:
    def change(plan: Json) -> None:
        plan["tensors"]["a"].update(dtype="i64", shape=shape)
        plan["steps"][number]["looks"] = [{**LOOK, "tensor": "a"}]

    expected = f"step {number} tells in 'a', which is no pair that it writes"
    assert changed(folder, change) == expected


PLANS: list[tuple[dict[str, Any], str]] = [
    ({"arena_bytes": 0}, "tensor 'a' does not lie in the arena"),
    ({"arena_bytes": -1}, "the arena has -1 bytes, its tensors 1408"),
    ({"arena_bytes": 2**40}, "the arena has 1099511627776 bytes, its tensors 1408"),
    ({"inputs": []}, "the plan's inputs are [], the model's ['x']"),
    ({"outputs": ["y", "a"]}, "the plan's outputs are ['y', 'a'], the model's ['y']"),
    ({"target": "pdp11"}, "'pdp11' is no back end of burnish"),
    (
        {"target": "cpu: avx2"},
        "the plan is for cpu: avx2, its kernels are for cpu: portable or need more",
    ),
    (
        {"requires": []},
        "the plan is for cpu: portable, its kernels are for cpu: portable or need more",
    ),
    ({"steps": [], "requires": []}, "output 'y' is never written"),
]


@pytest.mark.parametrize(("change", "finding"), PLANS)
def test_the_whole_plan_must_fit_the_folder(
    folder: Path, change: dict[str, Any], finding: str
) -> None:
    assert changed(folder, lambda plan: plan.update(change)) == finding


def test_a_part_must_take_and_give_what_its_step_says(folder: Path) -> None:
    def swap(plan: Json) -> None:
        plan["steps"][1].update(inputs=["x"])

    problem = changed(folder, swap)
    assert problem == (
        f"{folder}/part_0.onnx: is not the part that its plan runs: it has ['a'], its step ['x']"
    )


def test_a_part_of_another_type_is_refused(tmp_path: Path) -> None:
    text = RELU.replace("float", "double")
    other = ir.serde.deserialize_model(onnx.parser.parse_model(text))
    folder = written(tmp_path / "c", mixed(SIZE, relu(), other))
    problem = changed(folder, lambda _plan: None)
    assert problem.endswith("'a' is tensor(double), its step's is f32")


def test_a_part_of_another_shape_is_refused(tmp_path: Path) -> None:
    text = RELU.replace("[100]", "[99]")
    other = ir.serde.deserialize_model(onnx.parser.parse_model(text))
    folder = written(tmp_path / "c", mixed(SIZE, relu(), other))
    assert changed(folder, lambda _plan: None).endswith("'a' is [99], its step's is [100]")


def test_a_kernel_may_be_called_in_the_ways_that_it_was_compiled_for() -> None:
    found = table([built(4).plan, built(9).plan], {})
    assert (found.target, found.requires) == ("cpu: portable", FLAGS)
    vector = [
        KernelArgument("f32", (4,), None, written=written) for written in (False, False, True)
    ]
    assert found.calls["sum"][0] == KernelCall(tuple(vector), {"tiles": 4, "scratch_bytes": 64})
    assert [call.launch["tiles"] for call in found.calls["sum"]] == [4, 9]


def test_a_kernel_for_tensors_with_room_between_is_called_with_no_others() -> None:
    plan = built(4).plan
    step = plan.kernel_steps[0]
    name = step.arguments[0]
    spaced = {**plan.tensors, name: replace(plan.tensors[name], strides=(2,))}
    assert call_of(step, plan) != call_of(step, replace(plan, tensors=spaced))


NAMES = st.sampled_from("abcdefghijkl")


@given(
    lives=st.dictionaries(
        NAMES,
        st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(0, 20), st.integers(1, 6)),
    )
)
def test_what_lies_on_each_other_is_found(lives: dict[str, tuple[int, int, int, int]]) -> None:
    times = {name: Lifetime(first, first + more) for name, (first, more, _, _) in lives.items()}
    spans = {name: (low, low + size) for name, (_, _, low, size) in lives.items()}
    pairs = [
        (one, other)
        for one, other in itertools.combinations(lives, 2)
        if times[one].overlaps(times[other])
        and spans[one][0] < spans[other][1]
        and spans[other][0] < spans[one][1]
    ]
    assert (next(overlaps(times, spans), None) is not None) == bool(pairs)


@pytest.mark.parametrize("seed", [11, 12])
def test_mutated_plans_are_refused_or_run(tmp_path: Path, seed: int) -> None:
    tally = torture.attack(torture.samples(tmp_path), 150, seed)
    assert tally.findings == []
    assert tally.counts["refused"] > 50
    assert tally.counts["ran"] > 10
