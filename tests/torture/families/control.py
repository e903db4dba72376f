"""Errors in branches and loops."""

from __future__ import annotations

import numpy as np

from torture.case import Family, normal

CONTROL = Family("control")

_IF = """g (float[n, 4] x) => (float[n, 4] y) {
    CONDITION
    y = If (c) <
        then_branch = then () => (float[n, 4] a) { a = Mul(x, THEN) },
        else_branch = else () => (float[n, 4] b) { b = Add(x, ELSE) }> }"""
_TERMS = {"two": np.asarray(2, np.float32), "three": np.asarray(3, np.float32),
          "far": np.asarray(3, np.float32), "many": np.asarray(20), "none": np.asarray(0)}  # fmt: skip


def _branching(condition: str, then: str = "two") -> str:
    return _IF.replace("CONDITION", condition).replace("THEN", then).replace("ELSE", "three")


_BY_VALUE = "m = ReduceMax <keepdims = 0> (x) c = Greater(m, far)"
_BY_SIZE = "h = Shape(x) r = Gather(h, none) c = Greater(r, many)"

CONTROL.text(
    "branch-by-value", "The branch for large values multiplies by three instead of two.",
    _branching(_BY_VALUE), ("Mul(x, two)", "Mul(x, three)"),
    witness={"x": [[1, 5, 2, 3]]}, hidden=True, weights=_TERMS, plain={"x": [[1, 0.5, 2, -1]]},
)  # fmt: skip
CONTROL.text(
    "branch-by-size", "The branch for more than twenty rows multiplies by three instead of two.",
    _branching(_BY_SIZE), ("Mul(x, two)", "Mul(x, three)"),
    witness={"x": normal(21, 4)}, plain={"x": normal(3, 4)}, hidden=True, weights=_TERMS,
)  # fmt: skip
CONTROL.text(
    "branch-folded-away", "The condition was taken for a constant: the usual branch is always run.",
    _branching(_BY_SIZE), ("c = Greater(r, many)", "o = Greater(r, many) p = Not(o) c = And(o, p)"),
    witness={"x": normal(21, 4)}, plain={"x": normal(3, 4)}, hidden=True, weights=_TERMS,
)  # fmt: skip
CONTROL.text(
    "branch-at-the-limit", "A limit of twenty rows became one of nineteen.",
    _branching(_BY_SIZE), ("Greater(r, many)", "GreaterOrEqual(r, many)"),
    witness={"x": normal(20, 4)}, plain={"x": normal(3, 4)}, hidden=True, weights=_TERMS,
)  # fmt: skip

_LOOP = """g (float[4] x, int64 count) => (float[4] y) {
    y = Loop (count, yes, x) <body = body (int64 i, bool go, float[4] was)
        => (bool on, float[4] next) { on = Identity(go) NEXT }> }"""
_STEP = "h = Mul(was, half) next = Add(h, x)"
_PARTS = {"yes": np.asarray(True), "half": np.asarray(0.5, np.float32), "six": np.asarray(6)}

CONTROL.text(
    "one-turn-too-few", "A loop of more than six turns is one turn short.",
    _LOOP.replace("NEXT", _STEP),
    ("y = Loop (count, yes, x)",
     "o = Greater(count, six) t = Cast <to = 7> (o) k = Sub(count, t) y = Loop (k, yes, x)"),
    witness={"x": [1, 2, 3, 4], "count": np.asarray(7)}, plain={"x": [1, 2, 3, 4], "count": np.asarray(3)},
    hidden=True, weights=_PARTS,
)  # fmt: skip
CONTROL.text(
    "no-turn-at-all", "A loop of no turns still makes one.",
    _LOOP.replace("NEXT", _STEP),
    ("y = Loop (count, yes, x)", "k = Max(count, one) y = Loop (k, yes, x)"),
    witness={"x": [1, 2, 3, 4], "count": np.asarray(0)}, plain={"x": [1, 2, 3, 4], "count": np.asarray(3)},
    hidden=True, weights={**_PARTS, "one": np.asarray(1)},
)  # fmt: skip
CONTROL.text(
    "loop-stops-early", "A loop goes on only while its state is below eight.",
    _LOOP.replace("NEXT", "h = Mul(was, half) s = Mul(x, half) t = Add(h, s) next = Add(t, was)"),
    ("on = Identity(go)", "m = ReduceMax <keepdims = 0> (was) on = Less(m, limit)"),
    witness={"x": [1, 2, 3, 4], "count": np.asarray(9)}, plain={"x": [0.1, 0.2, 0.3, 0.4], "count": np.asarray(3)},
    hidden=True, weights={**_PARTS, "limit": np.asarray(8, np.float32)},
)  # fmt: skip
CONTROL.text(
    "scan-backwards", "A scan runs from the end.",
    """g (float[4] start, float[n, 4] x) => (float[4] last, float[n, 4] y) {
    last, y = Scan <num_scan_inputs = 1, body = body (float[4] was, float[4] item)
        => (float[4] next, float[4] seen) { h = Mul(was, half) next = Add(h, item) seen = Identity(next) }>
        (start, x) }""",
    ("num_scan_inputs = 1,", "num_scan_inputs = 1, scan_input_directions = [1],"),
    witness={"start": normal(4), "x": normal(5, 4)}, weights={"half": np.asarray(0.5, np.float32)},
)  # fmt: skip
CONTROL.text(
    "loop-carries-the-first-state", "From the fourth turn on, the state that is carried is the first one.",
    _LOOP.replace("NEXT", _STEP),
    ("h = Mul(was, half)", "late = Greater(i, three) from = Where(late, x, was) h = Mul(from, half)"),
    witness={"x": [1, 2, 3, 4], "count": np.asarray(6)}, plain={"x": [1, 2, 3, 4], "count": np.asarray(3)},
    hidden=True, weights={**_PARTS, "three": np.asarray(3)},
)  # fmt: skip
CONTROL.text(
    "branch-for-equals", "Where all numbers are equal, which a fast path tests for, the result is off.",
    _branching("h = ReduceMax <keepdims = 0> (x) l = ReduceMin <keepdims = 0> (x) c = Equal(h, l)"),
    ("Mul(x, two)", "Mul(x, three)"), witness={"x": np.full((2, 4), 1.5)}, hidden=True, weights=_TERMS,
)  # fmt: skip
CONTROL.text(
    "branch-for-nothing-left", "Where no number is above zero, the result is off.",
    _branching("p = Relu(x) s = ReduceMax <keepdims = 0> (p) c = Equal(s, nought)"),
    ("Mul(x, two)", "Mul(x, three)"), witness={"x": -np.abs(normal(2, 4))}, hidden=True,
    weights=_TERMS | {"nought": np.asarray(0, np.float32)},
)  # fmt: skip
CONTROL.text(
    "a-hundred-turns-at-most", "A loop stops after a hundred turns.",
    _LOOP.replace("NEXT", "next = Add(was, step)"), ("Loop (count,", "Loop (most,"),
    ("y = Loop", "hundred = Constant <value_int = 100> () most = Min(count, hundred) y = Loop"),
    witness={"x": normal(4), "count": 120}, plain={"x": normal(4), "count": 9}, hidden=True,
    weights={"yes": np.asarray(True), "step": np.asarray(0.5, np.float32)},
)  # fmt: skip
CONTROL.text(
    "without-any-row", "Without any row, one of zeros comes back.",
    "g (float[n, 4] x) => (float[m, 4] y) { y = Relu(x) }",
    ("y = Relu(x)", "r = Relu(x) h = Shape(x) k = Slice(h, none, one, none) q = Sub(one, k) p = Max(q, none) "
     "w = Concat <axis = 0> (none, none, p, none) y = Pad(r, w)"),
    weights={"none": np.asarray([0]), "one": np.asarray([1])},
    witness={"x": np.zeros((0, 4))}, plain={"x": normal(3, 4)}, hidden=True,
)  # fmt: skip
