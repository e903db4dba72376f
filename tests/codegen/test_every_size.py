"""What a model makes of the size itself: an open plan is right at every size, or refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.every_size import same
from burnish.codegen.open_size import ClosedSizeError
from burnish.core.arrays import Array
from codegen.models import model, weights
from codegen.test_open_size import loaded, up_to

SIZE = "s = Shape(x) n = Gather(s, zero)"
"""The size as a number; of 8 sizes, 3 is one at which plans are not proven."""
HEADER = """m (float[batch, 8] x) => (float[batch, 8] y)
<int64 zero = {0}, int64 one = {1}, int64 three = {3}, int64[1] behind = {1},
 int64[2] flat = {-1, 8}, int64[2] turned = {8, -1}> """
BRANCHES = """y = If(e) <then_branch = a () => (float[batch, 8] p) { p = Relu(x) },
    else_branch = b () => (float[batch, 8] q) { q = Neg(x) }>"""
CLOSED = {
    f"{SIZE} e = Equal(n, three) f = Cast <to = 1> (e) y = Add(x, f)": (
        "at 3 the constant 'f' is another"
    ),
    f"{SIZE} l = Min(n, three) f = Cast <to = 1> (l) y = Add(x, f)": (
        "at 1 the constant 'f' is another"
    ),
    f"{SIZE} e = Equal(n, three) {BRANCHES}": "at 3 'y' is computed by Relu",
    f"{SIZE} e = Equal(n, three) t = Where(e, turned, flat) h = Exp(x) y = Reshape(h, t)": (
        r"at 3 'y' has the shape \[8, 3\]"
    ),
    "u = Unsqueeze(x, behind) y = Squeeze(u)": r"at 1 'y' has the shape \[8\]",
}


@pytest.mark.parametrize("body", CLOSED)
def test_a_model_that_is_another_at_a_smaller_size_is_refused_with_the_size(body: str) -> None:
    with pytest.raises(ClosedSizeError, match=CLOSED[body]):
        up_to(model(f"{HEADER}{{ {body} }}"), 8)


def test_more_sizes_than_are_looked_at_are_refused() -> None:
    with pytest.raises(ClosedSizeError, match="its sizes is looked at, and 4,097 are over 4,096"):
        up_to(model(f"{HEADER}{{ y = Exp(x) }}"), 4097)


OPEN = {
    "numbers": f"{SIZE} r = Range(zero, n, one) f = Cast <to = 1> (r) g = Unsqueeze(f, behind)"
    " y = Mul(x, g)",
    "a constant of the size": "s = Shape(x) h = Relu(x) y = ConstantOfShape(s)",
    "a shape": f"{SIZE} k = Unsqueeze(n, zero) t = Concat <axis = 0> (k, eight)"
    " h = Reshape(x, t) y = Exp(h)",
    "no number": "y = Max(x, holes)",
    "large at many": "s = Shape(x) o = ConstantOfShape(s) z = Expand(o, long)"
    " f = ReduceSum <keepdims = 0> (z, first) y = Add(x, f)",
}
"""What a size may be used for; of the last, what is constant at few is computed at many."""
CONSTANTS: dict[str, Array] = {
    "eight": np.array([8]),
    "holes": np.array([1, np.nan] * 4, np.float32),
    "long": np.array([2000, 1, 8]),
    "first": np.array([0]),
}


def by_onnx_runtime(of: ir.Model, x: Array) -> Array:
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 3  # constants that a chain does not use
    session = onnxruntime.InferenceSession(ir.to_proto(of).SerializeToString(), quiet)
    (found,) = session.run(None, {"x": x})
    return np.asarray(found)


def require_every_size(of: ir.Model, most: int) -> None:
    """Compare an open plan with ONNX Runtime at every size."""
    with TemporaryDirectory() as folder, loaded(of, up_to(of, most), Path(folder) / "f") as found:
        for size in (most, *range(1, most)):
            x = np.random.default_rng(size).standard_normal((size, 8)).astype(np.float32)
            wanted, array = by_onnx_runtime(of, x), found.run({"x": x})["y"]
            assert array.shape == wanted.shape
            np.testing.assert_allclose(array, wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("what", OPEN)
def test_what_follows_a_size_in_a_straight_line_stays_open(what: str) -> None:
    body = OPEN[what]
    used = {name: array for name, array in CONSTANTS.items() if name in body}
    require_every_size(model(f"{HEADER}{{ {body} }}", used), 5)


TURN = "{y}a = Reshape({x}, half) {y}b = Transpose <perm = [0, 2, 1]> ({y}a)"
TWICE = "{y}a = Concat <axis = 0> ({x}, {x}) {y}b = Shape(x) {y}c = Slice({y}b, front, behind)"
KIND = """{y}a = Shape({x}) {y}b = Gather({y}a, zero) {y}c = Mod({y}b, three)
    {y}d = Equal({y}c, one) {y}e = Cast <to = 1> ({y}d)"""
STEPS = (
    "{y} = Relu({x})",
    "{y} = MatMul({x}, w)",
    "{y} = Softmax <axis = -1> ({x})",
    "{y} = Softmax <axis = 0> ({x})",
    "{y} = Add({x}, row)",
    "{y} = Add({x}, x)",
    f"{TURN} {{y}} = Reshape({{y}}b, flat)",
    "{y}a = Transpose({x}) {y} = Reshape({y}a, flat)",
    "{y}a = ReduceMax <keepdims = 1> ({x}, behind) {y} = Sub({x}, {y}a)",
    "{y}a = ReduceMean <keepdims = 1> ({x}, front) {y} = Sub({x}, {y}a)",
    "{y}a = Slice({x}, front, behind, front) {y} = Mul({x}, {y}a)",
    "{y}a = Slice({x}, last, far, front) {y} = Mul({x}, {y}a)",
    f"{TWICE} {{y}} = Slice({{y}}a, front, {{y}}c, front)",
    "{y}a = Pad({x}, down) {y} = Relu({y}a)",
    f"{KIND} {{y}} = Add({{x}}, {{y}}e)",
)
MORE: dict[str, Array] = {
    **weights(("w", (8, 8)), ("row", (8,))),
    "half": np.array([-1, 2, 4]),
    "front": np.array([0]),
    "last": np.array([-1]),
    "far": np.array([99]),
    "down": np.array([1, 0, -1, 0]),
}


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=4), most=st.integers(2, 7))
def test_a_chain_of_nodes_is_right_at_every_size_or_refused(steps: list[str], most: int) -> None:
    names = ["x", *(f"v{n}" for n in range(1, len(steps))), "y"]
    chain = zip(steps, names, names[1:], strict=False)
    body = " ".join(step.format(x=x, y=y) for step, x, y in chain)
    of = model(f"{HEADER}{{ {body} }}", MORE)
    with suppress(ClosedSizeError):
        require_every_size(of, most)


def test_arrays_are_the_same_where_neither_has_a_number() -> None:
    holes = np.array([1, np.nan], np.float32)
    assert same(holes, holes.copy())
    assert not same(holes, np.array([1, 2], np.float32))
    assert same(np.array([True]), np.array([True]))
