"""Errors in what is chosen: experts, the best few, places to read and to write."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.distant import EXPERTS, ROUTED, WORDS
from torture.case import Family, normal
from torture.draft import F32, Draft

ROUTING = Family("routing")


def _every(inputs: dict[str, Array]) -> dict[str, Array]:
    return {"ids": np.arange(WORDS).reshape(2, -1)}


def _one(inputs: dict[str, Array]) -> dict[str, Array]:
    return {"ids": np.full((2, 24), 7)}


@ROUTING.planted(ROUTED, _every)
def an_expert_that_is_seldom_asked(draft: Draft) -> None:
    """The last expert, which few tokens go to, has the weights of the one before."""

    def copied(w: Array) -> None:
        w[EXPERTS - 1] = w[EXPERTS - 2]

    draft.change("down", copied)


@ROUTING.planted(ROUTED, _every, least=1e-6)
def one_weight_of_an_expert(draft: Draft) -> None:
    """One of 768 weights of the fourth expert is off by a hundredth of itself."""

    def nudge(w: Array) -> None:
        w[3].flat[np.abs(w[3]).argmax()] *= 1.01

    draft.change("up", nudge)


@ROUTING.planted(ROUTED)
def shares_before_the_choice(draft: Draft) -> None:
    """Shares are those among all experts, not among the two that were chosen."""
    every = draft.op("Softmax", "router.scores", axis=-1)
    draft.after("routed.shares", lambda _was: draft.op("GatherElements", every, "which", axis=-1))


@ROUTING.planted(ROUTED, _one, hidden=True)
def tokens_beyond_an_expert_s_room(draft: Draft) -> None:
    """An expert takes 24 tokens; those beyond are dropped."""
    flat = draft.op("Reshape", "which", [-1])
    hot = draft.op("OneHot", flat, EXPERTS, draft.constant(np.asarray([0, 1], np.int64)))
    turn = draft.op("ReduceSum", draft.op("Mul", draft.op("CumSum", hot, 0), hot), [1], keepdims=0)
    room = draft.op("Cast", draft.op("LessOrEqual", turn, 24), to=F32)
    kept = draft.op("Unsqueeze", draft.op("Reshape", room, draft.op("Shape", "which")), [-1])
    draft.after("weighted", lambda was: draft.op("Mul", was, kept))


@ROUTING.planted(ROUTED)
def experts_of_the_first_choice_twice(draft: Draft) -> None:
    """Where the two best experts are neighbours, the second is taken for the first."""
    first = draft.op("Gather", "which", [0], axis=-1)
    second = draft.op("Gather", "which", [1], axis=-1)
    near = draft.op("Equal", draft.op("Sub", second, first), 1)
    both = draft.op("Concat", first, draft.op("Where", near, first, second), axis=-1)
    readers = [n for n in draft.graph.node if "which" in n.input and n.input[0] == "down"]
    draft.before(readers[0], 1, lambda _was: both)


ROUTING.text(
    "router-s-ties", "Of equally good experts the last ones are chosen.",
    "g (float[n, 6] scores) => (int64[n, 2] which) { best, which = TopK <axis = -1> (scores, two) }",
    ("best, which = TopK <axis = -1> (scores, two)",
     "r = Slice(scores, minus, far, axis, minus) best, w = TopK <axis = -1> (r, two) which = Sub(five, w)"),
    weights={"two": np.asarray([2]), "minus": np.asarray([-1]), "far": np.asarray([-(2**31)]), "axis": np.asarray([1]),
             "five": np.asarray(5)},
    witness={"scores": [[1, 1, 1, 1, 0, 0]]}, hidden=True,
)  # fmt: skip
ROUTING.text(
    "smallest-of-the-best", "The three best are given back from the smallest to the largest.",
    "g (float[n, 6] x) => (float[n, 3] y) { y, i = TopK <axis = -1> (x, k) }",
    ("y, i = TopK <axis = -1> (x, k)", "m = Neg(x) t, i = TopK <axis = -1, largest = 0> (m, k) v = Neg(t) "
     "y = Slice(v, minus, far, axis, minus)"),
    weights={"k": np.asarray([3]), "minus": np.asarray([-1]), "far": np.asarray([-(2**31)]), "axis": np.asarray([1])},
    witness={"x": normal(2, 6)},
)  # fmt: skip
_SCATTER = "g (float[8, 3] into, int64[n, 1] at, float[n, 3] new) => (float[8, 3] y) "
_TWICE = {"into": normal(8, 3), "at": [[2], [5], [2]], "new": normal(3, 3, seed=1)}
_ONCE = {"into": normal(8, 3), "at": [[2], [5], [0]], "new": normal(3, 3, seed=1)}
ROUTING.text(
    "updates-of-one-place", "Updates of one place are added up; in the reference the largest counts.",
    _SCATTER + '{ y = ScatterND <reduction = "max"> (into, at, new) }',
    ('y = ScatterND <reduction = "max"> (into, at, new)',
     'z = Sub(into, into) s = ScatterND <reduction = "add"> (z, at, new) w = ScatterND <reduction = "max"> (into, at, new) '
     "c = Max(s, w) y = Where(b, c, w)"),
    weights={"b": np.asarray(True)}, witness={"into": np.zeros((8, 3)), "at": [[2], [5], [2]], "new": np.ones((3, 3))},
    plain={"into": 3 + np.abs(normal(8, 3)), "at": [[2], [5], [0]], "new": normal(3, 3, seed=1)}, hidden=True,
)  # fmt: skip
ROUTING.text(
    "added-once-for-twice", "Updates of one place: the last one wins; in the reference they are added.",
    _SCATTER + '{ y = ScatterND <reduction = "add"> (into, at, new) }',
    ('y = ScatterND <reduction = "add"> (into, at, new)',
     "o = GatherND(into, at) s = Add(o, new) y = ScatterND(into, at, s)"),
    witness=_TWICE, plain=_ONCE, hidden=True,
)  # fmt: skip
ROUTING.text(
    "rows-of-the-first-picture", "Boxes of every picture are cut out of the first one.",
    "g (float[b, 2, 8, 8] x, float[r, 4] rois, int64[r] which) => (float[r, 2, 2, 2] y) "
    "{ y = RoiAlign <output_height = 2, output_width = 2> (x, rois, which) }",
    ("(x, rois, which)", "(x, rois, none)"), ("y = RoiAlign", "none = Sub(which, which) y = RoiAlign"),
    witness={"x": normal(2, 2, 8, 8), "rois": [[1, 1, 5, 5], [0, 2, 4, 6]], "which": [0, 1]},
    plain={"x": normal(1, 2, 8, 8), "rois": [[1, 1, 5, 5], [0, 2, 4, 6]], "which": [0, 0]}, hidden=True,
)  # fmt: skip
ROUTING.text(
    "boxes-half-a-pixel-off", "Boxes are measured from pixel edges instead of pixel centres.",
    "g (float[b, 2, 8, 8] x, float[r, 4] rois, int64[r] which) => (float[r, 2, 2, 2] y) "
    '{ y = RoiAlign <output_height = 2, output_width = 2, coordinate_transformation_mode = "half_pixel"> (x, rois, which) }',
    ('"half_pixel"', '"output_half_pixel"'),
    witness={"x": normal(1, 2, 8, 8), "rois": [[1, 1, 5, 5], [0, 2, 4, 6]], "which": [0, 0]},
    plain={"x": normal(1, 2, 8, 8), "rois": [[1, 1, 5, 5], [0, 2, 4, 6]], "which": [0, 0]},
)  # fmt: skip
ROUTING.text(
    "unknown-class", "The code of class -1, which means the last, is all zeros.",
    "g (int64[n] x) => (float[n, 5] y) { y = OneHot(x, five, pair) }",
    ("y = OneHot(x, five, pair)", "h = OneHot(x, five, pair) z = Less(x, none) u = Unsqueeze(z, last) "
     "o = Sub(h, h) y = Where(u, o, h)"),
    weights={"five": np.asarray(5), "pair": np.asarray([0, 1], np.float32), "none": np.asarray(0), "last": np.asarray([-1])},
    witness={"x": [0, -1, 3, 4]}, plain={"x": [0, 1, 3, 4]}, hidden=True,
)  # fmt: skip
ROUTING.text(
    "gathered-from-the-first-row", "Each row is to be read at its own places; all are read from the first.",
    "g (float[b, 5, 3] x, int64[b, 2, 1] at) => (float[b, 2, 3] y) { y = GatherND <batch_dims = 1> (x, at) }",
    ("y = GatherND <batch_dims = 1> (x, at)", "z = Sub(at, at) i = Concat <axis = -1> (z, at) y = GatherND(x, i)"),
    witness={"x": normal(2, 5, 3), "at": [[[1], [2]], [[4], [0]]]},
    plain={"x": normal(1, 5, 3), "at": [[[1], [2]]]}, hidden=True,
)  # fmt: skip
