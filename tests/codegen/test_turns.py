"""Bodies of Scan and Loop in kernels that are repeated, as ONNX Runtime does it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest

from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.lower import cover
from codegen.models import built, model, opened, reference, weights

STEP = """body = step (float[n, 4] s, float[n, 3] x) => (float[n, 4] next, float[n, 4] y)
{
    new = MatMul(x, w)
    old = MatMul(s, r)
    sum = Add(new, old)
    next = Tanh(sum)
    y = Neg(next)
}"""
RECURRENT = weights(("w", (3, 4)), ("r", (4, 4)))

SCANS = {
    "forwards": "(float[2, 4] a, float[5, 2, 3] x) => (float[2, 4] end, float[5, 2, 4] y)"
    f"{{ end, y = Scan <num_scan_inputs = 1, {STEP}> (a, x) }}",
    "backwards": "(float[2, 4] a, float[5, 2, 3] x) => (float[2, 4] end, float[5, 2, 4] y)"
    "{ end, y = Scan <num_scan_inputs = 1, scan_input_directions = [1],"
    f" scan_output_directions = [1], {STEP}> (a, x) }}",
    "along the second axis": "(float[2, 4] a, float[2, 5, 3] x) => (float[5, 2, 4] y)"
    f"{{ end, y = Scan <num_scan_inputs = 1, scan_input_axes = [1], {STEP}> (a, x) }}",
    "with operators that once meant something else": "(float[2, 4] a, float[5, 2, 4] x)"
    "=> (float[2, 4] end, float[5, 2, 4] y) { end, y = Scan <num_scan_inputs = 1, body = step"
    " (float[2, 4] s, float[2, 4] u) => (float[2, 4] next, float[2, 4] share)"
    " { next = Add(s, u) share = Softmax(next) }> (a, x) }",
    "only the end": "(float[2, 4] a, float[5, 2, 3] x) => (float[2, 4] end)"
    f"{{ end, y = Scan <num_scan_inputs = 1, {STEP}> (a, x) }}",
    "a constant begin, and more around": "(float[5, 2, 3] x) => (float[5, 2, 4] z)"
    f"{{ twice = Mul(x, x) end, y = Scan <num_scan_inputs = 1, {STEP}> (zero, twice)"
    " z = Add(y, end) }",
    "two states, one of whom stands still": """
(float[4] a, float[4] b, float[6, 4] x, float[6, 4] z) => (float[4] p, float[4] q, float[6, 4] y)
{ p, q, y = Scan <num_scan_inputs = 2, body = step
    (float[4] s, float[4] t, float[4] u, float[4] v) => (float[4] n, float[4] t, float[4] n) {
    m = Mul(u, v)
    k = Add(m, s)
    n = Sub(k, t)
  }> (a, b, x, z) }""",
    "what was seen so far": """(float[4] a, float[6, 4] x) => (float[4] p, float[6, 4] y)
{ p, y = Scan <num_scan_inputs = 1, body = step (float[4] s, float[4] u)
    => (float[4] u, float[4] s) { }> (a, x) }""",
}
LOOPS = {
    "so many times": """(float[4] a, float[4] x) => (float[4] end, float[5, 4] y)
{ end, y = Loop <body = turn (int64 i, bool go, float[4] s) => (bool go, float[4] n, float[4] k) {
    k = Mul(s, x)
    f = Cast <to = 1> (i)
    n = Add(k, f)
  }> (five, true, a) }""",
    "without a condition": """(float[4] a) => (float[4] end)
{ end = Loop <body = turn (int64 i, bool go, float[4] s) => (bool on, float[4] n) {
    on = Identity(go)
    n = Sin(s)
  }> (five, , a) }""",
    "sizes decide how often": """(float[6, 4] x) => (float[4] end)
{ sizes = Shape <start = 0, end = 1> (x)
  end = Loop <body = turn (int64 i, bool go, float[4] s) => (bool go, float[4] n) {
    row = Gather(x, i)
    n = Max(s, row)
  }> (sizes, true, least) }""",
}
HANDED_ON = ("two states, one of whom stands still", "what was seen so far")
"""What a turn finds it also gives, or it gives something twice: ONNX Runtime 1.31 then gives memory
that nobody wrote, so ONNX's own evaluator is asked."""
KNOWN: Mapping[str, Array] = {
    **RECURRENT,
    "zero": np.zeros((2, 4), np.float32),
    "one": np.array(1),
    "five": np.array(5),
    "minus": np.array(-2),
    "true": np.array(True),
    "least": np.full(4, -9, np.float32),
}


def by_onnxruntime(given: ir.Model, feeds: dict[str, Array]) -> dict[str, Array]:
    """Return what ONNX Runtime gives."""
    session = onnxruntime.InferenceSession(ir.to_proto(given).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", [*SCANS, *LOOPS])
def test_turns_in_kernels_give_what_onnx_runtime_gives(
    name: str, threads: int, tmp_path: Path
) -> None:
    given = model("turns " + {**SCANS, **LOOPS}[name], KNOWN)
    fixed = static(given, {})
    made = built(fixed)
    assert not made.plan.ort_steps
    random = np.random.default_rng(3)
    shapes = {value.name or "": [int(n) for n in value.shape or ()] for value in given.graph.inputs}
    with opened(made, fixed, tmp_path / "f", threads) as loaded:
        for _ in range(2):
            feeds = {n: random.normal(size=shape).astype(np.float32) for n, shape in shapes.items()}
            judge = reference if name in HANDED_ON else by_onnxruntime
            found, wanted = loaded.run(feeds), judge(given, feeds)
            for output, array in wanted.items():
                np.testing.assert_allclose(found[output], array, rtol=2e-5, atol=2e-6)


LEFT = {
    "(float[4] a, int64 n) => (float[4] end) { end = Loop <body = turn (int64 i, bool go,"
    " float[4] s) => (bool go, float[4] t) { t = Sin(s) }> (n, , a) }":
        "how often it turns is not a constant",
    "(float[4] a) => (float[4] end) { end = Loop <body = turn (int64 i, bool go, float[4] s)"
    " => (bool on, float[4] t) { t = Sin(s) on = Less(i, five) }> (five, true, a) }":
        "it ends by what its turns compute",
    "(float[1] a) => (float[n] end) { end = Loop <body = turn (int64 i, bool go, float[k] s)"
    " => (bool go, float[m] t) { t = Concat <axis = 0> (s, s) }> (five, true, a) }":
        "the shape of 's' is not known before it is run",
    "(float[4] a, float[5, 4] x) => (float[4] e, float[4, 5] y)"
    "{ e, y = Scan <num_scan_inputs = 1, scan_output_axes = [1], body = step (float[4] s,"
    " float[4] u) => (float[4] t, float[4] t) { t = Add(s, u) }> (a, x) }":
        "its outputs are put side by side along an inner axis",
    "(float[4] a, float[5, 4] x) => (float[4] e)"
    "{ e = Scan <num_scan_inputs = 1, body = step (float[4] s, float[4] u)"
    " => (float[4] t) { v = Add(s, u) [draw] w = RandomNormalLike(v) t = Mul(v, w) }> (a, x) }":
        "in its body, 'draw' (RandomNormalLike): the operator RandomNormalLike has no tile",
}  # fmt: skip


ODD = (
    (
        "(float[4] a, float[5, 4] x) => (float[4] e) { e = Scan <num_scan_inputs = 7, body = step"
        " (float[4] s, float[4] u) => (float[4] t) { t = Add(s, u) }> (a, x) }"
    ),
    (
        "(float[4] a, float[5, 4] x) => (float[4] e) { e = Scan <num_scan_inputs = 1,"
        " scan_input_axes = [0, 1], body = step (float[4] s, float[4] u) => (float[4] t)"
        " { t = Add(s, u) }> (a, x) }"
    ),
    (
        "(float[4] a, float[5, 4] x) => (float[4] e) { e = Scan <num_scan_inputs = 1, body = step"
        " (float[4] s) => (float[4] t) { t = Sin(s) }> (a, x) }"
    ),
    (
        "(float[4] a) => (float[4] e) { e = Loop <body = turn (int64 i, bool go, float[4] s)"
        " => (bool go, float[4] t) { t = Sin(s) }> (minus, true, a) }"
    ),
)


@pytest.mark.parametrize("text", ODD)
def test_a_node_that_contradicts_its_body_stays_with_who_can_say_so(text: str) -> None:
    left = cover(static(model("odd " + text, KNOWN), {}).graph, repeats=True).left
    assert left


@pytest.mark.parametrize("text", LEFT)
def test_what_has_no_turns_says_why(text: str) -> None:
    left = cover(static(model("left " + text, KNOWN), {}).graph, repeats=True).left
    assert [reason for reason in left.values() if LEFT[text] in reason] == list(left.values())
    assert left


ENDS = {
    "where a turn is the last": "on = Not(go)",
    "by what it computes": "on = Less(i, one)",
}


@pytest.mark.parametrize("end", ENDS)
def test_how_many_slices_a_loop_gives_that_may_end_is_not_known_before(
    end: str, tmp_path: Path
) -> None:
    given = model(
        "early (float[4] a) => (float[4] end, int64[2] sizes) { end, y = Loop <body = turn (int64"
        f" i, bool go, float[4] s) => (bool on, float[4] n, float[4] k) {{ {ENDS[end]} n = Sin(s)"
        " k = Neg(n) }> (five, true, a) sizes = Shape(y) }",
        KNOWN,
    )
    fixed = static(given, {})
    feeds = {"a": np.ones(4, np.float32)}
    with opened(built(fixed), fixed, tmp_path / "f") as loaded:
        found, wanted = loaded.run(feeds), by_onnxruntime(given, feeds)
    assert found["sizes"].tolist() == wanted["sizes"].tolist() != [5, 4]
    np.testing.assert_allclose(found["end"], wanted["end"], rtol=2e-6)
