from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.core.arrays import Array
from burnish.feeds.feed import Feeds
from burnish.parity import comparison
from burnish.parity.one_node import NodeRunner
from burnish.parity.reference import run_reference
from burnish.parity.roundings import Roundings, _overflowing_alike, near_a_run
from burnish.parity.subject import JudgedSubject
from burnish.parity.tolerances import Tolerances
from burnish.parity.truth import Truth
from burnish.parity.verify import Effort, judge, verify
from burnish.store.layout import stored
from burnish.store.stored import StoredModel

KEPT = """<ir_version: 10, opset_import: ["": 17]>
g (float[n] x) => (float[k] y)
<float third = {0.3333333432674408}, float three = {3.0}, float one = {1.0}, float half = {0.5}>
{
   a = Mul(x, third)
   b = Mul(a, three)
   c = Greater(b, one)
   y = Compress(x, c)
}"""


def _stored(path: Path, text: str) -> Path:
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def _verified(tmp_path: Path, other: str, x: list[float]) -> tuple[bool, tuple[str, ...]]:
    one = stored(_stored(tmp_path / "one.onnx", KEPT))
    two = stored(_stored(tmp_path / "two.onnx", other))
    feeds = Feeds({"x": np.array(x, np.float32)}, {"n": len(x)})
    report = verify(judge(one), JudgedSubject(two), [feeds])
    return report.passed, report.notes


def test_how_many_elements_there_are_may_be_decided_by_a_rounding(tmp_path: Path) -> None:
    # 0.3333333432674408 × 3 is a little more than one, but not in f32
    passed, notes = _verified(
        tmp_path, KEPT.replace("Mul(x, third)", "Mul(third, x)"), [0.25, 1, 2]
    )
    assert passed
    assert "y: for some inputs roundings decide how many elements it has" in notes


def test_how_many_elements_there_are_is_else_a_difference(tmp_path: Path) -> None:
    passed, notes = _verified(
        tmp_path, KEPT.replace("Greater(b, one)", "Greater(b, half)"), [0.25, 0.75]
    )
    assert not passed
    assert not any("roundings decide" in note for note in notes)


LARGEST = """<ir_version: 6, opset_import: ["": 11]>
g (float[2, n] x) => (float[2, 1] y)
<int64[1] end = {1000}, int64[1] axis = {1}>
{
   none = Slice(x, end, end, axis)
   z = ReduceMax <axes = [1], keepdims = 1> (none)
   y = Tanh(z)
}"""


def test_the_largest_of_nothing_is_what_the_engine_makes_of_it(tmp_path: Path) -> None:
    models = [stored(_stored(tmp_path / f"{name}.onnx", LARGEST)) for name in ("one", "two")]
    feeds = Feeds({"x": np.ones((2, 3), np.float32)}, {"n": 3})
    assert verify(judge(models[0]), JudgedSubject(models[1]), [feeds]).passed


def test_a_run_counts_where_it_is_finite_and_the_truth_is_not() -> None:
    truth, written = np.array([-np.inf, np.nan, 1.0, 2.0]), np.array([0.5, 0.25, np.inf, 3.0])
    found = _overflowing_alike(truth, written.astype(np.float32), np.full(4, np.inf, np.float32))
    np.testing.assert_array_equal(found, [0.5, 0.25, np.inf, 2.0])


def test_what_does_not_overflow_as_the_reference_does_is_held_to_the_truth() -> None:
    truth, written = np.array([1.0, 2.0, np.nan]), np.array([np.inf, np.nan, np.nan], np.float32)
    found = _overflowing_alike(truth, written, np.array([1.0, np.inf, 5.0], np.float32))
    np.testing.assert_array_equal(found, [1.0, np.nan, np.nan])


@pytest.mark.parametrize(("kind", "beyond"), [(np.float32, 5e103), (np.float16, 1e5)])
def test_what_is_beyond_a_type_is_infinite_in_it_whatever_the_reference_gave(
    kind: type[np.floating], beyond: float
) -> None:
    truth, written = np.array([beyond, -beyond, beyond, 2.0]), np.array([3.0, 3.0, 3.0, 3.0], kind)
    found = _overflowing_alike(truth, written, np.array([np.inf, -np.inf, -np.inf, np.inf], kind))
    np.testing.assert_array_equal(found, [np.inf, -np.inf, beyond, 2.0])


TIED = """<ir_version: 10, opset_import: ["" : 20]> g (float[n] x) => (float[1] y)
<int64[1] one = {1}>
{ s = Sigmoid(x)  top, place = TopK(s, one)  chosen = Gather(x, place)  y = Exp(chosen) }"""


def test_a_tie_may_fall_where_exp_overflows_as_the_truth_does(tmp_path: Path) -> None:
    model = stored(_stored(tmp_path / "tied.onnx", TIED))
    again = replace(model, onnx=_stored(tmp_path / "again.onnx", TIED))
    # in f32 both scores are one, and the first is taken; in truth the second is the larger
    feeds = Feeds({"x": np.array([30.0, 600.0], np.float32)}, {"n": 2})
    swapped = Feeds({"x": np.array([600.0, 30.0], np.float32)}, {"n": 2})
    assert verify(judge(model), JudgedSubject(again), [feeds, swapped]).passed


LEAST = """<ir_version: 10, opset_import: ["" : 20]> g (float[n] x) => (int64[2] y)
<int64[1] two = {2}> { s = Sigmoid(x)  top, y = TopK(s, two) }"""


def test_places_among_scores_that_are_zero_in_f32_alone_are_those_of_the_reference(
    tmp_path: Path,
) -> None:
    model = stored(_stored(tmp_path / "least.onnx", LEAST))
    feeds = Feeds({"x": np.array([-400.0, -300.0, -200.0], np.float32)}, {"n": 3})
    for text, right in ((LEAST, True), (LEAST.replace("TopK(s", "TopK<largest=0>(x"), False)):
        other = replace(model, onnx=_stored(tmp_path / f"{right}.onnx", text))
        assert verify(judge(model), JudgedSubject(other), [feeds]).passed is right


SHARES = """<ir_version: 10, opset_import: ["" : 20]> g (float[n, 6] x) => (float[n, 6] y)
<int64[1] last = {-1}> { e = Exp(x)  s = ReduceSum(e, last)  y = Div(e, s) }"""


@pytest.mark.parametrize("largest", [5, 100, 2000])
@pytest.mark.parametrize(
    ("text", "passed"),
    [("y = Softmax<axis = -1>(x)", True), ("t = Tanh(x)  y = Softmax<axis = -1>(t)", False)],
)
def test_a_form_that_does_not_overflow_is_right_where_the_reference_does(
    tmp_path: Path, largest: float, text: str, passed: bool
) -> None:
    parts = "e = Exp(x)  s = ReduceSum(e, last)  y = Div(e, s)"
    models = [
        stored(_stored(tmp_path / f"{name}.onnx", SHARES.replace(parts, body)))
        for name, body in (("one", parts), ("two", text))
    ]
    x = np.float32([[largest, largest - 1, -3, 0, 1, 2]])
    found = verify(judge(models[0]), JudgedSubject(models[1]), [Feeds({"x": x}, {"n": 1})])
    assert (found.outcome == "differs") is not passed


def far(by: float) -> dict[str, Array]:
    return {"y": np.float32([1.0, 2.0, 3.0]) + np.float32(by)}


@pytest.mark.parametrize(
    ("off", "drift", "passed", "forgiven"),
    [
        (0.0, 0.0, True, ()),
        (0.003, 0.001, True, ("y",)),
        (0.005, 0.001, False, ()),
        (0.003, 0.0, False, ()),
    ],
)
def test_where_no_truth_is_known_a_candidate_may_drift_as_the_reference_does(
    off: float, drift: float, passed: bool, forgiven: tuple[str, ...]
) -> None:
    diffs, names = near_a_run(far(0.0), far(off), Tolerances(), lambda: far(drift))
    assert ([diff.passed for diff in diffs], names) == ([passed], forgiven)


def test_whoever_names_a_tolerance_wants_no_patience() -> None:
    asked = Tolerances(absolute=1e-6, relative=0.0)
    diffs, names = near_a_run(far(0.0), far(0.003), asked, lambda: far(0.003))
    assert ([diff.passed for diff in diffs], names) == ([False], ())


DIFFERENCE = """<ir_version: 10, opset_import: ["": 17]> g (float[2, 2] x) => (float[2, 1] y)
<float[2, 1] more = {1000.7, 1000.7}, float[2, 1] less = {999.3, 999.3}>
{ a = MatMul(x, more)  b = MatMul(x, less)  y = Sub(a, b) }"""


@pytest.mark.parametrize(
    ("precision", "off", "passed"),
    [("tf32", 0.3, True), ("tf32", 30.0, False), ("f32", 0.3, False)],
)
def test_what_factors_of_tf32_do_to_a_difference_is_a_rounding(
    tmp_path: Path, precision: str, off: float, passed: bool
) -> None:
    model = stored(_stored(tmp_path / "one.onnx", DIFFERENCE))
    reference = run_reference(model, Feeds({"x": np.full((2, 2), 1.1, np.float32)}, {}))
    exact = 2.2 * (1000.7 - 999.3)
    found = reference.judged(model, precision, {"y": np.float32([[exact], [exact + off]])})
    assert found.sample.passed is passed
    assert found.allowed == ("tf32" if passed else "")


LAYERS = """<ir_version: 10, opset_import: ["": 17]> g ({kind}[4, 32] x) => ({kind}[4, 32] y)
{{ a = MatMul(x, u)  b = Tanh(a)  c = MatMul(b, v)  y = Tanh(c) }}"""


def layers(path: Path, kind: str, second: float) -> StoredModel:
    """Write a model of two layers, of which the second is off by a factor."""
    proto = onnx.parser.parse_model(LAYERS.format(kind=kind))
    random = np.random.default_rng(0)
    for name, factor in (("u", 1.0), ("v", second)):
        array = random.normal(size=(32, 32)) * factor / 6
        held = array.astype(np.float16 if kind == "float16" else np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(held, name))
    onnx.save(onnx.shape_inference.infer_shapes(proto), path)
    return stored(path)


@pytest.mark.parametrize(("kind", "arithmetic"), [("float16", None), ("float", "tf32")])
@pytest.mark.parametrize("off", [1.0, 1.1, 1.2])
def test_an_engine_of_its_own_has_no_more_patience_in_roundings_of_few_bits(
    tmp_path: Path, kind: str, arithmetic: str | None, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what a model runs in its place is judged as another engine is
    monkeypatch.setattr(comparison, "_LEVEL", comparison._ENGINE)
    model = layers(tmp_path / "model.onnx", kind, 1.0)
    engine = replace(judge(model), runs=layers(tmp_path / "planted.onnx", kind, off))
    x = np.random.default_rng(1).normal(size=(4, 32))
    feeds = Feeds({"x": x.astype(np.float16 if kind == "float16" else np.float32)}, {})
    allowed = Tolerances(arithmetic=arithmetic) if arithmetic else None
    report = verify(judge(model), engine, [feeds], tolerances=allowed, effort=Effort(search=False))
    assert report.passed == (off == 1.0)


@pytest.mark.parametrize(("alike", "passed"), [([1, 0], True), ([1, 2], False)])
def test_places_are_right_where_the_reference_gives_them_on_the_same_engine(
    alike: list[int], passed: bool
) -> None:
    model = ir.from_proto(onnx.parser.parse_model(LEAST))
    feeds = {"x": np.array([-400.0, -300.0, -200.0], np.float32)}
    with NodeRunner(dict(model.opset_imports)) as runner:
        truth = Truth(model, None, runner)
        tensors = truth.of_reference(feeds)
        assert tensors is not None
        judging = Roundings(
            truth, Tolerances(), feeds, tensors, {"y": np.array([0, 1])},
            lambda _: {"y": np.array([0, 1])}, lambda _: {"y": np.array(alike)},
        )  # fmt: skip
        found = judging.diff("y", tensors["y"], np.array([1, 0]), hopeless=False)
    assert found.passed is passed
    assert judging.drifting == (["y"] if passed else [])
