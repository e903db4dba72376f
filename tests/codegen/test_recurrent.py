"""LSTM, GRU and RNN in kernels that are repeated: as NumPy has it, and as ONNX Runtime does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest

from burnish.core.arrays import Array
from burnish.core.errors import UsageError
from burnish.rewrite.static import static
from burnish.runtime.plan import KernelStep, Plan, Strip, findings
from burnish.runtime.soundness import Surroundings
from burnish.runtime.soundness import findings as soundness
from burnish.tile.lower import cover
from codegen.models import built, model, opened, weights
from codegen.recurrent_models import Case

CASES = (
    Case("LSTM"),
    Case("LSTM", direction="bidirectional", states=True),
    Case("LSTM", direction="reverse", lengths=(3, 5), states=True),
    Case("LSTM", direction="bidirectional", lengths=(2, 5)),
    Case("LSTM", peepholes=True, attributes={"clip": 0.4}),
    Case("LSTM", attributes={"clip": 0.2}, states=True),
    Case("LSTM", attributes={"input_forget": 1}, bias=False),
    Case("LSTM", outputs=(False, True, True)),
    Case("LSTM", direction="bidirectional", lengths=(0, 5), states=True),
    Case("LSTM", direction="reverse", lengths=(0, 0), states=True, outputs=(False, False, True)),
    Case("LSTM", attributes={"activations": ["Sigmoid", "Relu", "Softsign"]}),
    Case("LSTM", steps=1, batch=1, width=1, hidden=1),
    Case("LSTM", batch=1, width=40, hidden=33, direction="bidirectional"),
    Case("LSTM", direction="bidirectional", lengths=(3, 5), states=True, fixed=True),
    Case("GRU"),
    Case("GRU", direction="bidirectional", attributes={"linear_before_reset": 1}, states=True),
    Case("GRU", direction="reverse", lengths=(1, 4), attributes={"clip": 0.3}),
    Case("GRU", lengths=(4, 0), states=True, fixed=True),
    Case("RNN", direction="bidirectional"),
    Case("RNN", attributes={"activations": ["Relu"], "clip": 0.3}, states=True),
)
BATCH_FIRST = tuple(
    dataclasses.replace(each, attributes={**each.attributes, "layout": 1})
    for each in (*CASES[:4], Case("GRU", batch=1, lengths=(0,), states=True))
)
"""ONNX Runtime does not have these."""


def by_onnxruntime(case: Case, feeds: dict[str, Array]) -> dict[str, Array]:
    """Return what ONNX Runtime gives."""
    proto = ir.to_proto(case.model())
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", [*CASES, *BATCH_FIRST], ids=str)
def test_kernels_give_what_numpy_and_onnx_runtime_give(
    case: Case, threads: int, tmp_path: Path
) -> None:
    fixed = static(case.model(), {})
    made = built(fixed)
    assert not made.plan.ort_steps
    with opened(made, fixed, tmp_path / "folder", threads) as loaded:
        for seed in (0, 1):
            feeds = case.feeds(0 if case.fixed else seed)
            given = {"x": feeds["x"]} if case.fixed else feeds
            found, wanted = loaded.run(given), case.expected(feeds)
            judged = wanted if case in BATCH_FIRST else by_onnxruntime(case, given)
            for name, array in found.items():
                np.testing.assert_allclose(array, wanted[name], rtol=2e-5, atol=2e-6)
                np.testing.assert_allclose(array, judged[name], rtol=2e-5, atol=2e-6)


def test_one_direction_has_one_kernel_that_is_repeated() -> None:
    made = built(static(Case("LSTM", outputs=(True, False, False)).model(), {}))
    product, step = made.plan.kernel_steps
    assert product.repeat is None
    assert step.repeat is not None
    assert step.repeat.times == 5
    assert "5 times" in str(step)


@pytest.mark.parametrize("operator", ["LSTM", "GRU"])
def test_several_kernels_of_one_time_take_turns(operator: str, tmp_path: Path) -> None:
    case = Case(operator, direction="bidirectional", outputs=(True, True, False))
    fixed = static(case.model(), {})
    made = built(fixed, fusion="none")
    repeated = [step.repeat for step in made.plan.kernel_steps if step.repeat is not None]
    assert len(repeated) > 2
    assert {repeat.chain for repeat in repeated} == {0, 1}
    for threads in (1, 2, 3):
        with opened(made, fixed, tmp_path / f"folder{threads}", threads) as loaded:
            found = loaded.run(case.feeds())
        for name, array in found.items():
            wanted = case.expected(case.feeds())[name]
            np.testing.assert_allclose(array, wanted, rtol=2e-5, atol=2e-6)


def test_layers_that_begin_with_the_same_state_do_not_meet(tmp_path: Path) -> None:
    text = """two (float[2, 5, 4] x, float[2, 1, 4] h) => (float[2, 5, 1, 4] y)
    <int64[3] shape = {2, 5, 4}>
    {
        [same] a = RNN <hidden_size = 4, layout = 1> (x, w, r, , , h)
        flat = Reshape(a, shape)
        [same] y = RNN <hidden_size = 4, layout = 1> (flat, w, r, , , h)
    }"""
    case = Case("RNN", width=4, bias=False, states=True, attributes={"layout": 1})
    held = {name: array for name, array in case.constants().items() if name in "wr"}
    fixed = static(model(text, held), {})
    made = built(fixed)
    assert not made.plan.ort_steps
    feeds = {"x": case.feeds()["x"], "h": case.feeds()["h0"]}
    first = case.expected(case.feeds())["y"]
    wanted = case.expected({"x": first.reshape(2, 5, 4), "h0": feeds["h"]})["y"]
    with opened(made, fixed, tmp_path / "folder") as loaded:
        found = loaded.run(feeds)["y"]
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


def test_steps_one_by_one_compute_the_same_as_at_once(tmp_path: Path) -> None:
    case = CASES[1]
    fixed = static(case.model(), {})
    made = built(fixed)
    with opened(made, fixed, tmp_path / "folder") as loaded:
        times = loaded.executable(case.feeds()).step_times(case.feeds(), warmup=0, runs=1)
    assert len(times[0]) == len(made.plan.steps)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case("RNN", attributes={"activations": ["Elu"]}), "its functions are elu"),
        (Case("LSTM", lengths=(5, 5)), ""),
        (Case("RNN", batch=0), "there is nothing to compute"),
        (
            Case("RNN", steps=2**17 + 1, batch=1, width=1, hidden=1),
            "it has 131,073 steps, and a plan repeats at most 131,072",
        ),
    ],
)
def test_what_has_no_steps_says_why(case: Case, reason: str) -> None:
    left = cover(static(case.model(), {}).graph, repeats=True).left
    assert list(left.values()) == ([reason] if reason else [])


def test_other_numbers_and_computed_weights_are_left_out_with_a_reason() -> None:
    double = "d (double[5,2,3] x, double[1,4,3] w, double[1,4,4] r) => (double[5,1,2,4] y)"
    computed = "c (float[5,2,3] x, float[1,4,3] w, float[1,4,4] r) => (float[5,1,2,4] y)"
    body = "{ y = RNN <hidden_size = 4> (x, w, r) }"
    other = "{ y = RNN <hidden_size = 5> (x, w, r) }"
    twice = '{ y = RNN <hidden_size = 4, direction = "bidirectional"> (x, w, r) }'
    reasons = {
        double + body: "its numbers are f64, and steps compute with f32",
        computed + body: "its weight is not a constant",
        computed + other: "hidden_size is 5, and its weights are for 4",
        computed + twice: "1 directions that are called 'bidirectional'",
    }
    for text, reason in reasons.items():
        graph = static(model(text), {}).graph
        assert list(cover(graph, repeats=True).left.values()) == [reason]


def test_weights_of_another_size_are_left_to_who_can_say_so() -> None:
    text = "c (float[5,2,3] x) => (float[5,1,2,4] y) { y = LSTM <hidden_size = 4> (x, w, r) }"
    wrong = weights(("w", (1, 12, 3)), ("r", (1, 16, 4)))
    left = cover(static(model(text, wrong), {}).graph, repeats=True).left
    assert list(left.values()) == ["'w' has the shape [1, 12, 3], and none that fits"]


@pytest.mark.parametrize("wrong", [(6, 5), (3, -1)])
def test_rows_that_are_longer_than_the_sequence_are_refused_as_onnx_runtime_does(
    wrong: tuple[int, int], tmp_path: Path
) -> None:
    case = Case("LSTM", lengths=(2, 5))
    fixed = static(case.model(), {})
    (name,) = {look.tensor for step in built(fixed).plan.kernel_steps for look in step.looks}
    feeds = {**case.feeds(), name: np.array(wrong, np.int32)}
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument):
        by_onnxruntime(case, feeds)
    with opened(built(fixed), fixed, tmp_path / "f") as loaded, pytest.raises(UsageError) as told:
        loaded.run(feeds)
    odd = next(each for each in wrong if not 0 <= each <= 5)
    assert told.value.problem == f"input {name!r} holds {odd}, and the sequence has 5 steps"
    assert told.value.hint == "feed whole numbers from 0 to 5"


@pytest.mark.parametrize(("fed", "holds"), [((1, 3), 6), ((-1, 2), -2)])
def test_computed_rows_that_are_longer_than_the_sequence_are_refused(
    fed: tuple[int, int], holds: int, tmp_path: Path
) -> None:
    text = """c (float[5,2,3] x, int32[2] half) => (float[5,1,2,4] y)
    { rows = Add(half, half) y = GRU <hidden_size = 4> (x, w, r, , rows) }"""
    given = model(text, weights(("w", (1, 12, 3)), ("r", (1, 12, 4))))
    fixed = static(given, {})
    x = np.ones((5, 2, 3), np.float32)
    with opened(built(fixed), fixed, tmp_path / "f") as loaded:
        for right in ((1, 2), (0, 2)):
            loaded.run({"x": x, "half": np.array(right, np.int32)})
        with pytest.raises(UsageError) as told:
            loaded.run({"x": x, "half": np.array(fed, np.int32)})
    assert told.value.problem == f"computed 'rows' holds {holds}, and the sequence has 5 steps"
    assert told.value.hint == "feed what makes whole numbers from 0 to 5 of it"


def test_known_rows_that_are_longer_than_the_sequence_stay_with_who_refuses_them() -> None:
    case = Case("GRU", lengths=(2, 7), fixed=True)
    left = cover(static(case.model(), {}).graph, repeats=True).left
    assert list(left.values()) == ["a row has 7 steps, and the sequence has 5"]


def _with_strip(plan: Plan, **changes: object) -> Plan:
    """Return a plan whose repeated step has other strips."""
    steps = list(plan.steps)
    for number, step in enumerate(steps):
        if isinstance(step, KernelStep) and step.repeat is not None:
            changed = tuple(
                dataclasses.replace(strip, **changes) if isinstance(strip, Strip) else strip
                for strip in step.repeat.strips
            )
            repeat = dataclasses.replace(step.repeat, strips=changed)
            steps[number] = dataclasses.replace(step, repeat=repeat)
    return dataclasses.replace(plan, steps=tuple(steps))


def _findings(plan: Plan, around: Surroundings) -> Iterator[str]:
    return soundness(plan, around)


def test_a_plan_whose_strips_leave_their_tensors_is_refused(tmp_path: Path) -> None:
    case = Case("LSTM", states=True)
    fixed = static(case.model(), {})
    with opened(built(fixed), fixed, tmp_path / "folder") as loaded:
        plan, about = loaded.compiled.plans[0], loaded.compiled.about
        around = Surroundings(about.inputs, about.outputs, loaded._table, 10**9, ())
    assert not list(_findings(plan, around))
    assert not list(findings(plan))
    for changes in ({"start": -4}, {"step": 4096}, {"step": -8}, {"initial_start": 10**6}):
        assert any(
            "when it is repeated" in text
            for text in _findings(_with_strip(plan, **changes), around)
        )


def test_a_loop_that_is_torn_apart_is_refused(tmp_path: Path) -> None:
    case = Case("LSTM", direction="bidirectional")
    fixed = static(case.model(), {})
    with opened(built(fixed), fixed, tmp_path / "folder") as loaded:
        plan, about = loaded.compiled.plans[0], loaded.compiled.about
        around = Surroundings(about.inputs, about.outputs, loaded._table, 10**9, ())
    repeated = [s for s in plan.kernel_steps if s.repeat is not None]
    other = dataclasses.replace(
        repeated[0], repeat=dataclasses.replace(repeated[0].repeat, times=3)
    )
    steps = tuple(other if step is repeated[0] else step for step in plan.steps)
    found = _findings(dataclasses.replace(plan, steps=steps), around)
    assert any("not as often repeated" in text for text in found)
    short = dataclasses.replace(repeated[0].repeat, strips=())
    steps = tuple(
        dataclasses.replace(step, repeat=short) if step is repeated[0] else step
        for step in plan.steps
    )
    found = _findings(dataclasses.replace(plan, steps=steps), around)
    assert any("another number of strips" in text for text in found)
    often = dataclasses.replace(repeated[0].repeat, times=0)
    steps = tuple(
        dataclasses.replace(step, repeat=often) if step is repeated[0] else step
        for step in plan.steps
    )
    assert any(
        "is repeated 0 times" in t
        for t in _findings(dataclasses.replace(plan, steps=steps), around)
    )
