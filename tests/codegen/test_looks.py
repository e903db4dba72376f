"""What kernels would take as it comes is refused wherever it is computed, and nothing else is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest

from burnish.core.arrays import Array, Arrays
from burnish.core.errors import UsageError
from burnish.rewrite.static import static
from burnish.runtime.load import LoadedModel
from burnish.tile.lower import cover
from codegen.models import built, model, opened, weights

KNOWN: dict[str, Array] = {
    **weights(("table", (5, 4))),
    "yes": np.array(True),
    "three": np.array(3),
    "one": np.array([1]),
    "end": np.array([3]),
    "ten": np.array(10),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A model of `i`, which is fed right and wrong; the other inputs say what is chosen."""

    text: str
    right: tuple[object, ...]
    wrong: object
    says: str
    but: str = ""
    """What makes the wrong right."""


CASES = {
    "a part of what is fed": Case(
        "(int64[4] i) => (float[2, 4] y) { s = Slice (i, one, end) y = Gather (table, s) }",
        ([9, 1, 4, 9], [-9, -5, 0, 7]), [0, 1, 5, 0],
        "computed 's' holds 5, and what it points into has 5 entries",
    ),
    "a part of what is computed": Case(
        "(int64[4] i) => (float[2, 4] y)"
        " { c = Mul (i, i) s = Slice (c, one, end) y = Gather (table, s) }",
        ([9, 1, 2, 9],), [0, 1, 3, 0],
        "computed 's' holds 9, and what it points into has 5 entries",
    ),
    "rows of places that are fed": Case(
        "(int64[2, 2] i) => (float[2] y) { y = GatherND (table, i) }",
        ([[4, 3], [-5, -4]],), [[1, 4], [0, 0]],
        "input 'i' holds 4, and what it points into has 4 entries",
    ),
    "rows of places that are computed": Case(
        "(int64[2, 2] i) => (float[2] y) { c = Add (i, i) y = GatherND (table, c) }",
        ([[2, 1], [-2, -2]],), [[3, 1], [0, 0]],
        "computed 'c' holds 6, and what it points into has 5 entries",
    ),
    "one row of places": Case(
        "(int64[2] i) => (float y) { y = GatherND (table, i) }",
        ([4, 3],), [3, 4], "input 'i' holds 4, and what it points into has 4 entries",
    ),
    "where updates go": Case(
        "(int64[2, 2] i) => (float[5, 4] y)"
        " { c = Add (i, i) u = GatherND (table, c) y = ScatterND (table, i, u) }",
        ([[2, 1], [0, 1]],), [[2, -3], [0, 0]],
        "computed 'c' holds -6, and what it points into has 4 entries",
    ),
    "a branch": Case(
        """(int64[2] i, bool c) => (float[2, 4] y)
        { y = If (c) <then_branch = yes () => (float[2, 4] a)
            { j = Add (i, i) a = Gather (table, j) },
          else_branch = no () => (float[2, 4] b) { b = Gather (table, i) }> }""",
        ([0, 2],), [0, 4], "computed 'j' holds 8, and what it points into has 5 entries", "c",
    ),
    "both branches, under one name": Case(
        """(int64[2] i, bool c) => (float[2, 4] y)
        { y = If (c) <then_branch = yes () => (float[2, 4] a)
            { j = Add (i, i) a = Gather (table, j) },
          else_branch = no () => (float[2, 4] b) { j = Sub (i, one) b = Gather (table, j) }> }""",
        ([0, 2],), [0, 4], "computed 'j' holds 8, and what it points into has 5 entries", "c",
    ),
    "turns of a Scan": Case(
        """(int64[3, 2] i) => (float[3, 2, 4] y)
        { y = Scan <num_scan_inputs = 1, body = b (int64[2] k) => (float[2, 4] o)
          { j = Add (k, k) o = Gather (table, j) }> (i) }""",
        ([[0, 1], [2, 1], [-2, 0]],), [[0, 1], [3, 1], [0, 0]],
        "computed 'j' holds 6, and what it points into has 5 entries",
    ),
    "turns of a Scan over what is fed": Case(
        """(int64[3, 2] i) => (float[3, 2, 4] y)
        { y = Scan <num_scan_inputs = 1, body = b (int64[2] k) => (float[2, 4] o)
          { o = Gather (table, k) }> (i) }""",
        ([[0, 1], [4, 1], [-5, 0]],), [[0, 1], [5, 1], [0, 0]],
        "input 'i' holds 5, and what it points into has 5 entries",
    ),
    "turns of a Scan over what is computed, along its last axis": Case(
        """(int64[2, 3] i) => (float[3, 2, 4] y)
        { t = Add (i, i) y = Scan <num_scan_inputs = 1, scan_input_axes = [1],
          body = b (int64[2] k) => (float[2, 4] o) { o = Gather (table, k) }> (t) }""",
        ([[0, 1, 2], [2, 1, -2]],), [[0, 1, 2], [2, 3, 0]],
        "computed 'k' holds 6, and what it points into has 5 entries",
    ),
    "a state of a Loop, whose last is nobody's place": Case(
        """(int64[2] i) => (int64[2] s, float[3, 2, 4] y)
        { s, y = Loop <body = b (int64 n, bool c, int64[2] k) => (bool d, int64[2] m, float[2, 4] o)
          { d = Identity (yes) o = Gather (table, k) m = Add (k, one) }> (three, yes, i) }""",
        ([0, 2],), [0, 3], "computed 'k' holds 5, and what it points into has 5 entries",
    ),
    "which turn of a Loop it is": Case(
        """(int64[2] i) => (float[3, 4] y)
        { few = Expand (table, one) y = Loop <body = b (int64 n, bool c) => (bool d, float[4] o)
          { d = Identity (yes) k = Add (n, i) j = ReduceMax <keepdims = 0> (k)
            o = Gather (few, j) }> (three, yes) }""",
        ([0, 2],), [0, 3], "computed 'j' holds 5, and what it points into has 5 entries",
    ),
    "a divisor that is fed": Case(
        "(int64[2] i) => (int64[2] y) { y = Div (ten, i) }",
        ([3, -4],), [3, 0], "input 'i' holds 0, and divides whole numbers",
    ),
    "a divisor that is computed": Case(
        "(int64[2] i) => (int64[2] y) { k = Sub (i, one) y = Mod (ten, k) }",
        ([3, 0],), [3, 1], "computed 'k' holds 0, and divides whole numbers",
    ),
    "a divisor of a remainder as in C": Case(
        "(int64[2] i) => (int64[2] y) { y = Mod <fmod = 1> (ten, i) }",
        ([3, -4],), [0, 1], "input 'i' holds 0, and divides whole numbers",
    ),
    "a part of divisors": Case(
        "(int64[4] i) => (int64[2] y) { s = Slice (i, one, end) y = Div (ten, s) }",
        ([0, 3, 1, 0],), [1, 0, 1, 1], "computed 's' holds 0, and divides whole numbers",
    ),
    "a divisor in a branch": Case(
        """(int64[2] i, bool c) => (int64[2] y)
        { y = If (c) <then_branch = yes () => (int64[2] a) { a = Div (ten, i) },
          else_branch = no () => (int64[2] b) { b = Identity (i) }> }""",
        ([3, -4],), [3, 0], "input 'i' holds 0, and divides whole numbers", "c",
    ),
    "a divisor that turns of a Loop count down": Case(
        """(int64[2] i) => (int64[2] s, int64[3, 2] y)
        { s, y = Loop <body = b (int64 n, bool c, int64[2] k) => (bool d, int64[2] m, int64[2] o)
          { d = Identity (yes) o = Div (ten, k) m = Sub (k, one) }> (three, yes, i) }""",
        ([9, 3], [-1, 4]), [9, 2], "computed 'k' holds 0, and divides whole numbers",
    ),
}  # fmt: skip


def compiled(case: Case, folder: Path, threads: int) -> tuple[ir.Model, LoadedModel]:
    given = model("looked " + case.text, KNOWN)
    fixed = static(given, {})
    made = built(fixed)
    assert not made.plan.ort_steps
    return given, opened(made, fixed, folder, threads)


def feeds_of(given: ir.Model, i: object, *, chosen: bool = True) -> Arrays:
    names = [value.name for value in given.graph.inputs]
    whole = {"i": np.array(i), "c": np.array(chosen)}
    return {name: whole[name] for name in names if name}


def by_onnxruntime(given: ir.Model, feeds: Arrays) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    data = ir.to_proto(given).SerializeToString()
    return onnxruntime.InferenceSession(data, options).run(None, dict(feeds))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_what_has_no_answer_is_refused_and_nothing_else_is(
    name: str, threads: int, tmp_path: Path
) -> None:
    case = CASES[name]
    given, loaded = compiled(case, tmp_path / "c", threads)
    with loaded:
        tried = [feeds_of(given, each) for each in case.right]
        if case.but:
            tried.append(feeds_of(given, case.wrong, chosen=False))
        for _ in range(2):
            for feeds in tried:
                found = list(loaded.run(feeds).values())
                for one, other in zip(found, by_onnxruntime(given, feeds), strict=True):
                    np.testing.assert_array_equal(one, other)
            with pytest.raises(UsageError) as told:
                loaded.run(feeds_of(given, case.wrong))
            assert told.value.problem == case.says


@pytest.mark.parametrize("name", CASES)
def test_onnx_runtime_refuses_the_same(name: str) -> None:
    case = CASES[name]
    given = model("looked " + case.text, KNOWN)
    with pytest.raises(Exception, match=r"onnxruntime|Integer|index|indice"):
        by_onnxruntime(given, feeds_of(given, case.wrong))


FORWARD = {
    "angles": (
        """(int64[1, 3] i) => (float[1, 2, 3, 8] y)
        { y = com.microsoft.RotaryEmbedding (x, i, angles, angles) }""",
        ([[0, 9, 4]],), ([[0, 10, 1]], [[0, -1, 1]]),
    ),
    "angles from a place on": (
        """(int64[1] i) => (float[1, 2, 3, 8] y)
        { y = com.microsoft.RotaryEmbedding (x, i, angles, angles) }""",
        ([0], [7]), ([8], [-1]),
    ),
    "rows of tables": (
        """(int32[1, 3] i) => (float[1, 3, 4] y)
        { y, m = com.microsoft.EmbedLayerNormalization (i, , angles, angles, , four, four) }""",
        ([[0, 9, 1]],), ([[0, 10, 1]], [[0, -1, 1]]),
    ),
    "pictures": (
        """(int64[2] i) => (float[2, 2, 1, 1] y)
        { y = RoiAlign <output_height = 1, output_width = 1, sampling_ratio = 1> (x, boxes, i) }""",
        ([0, 0],), ([0, 1], [0, -1]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARD)
def test_places_that_do_not_count_from_the_end_are_refused_below_0(
    name: str, tmp_path: Path
) -> None:
    text, right, wrong = FORWARD[name]
    known = weights(
        ("x", (1, 2, 3, 8)), ("angles", (10, 4)), ("four", (4,)), ("boxes", (2, 4))
    )  # fmt: skip
    given = model("forward " + text, known)
    given.opset_imports["com.microsoft"] = 1
    kind = np.int32 if "int32" in text else np.int64
    fixed = static(given, {})
    made = built(fixed)
    assert not made.plan.ort_steps
    with opened(made, fixed, tmp_path / "c") as loaded:
        for each in right:
            feeds = {"i": np.array(each, kind)}
            (found,), (wanted,) = loaded.run(feeds).values(), by_onnxruntime(given, feeds)
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
        for each in wrong:
            feeds = {"i": np.array(each, kind)}
            with pytest.raises(Exception, match=r"onnxruntime|range"):
                by_onnxruntime(given, feeds)
            with pytest.raises(UsageError, match="input 'i' holds") as told:
                loaded.run(feeds)
            assert told.value.hint is not None
            assert "from 0 to" in told.value.hint


def test_more_tokens_than_there_are_angles_stay_with_onnx_runtime() -> None:
    given = model(
        """more (int64[1] i) => (float[1, 2, 3, 8] y)
        { y = com.microsoft.RotaryEmbedding (x, i, angles, angles) }""",
        weights(("x", (1, 2, 3, 8)), ("angles", (2, 4))),
    )
    given.opset_imports["com.microsoft"] = 1
    (reason,) = cover(static(given, {}).graph).left.values()
    assert reason == "angles of 2 places for 3 tokens"


def test_the_way_out_says_what_a_divisor_may_be(tmp_path: Path) -> None:
    for name, hint in (
        ("a divisor that is fed", "feed whole numbers other than 0"),
        ("a divisor that is computed", "feed what makes whole numbers other than 0 of it"),
    ):
        given, loaded = compiled(CASES[name], tmp_path / name, 1)
        with loaded, pytest.raises(UsageError) as told:
            loaded.run(feeds_of(given, CASES[name].wrong))
        assert told.value.hint == hint


def test_a_turn_that_is_sure_to_exist_is_not_looked_at() -> None:
    text = """sure (float[3, 4] x) => (float[3, 4] y)
    { y = Loop <body = b (int64 n, bool c) => (bool d, float[4] o)
      { d = Identity (yes) o = Gather (x, n) }> (three, yes) }"""
    made = built(static(model(text, KNOWN), {}))
    assert not [look for step in made.plan.kernel_steps for look in step.looks]
