from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Self

import numpy as np
import onnx
import pytest

from burnish.closeness.tolerance import ARITHMETIC, OFF_BY_ONE
from burnish.core.arrays import Arrays
from burnish.core.errors import ModelError
from burnish.engines.base import EngineOptions, Session
from burnish.feeds.feed import Feeds
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import JudgedSubject, judge, verify, verify_recorded
from burnish.store import datasets, layout, onnx_files
from burnish.store.datasets import DataSet
from burnish.store.stored import StoredModel

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'
PLAIN = f"{HEAD} g (float[n, 4] x) => (float[n, 4] y) {{ a = Tanh(x)  y = Mul(a, a) }}"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], StoredModel]:
    """Return a function that writes a model of ONNX text."""

    def make(name: str, text: str) -> StoredModel:
        path = tmp_path / f"{name}.onnx"
        onnx.save(onnx.parser.parse_model(text), path)
        return layout.stored(path)

    return make


Write = Callable[[str, str], StoredModel]


def rows(count: int, **more: np.ndarray) -> Feeds:
    x = np.random.default_rng(count).normal(size=(count, 4)).astype(np.float32)
    return Feeds({"x": x, **more}, {"n": count})


def test_equal_models_pass_on_every_sample(write: Write) -> None:
    first, second = write("first", PLAIN), write("second", PLAIN)
    report = verify(judge(first), JudgedSubject(second), [rows(1), rows(3)])
    assert report.passed
    assert (report.reference, report.candidate) == ("first", "second")
    assert [(sample.label, dict(sample.bindings)) for sample in report.samples] == [
        ("1", {"n": 1}),
        ("2", {"n": 3}),
    ]
    assert report.notes == ()


def test_a_different_model_fails_and_its_worst_tensor_is_named(write: Write) -> None:
    other = write("other", PLAIN.replace("Mul(a, a)", "Mul(a, x)"))
    report = verify(judge(write("first", PLAIN)), JudgedSubject(other), [rows(2)])
    assert not report.passed
    assert report.worst is not None
    assert report.worst.name == "y"
    assert len(report.worst.worst_index) == 2


def test_no_samples_prove_nothing(write: Write) -> None:
    model = write("first", PLAIN)
    report = verify(judge(model), JudgedSubject(model), [])
    assert not report.passed
    assert report.worst is None


def test_a_difference_that_only_some_inputs_show_is_found(write: Write) -> None:
    other = write("other", PLAIN.replace("Tanh(x)", "Clip(x)"))
    small = Feeds({"x": np.float32([[1e-9, 2e-9, 3e-9, -1e-9]])}, {})
    assert verify(judge(write("first", PLAIN)), JudgedSubject(other), [small]).passed
    report = verify(judge(write("first", PLAIN)), JudgedSubject(other), [small, rows(2)])
    assert [sample.passed for sample in report.samples] == [True, False]


def test_a_dropped_mask_shows_with_padding_only(write: Write) -> None:
    text = f"""{HEAD} g (float[n, 4] x, bool[n, 4] keep) => (float[n, 4] y)
        <float low = {{-1e9}}> {{ s = Where(keep, x, low)  y = Softmax(s) }}"""
    masked = judge(write("masked", text))
    dropped = JudgedSubject(write("dropped", text.replace("Softmax(s)", "Softmax(x)")))
    left = np.array([[True] * 4, [False, False, True, True]])
    assert verify(masked, dropped, [rows(2, keep=np.ones((2, 4), bool))]).passed
    assert not verify(masked, dropped, [rows(2, keep=left)]).passed


def test_a_pruned_input_is_a_problem_with_a_name(write: Write) -> None:
    two = f"{HEAD} g (float[n, 4] x, float[4] b) => (float[n, 4] y) {{ y = Add(x, b) }}"
    one = f"{HEAD} g (float[n, 4] x) => (float[n, 4] y) {{ y = Identity(x) }}"
    feeds = [rows(2, b=np.zeros(4, np.float32))]
    report = verify(judge(write("two", two)), JudgedSubject(write("one", one)), feeds)
    assert not report.passed
    assert report.problems == ("the candidate lacks the input b: f32[4]",)
    back = verify(judge(write("one", one)), JudgedSubject(write("two", two)), feeds)
    assert back.problems == ("the reference lacks the input b: f32[4]",)


def test_an_input_of_another_type_is_a_problem_with_a_name(write: Write) -> None:
    narrow = PLAIN.replace("float[n, 4] x", "float16[n, 4] x").replace("Tanh(x)", "Cast<to = 1>(x)")
    report = verify(judge(write("one", PLAIN)), JudgedSubject(write("two", narrow)), [rows(2)])
    assert report.problems == (
        "the input 'x' is x: f32[n, 4] in the reference and x: f16[n, 4] in the candidate",
    )


def test_outputs_of_other_names_are_matched_by_position(write: Write) -> None:
    renamed = PLAIN.replace("y", "z")
    report = verify(judge(write("one", PLAIN)), JudgedSubject(write("two", renamed)), [rows(2)])
    assert report.passed
    assert report.notes == (
        "the models name their outputs differently; compared by position: y with z",
    )


def test_a_missing_output_fails_and_one_too_many_is_noted(write: Write) -> None:
    more = PLAIN.replace("(float[n, 4] y)", "(float[n, 4] y, float[n, 4] a)")
    plain, both = write("plain", PLAIN), write("both", more)
    report = verify(judge(both), JudgedSubject(plain), [rows(2)])
    assert not report.passed
    assert report.samples[0].diffs[1].reason == "the candidate has no output of this name"
    extra = verify(judge(plain), JudgedSubject(both), [rows(2)])
    assert extra.passed
    assert extra.notes == ("the candidate's output 'a' has no counterpart and was not compared",)


STATIC_INSIDE = f"""{HEAD} g (float[n, 4] x) => (float[m, 2] y)
    <int64[2] shape = {{4, 2}}> {{ y = Reshape(x, shape) }}"""
DYNAMIC_INSIDE = STATIC_INSIDE.replace("{4, 2}", "{-1, 2}")


def test_an_extra_shape_that_the_reference_refuses_is_noted_and_left_out(write: Write) -> None:
    model = write("static", STATIC_INSIDE)
    report = verify(judge(model), JudgedSubject(model), [rows(2)], extra=[rows(3)])
    assert report.passed
    assert len(report.samples) == 1
    assert report.notes[0].startswith("left out n=3: the reference refuses it (")


def test_a_shape_that_was_asked_for_is_never_left_out(write: Write) -> None:
    model = write("static", STATIC_INSIDE)
    with pytest.raises(ModelError, match="cannot be reshaped"):
        verify(judge(model), JudgedSubject(model), [rows(3)])


def test_a_candidate_that_takes_fewer_shapes_fails(write: Write) -> None:
    dynamic, static = write("dynamic", DYNAMIC_INSIDE), write("static", STATIC_INSIDE)
    report = verify(judge(dynamic), JudgedSubject(static), [rows(2)], extra=[rows(3)])
    assert not report.passed
    assert [sample.passed for sample in report.samples] == [True, False]
    assert "cannot be reshaped" in report.samples[1].problem


F16_INSIDE = f"""{HEAD} g (float[n, 4] x) => (float[n, 4] y)
    <int64[2] same = {{-1, 4}}>
    {{ h = Cast<to = 10>(x)  r = Reshape(h, same)  f = Cast<to = 1>(r)
       a = Tanh(f)  y = Mul(a, a) }}"""


def test_a_candidate_that_computes_in_f16_is_judged_by_the_reference_s_type(write: Write) -> None:
    reference, candidate = judge(write("one", PLAIN)), judge(write("two", F16_INSIDE))
    report = verify(reference, candidate, [rows(5)])
    assert not report.passed
    assert all(diff.passed for sample in report.samples for diff in sample.meant)
    said = "the candidate computes in f16 on the way to y; if that is meant, allow it:"
    assert report.notes == (f"{said} --tolerance f16",)
    allowed = verify(reference, candidate, [rows(5)], tolerances=Tolerances(arithmetic="f16"))
    assert allowed.passed
    assert allowed.arithmetic == "f16"
    assert allowed.notes == ("judged by the tolerance of f16, as asked for",)


def test_what_the_reference_computes_in_is_allowed(write: Write) -> None:
    reference, candidate = judge(write("one", F16_INSIDE)), judge(write("two", PLAIN))
    assert verify(reference, candidate, [rows(5)]).passed


@pytest.mark.parametrize(
    "dead",
    [
        "d = Cast<to = 16>(x)", "d = Cast<to = 10>(x)", "q, s, z = DynamicQuantizeLinear(x)",
    ],
)  # fmt: skip
def test_dead_code_of_a_weaker_type_loosens_nothing(write: Write, dead: str) -> None:
    scaled = f"{dead}  b = Mul(a, a)  y = Mul(b, k)"
    text = PLAIN.replace("y = Mul(a, a)", scaled).replace("{ a", "<float k = {1.005}> { a")
    report = verify(judge(write("one", PLAIN)), judge(write("two", text)), [rows(5)])
    assert not report.passed


def test_a_difference_in_meaning_is_found_far_below_any_tolerance(write: Write) -> None:
    text = PLAIN.replace("y = Mul(a, a)", "b = Mul(a, a)  y = Mul(b, k)").replace(
        "{ a", "<float k = {1.000001}> { a"
    )
    report = verify(judge(write("one", PLAIN)), judge(write("two", text)), [rows(5)])
    assert [diff.passed for diff in report.samples[0].diffs] == [True]
    assert [diff.passed for diff in report.samples[0].meant] == [False]
    assert report.outcome == "differs"


def test_constants_may_be_folded_and_rounded_anew(write: Write) -> None:
    apart = f"""{HEAD} g (float[n, 4] x) => (float[n, 4] y)
        <float p = {{1.7}}, float q = {{0.3}}> {{ a = Mul(x, p)  y = Mul(a, q) }}"""
    folded = np.float32(1.7) * np.float32(0.3)
    together = f"""{HEAD} g (float[n, 4] x) => (float[n, 4] y)
        <float p = {{{float(folded)!r}}}> {{ y = Mul(x, p) }}"""
    report = verify(judge(write("one", apart)), judge(write("two", together)), [rows(50)])
    assert report.passed
    assert report.samples[0].meant[0].max_rel > 1e-10


COMPUTED = f"""{HEAD} g (float[n, 7] x, float[7, 3] w) => (float[n, 3] y) <int64[1] last = {{1}}>
    {{ s = Shape(x)  d = Gather(s, last)  f = Cast<to = 1>(d)  r = Sqrt(f)  q = Reciprocal(r)
      a = MatMul(x, w)  y = Mul(a, q) }}"""
"""Scales by a number that follows from a size of the model's own: 7 ** -0.5."""


@pytest.mark.parametrize(("scale", "same"), [("0.37796447", True), ("0.377965", False)])
def test_a_number_may_be_stored_that_was_computed_but_only_as_rounded(
    write: Write, scale: str, same: bool
) -> None:
    stored = f"""{HEAD} g (float[n, 7] x, float[7, 3] w) => (float[n, 3] y)
        {{ y = Gemm<alpha = {scale}>(x, w) }}"""
    random = np.random.default_rng(0)
    arrays = {"x": random.standard_normal((5, 7)), "w": random.standard_normal((7, 3))}
    feeds = Feeds({name: array.astype(np.float32) for name, array in arrays.items()}, {"n": 5})
    subjects = judge(write("computed", COMPUTED)), JudgedSubject(write("stored", stored))
    assert verify(*subjects, [feeds]).passed is same


def test_an_ill_conditioned_model_may_round_as_it_does(write: Write) -> None:
    text = f"""{HEAD} g (float[n, 4] x) => (float[n, 4] y)
        <float big = {{100000000}}> {{ a = Add(x, big)  b = Sub(a, big)  y = Mul(b, x) }}"""
    other = text.replace("a = Add(x, big)  b = Sub(a, big)", "b = Identity(x)")
    reference, candidate = judge(write("one", text)), judge(write("two", other))
    assert verify(reference, candidate, [rows(50)]).passed


def test_zeros_that_become_tiny_numbers_are_found(write: Write) -> None:
    text = f"{HEAD} g (float[n, 4] x) => (float[n, 4] y) {{ y = Sub(x, x) }}"
    tiny = text.replace("y = Sub(x, x)", "k = Constant<value_float = 1e-9>() y = Mul(x, k)")
    report = verify(judge(write("one", text)), judge(write("two", tiny)), [rows(3)])
    assert report.outcome == "differs"


def test_nan_everywhere_shows_nothing(write: Write) -> None:
    text = f"{HEAD} g (float[n, 4] x) => (float[n, 4] y) {{ a = Sub(x, x)  y = Div(a, a) }}"
    other = text.replace("Div(a, a)", "Log(b)").replace("y =", "b = Sub(a, one)  y =").replace(
        "{ a", "<float one = {1}> { a")  # fmt: skip
    report = verify(judge(write("one", text)), judge(write("two", other)), [rows(3)])
    assert report.outcome == "not shown"
    assert report.unshown == {"y": "it is NaN or infinite in every sample"}


def test_one_and_the_same_value_shows_nothing(write: Write) -> None:
    text = f"{HEAD} g (float[n, 4] x) => (float[n, 4] y) {{ a = Sub(x, x)  y = Exp(a) }}"
    other = text.replace("Exp(a)", "Cos(a)")
    report = verify(judge(write("one", text)), judge(write("two", other)), [rows(3)])
    assert report.unshown == {"y": "it has one and the same value in every sample"}


def test_a_constant_output_is_no_secret(write: Write) -> None:
    text = f"""{HEAD} g (float[n, 4] x) => (float[2] y)
        <float[2] c = {{1, 1}}> {{ y = Identity(c) }}"""
    other = text.replace("Identity(c)", "Abs(c)")
    assert verify(judge(write("one", text)), judge(write("two", other)), [rows(3)]).passed


def test_outputs_in_another_order_are_a_problem(write: Write) -> None:
    text = f"""{HEAD} g (float[n, 4] x) => (float[n, 4] y, float[n, 4] z)
        {{ y = Tanh(x)  z = Exp(x) }}"""
    other = text.replace("(float[n, 4] y, float[n, 4] z)", "(float[n, 4] z, float[n, 4] y)")
    report = verify(judge(write("one", text)), judge(write("two", other)), [rows(3)])
    said = "the candidate gives its outputs in another order"
    assert report.problems == (f"{said}: number 0 is 'z', the reference has 'y' there",)


class Drifting:
    """A session that is one per cent off wherever the engine optimises."""

    def __init__(self, session: Session, subject: JudgedSubject) -> None:
        self._session = session
        self._factor = np.float32(1.0 if subject.options.graph_level == "off" else 1.01)
        self.placement = session.placement

    def run(self, feeds: Arrays) -> dict[str, np.ndarray]:
        return {name: array * self._factor for name, array in self._session.run(feeds).items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.__exit__(None, None, None)


def test_the_engine_s_own_drift_is_not_the_candidate_s(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = PLAIN.replace("y = Mul(a, a)", "b = Mul(a, a)  y = Identity(b)")
    reference, candidate = judge(write("one", PLAIN)), JudgedSubject(write("two", other))
    real = JudgedSubject.open
    monkeypatch.setattr(JudgedSubject, "open", lambda subject: Drifting(real(subject), subject))
    report = verify(reference, candidate, [rows(5)])
    assert report.passed
    assert (
        "y: the reference itself drifts as far on this engine: it is the engine's" in report.notes
    )


def test_asked_tolerances_hold(write: Write) -> None:
    other = write("other", PLAIN.replace("y = Mul(a, a)", "b = Mul(a, a)  y = Mul(b, c)").replace(
        "{ a", "<float c = {1.01}> { a"))  # fmt: skip
    reference, candidate = judge(write("one", PLAIN)), JudgedSubject(other)
    assert not verify(reference, candidate, [rows(2)]).passed
    assert verify(reference, candidate, [rows(2)], tolerances=Tolerances(relative=0.05)).passed


def test_quantised_outputs_may_be_off_by_one(write: Write) -> None:
    text = f"""{HEAD} g (float[n, 4] x) => (uint8[n, 2, 2] y)
        <float scale = {{0.1}}, uint8 zero = {{128}}, int64[3] shape = {{0, 2, 2}}>
        {{ q = QuantizeLinear(x, scale, zero)  y = Reshape(q, shape) }}"""
    model = write("one", text)
    report = verify(judge(model), JudgedSubject(model), [rows(2)])
    assert report.samples[0].diffs[0].tolerance == OFF_BY_ONE


def test_nan_in_both_runs_agrees_and_is_noted(write: Write) -> None:
    text = f"{HEAD} g (float[n, 4] x) => (float[n, 4] y) {{ y = Log(x) }}"
    model = write("log", text)
    feeds = Feeds({"x": np.float32([[-1, 1, 1, 1]])}, {"n": 1})
    report = verify(judge(model), JudgedSubject(model), [feeds])
    assert report.passed
    assert report.notes == ("y: 1 element of 4 NaN or infinite in both, sample 1",)


def test_nan_in_one_run_fails(write: Write) -> None:
    text = f"{HEAD} g (float[n, 4] x) => (float[n, 4] y) {{ y = Sqrt(x) }}"
    other = text.replace("y = Sqrt(x)", "a = Abs(x)  y = Sqrt(a)")
    feeds = Feeds({"x": np.float32([[-1, 1, 1, 1]])}, {"n": 1})
    report = verify(judge(write("one", text)), JudgedSubject(write("two", other)), [feeds])
    assert report.worst is not None
    assert report.worst.non_finite_mismatches == 1
    assert math.isinf(report.worst.severity)


def test_notes_of_made_inputs_are_kept_once(write: Write) -> None:
    model = write("one", PLAIN)
    noted = [Feeds(rows(k).arrays, {}, ("guessed",)) for k in (1, 2)]
    assert verify(judge(model), JudgedSubject(model), noted).notes == ("guessed",)


def recorded(model: StoredModel, folder: Path, outputs: dict[str, np.ndarray]) -> Path:
    interface = onnx_files.interface(onnx_files.read(model.onnx))
    datasets.write(folder, DataSet(rows(2).arrays, outputs), interface)
    return folder


def test_recorded_outputs_are_compared_with_what_the_model_gives(
    write: Write, tmp_path: Path
) -> None:
    model = write("one", PLAIN)
    right = np.tanh(rows(2).arrays["x"]) ** 2
    good = recorded(model, tmp_path / "test_data_set_0", {"y": right})
    bad = recorded(model, tmp_path / "test_data_set_1", {"y": right + np.float32(0.1)})
    report = verify_recorded(JudgedSubject(model), [good, bad])
    assert [(sample.label, sample.passed) for sample in report.samples] == [
        ("test_data_set_0", True),
        ("test_data_set_1", False),
    ]
    assert report.reference == report.reference_engine == "recorded"
    assert report.samples[0].diffs[0].tolerance == ARITHMETIC["f32"]


def test_a_data_set_without_outputs_cannot_be_compared_with(write: Write, tmp_path: Path) -> None:
    model = write("one", PLAIN)
    folder = recorded(model, tmp_path / "test_data_set_0", {})
    with pytest.raises(ModelError, match="holds no outputs to compare with") as caught:
        verify_recorded(JudgedSubject(model), [folder])
    assert caught.value.hint.endswith(f"--data {folder}")


def test_a_recorded_output_that_the_model_lacks_is_a_mistake_in_the_data(
    write: Write, tmp_path: Path
) -> None:
    more = write("more", PLAIN.replace("(float[n, 4] y)", "(float[n, 4] y, float[n, 4] a)"))
    right = np.tanh(rows(2).arrays["x"])
    folder = recorded(more, tmp_path / "test_data_set_0", {"y": right**2, "a": right})
    with pytest.raises(ModelError, match="the model has no output 1"):
        verify_recorded(JudgedSubject(write("one", PLAIN)), [folder])


def test_a_reference_is_not_optimised_where_the_engine_can_be_told_so(write: Write) -> None:
    model = write("one", PLAIN)
    assert judge(model).options.graph_level == "off"
    assert judge(model, "onnxruntime-cuda").options.graph_level == "off"
    assert judge(model, "openvino").options == EngineOptions()
    assert judge(model, options=EngineOptions(threads=1)).options.threads == 1
