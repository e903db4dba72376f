"""Errors in what comes behind a network: thresholds, ties, the best few, indices; and an LSTM's."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.found import DETECTOR, HIDDEN, LSTM
from torture.case import Family, normal
from torture.draft import I64, Draft

DETECTION = Family("detection")


@DETECTION.planted(DETECTOR, lambda i: {"scores": np.where(np.arange(24)[:, None] < 3, 0.0, -4.0)
                   .astype(np.float32) * np.ones_like(i["scores"])}, hidden=True)  # fmt: skip
def threshold_not_met_by_equals(draft: Draft) -> None:
    """A score of exactly one half is kept."""
    node = draft.producer("sure")
    draft.replace(node, "GreaterOrEqual", *node.input)


@DETECTION.planted(DETECTOR, lambda i: {"scores": np.ones_like(i["scores"])})
def labels_of_equals(draft: Draft) -> None:
    """Of equally likely classes the last is named."""
    draft.set(draft.producer("label"), select_last_index=1)


@DETECTION.planted(DETECTOR, lambda i: {"scores": np.round(i["scores"])}, hidden=True)
def order_of_equals(draft: Draft) -> None:
    """Of equally good boxes the later one comes first."""
    node = draft.producer("top")
    size = draft.size("scores", 0)
    nudge = draft.op("Mul", draft.op("Cast", draft.op("Range", 0, size, 1), to=1), 1e-9)
    late = draft.op("Add", draft.op("Cast", node.input[0], to=11), draft.op("Cast", nudge, to=11))
    _, order = draft.ops("TopK", late, node.input[1], out=2, axis=0)
    top = draft.op("Gather", node.input[0], order)
    draft.drop(node)
    draft.op("Identity", top, out="top")
    draft.op("Identity", order, out="order")


@DETECTION.planted(DETECTOR)
def one_too_few(draft: Draft) -> None:
    """The best ten are the best nine, the last of them twice."""
    order = draft.op("Gather", "order", [0, 1, 2, 3, 4, 5, 6, 7, 8, 8])
    draft.before(next(n for n in draft.graph.node if n.op_type == "Gather" and n.input[0] == "label"),
                 1, lambda _was: order)  # fmt: skip


@DETECTION.planted(DETECTOR, boxes=6, hidden=True)
def fewer_than_ten(draft: Draft) -> None:
    """With fewer than ten boxes, their order is the one they came in."""
    few = draft.op("Less", draft.size("scores", 0), 10)
    plain = draft.op("Range", 0, draft.op("Squeeze", "few"), 1)
    draft.after("order", lambda was: draft.op("Where", few, plain, was))


@DETECTION.planted(DETECTOR, lambda i: {"deltas": np.where(np.arange(4) < 2, i["deltas"], 5.0)
                   .astype(np.float32)}, hidden=True)  # fmt: skip
def growth_not_clipped(draft: Draft) -> None:
    """The growth of a box is not clipped at the logarithm of 1000 / 16."""
    draft.bypass(draft.producer("clipped"))


@DETECTION.planted(DETECTOR, boxes=60)
def overlap_allowed(draft: Draft) -> None:
    """Boxes may overlap by 0.6 instead of 0.45."""
    draft.before(draft.find("NonMaxSuppression"), 3,
                 lambda _was: draft.constant(np.asarray([0.6], np.float32)))  # fmt: skip


@DETECTION.planted(DETECTOR)
def boxes_by_centre(draft: Draft) -> None:
    """Corners are taken for centres when overlaps are measured."""
    draft.set(draft.find("NonMaxSuppression"), center_point_box=1)


@DETECTION.planted(DETECTOR, lambda i: {"scores": i["scores"] - np.float32(20)}, hidden=True)
def nothing_found(draft: Draft) -> None:
    """Where nothing is sure enough, the first box is kept anyway."""
    any_kept = draft.op("Greater", draft.op("Size", "kept_inner"), 0)
    start = draft.op("Where", any_kept, np.asarray([9999]), np.asarray([0]))
    draft.after("kept_inner", lambda was: draft.op(
        "Concat", was, draft.op("Slice", np.asarray([0]), start, [9999]), axis=0))  # fmt: skip


DETECTION.text(
    "best-of-the-first-64", "The best few are looked for among the first 64 only.",
    "g (float[sequence] x) => (float[3] y, int64[3] i) { k = Constant <value_ints = [3]> () y, i = TopK(x, k) }",
    ("y, i = TopK(x, k)", "c = Slice(x, zero, limit) y, i = TopK(c, k)"),
    witness={"x": np.arange(70, dtype=np.float32)}, plain={"x": normal(20)}, hidden=True,
    weights={"zero": np.asarray([0]), "limit": np.asarray([64])},
)  # fmt: skip
DETECTION.text(
    "indices-by-column", "Places of what is not zero are listed column by column.",
    "g (float[n, 3] x) => (int64[k, 2] y) { z = NonZero(x) y = Transpose <perm = [1, 0]> (z) }",
    ("z = NonZero(x)", "t = Transpose <perm = [1, 0]> (x) r = NonZero(t) z = Gather(r, flip)"),
    witness={"x": [[1, 0, 1], [0, 1, 1]]}, plain={"x": [[1, 1, 1]]}, hidden=True,
    weights={"flip": np.asarray([1, 0])},
)  # fmt: skip
DETECTION.text(
    "best-per-class-by-another-axis", "In a square of scores, the best is taken over boxes, not classes.",
    "g (float[n, n] x) => (int64[n] y) { y = ArgMax <axis = 1, keepdims = 0> (x) }",
    ("axis = 1", "axis = 0"), witness={"x": normal(5, 5)},
)  # fmt: skip

RECURRENT = Family("recurrent")


def _short(inputs: dict[str, Array]) -> dict[str, Array]:
    lengths = inputs["lengths"].copy()
    lengths[0] = 4
    return {"lengths": lengths}


@RECURRENT.planted(LSTM, _short, hidden=True)
def lengths_ignored(draft: Draft) -> None:
    """Every row is taken to be as long as the longest."""
    draft.before(draft.find("LSTM"), 4, lambda _was: "")


@RECURRENT.planted(LSTM)
def initial_state_dropped(draft: Draft) -> None:
    """The state starts at zero, whatever is fed."""
    draft.before(draft.find("LSTM"), 5, lambda _was: "")


@RECURRENT.planted(LSTM)
def gates_in_the_order_of_another_framework(draft: Draft) -> None:
    """The gates stand in the order i, f, c, o instead of i, o, f, c."""

    def reorder(w: Array) -> Array:
        parts = np.split(w, w.shape[1] // HIDDEN, axis=1)
        rows = [parts[0 + 4 * k + g] for k in range(len(parts) // 4) for g in (0, 2, 3, 1)]
        return np.concatenate(rows, axis=1)

    for name in ("W", "R", "B"):
        draft.change(name, reorder)


@RECURRENT.planted(LSTM)
def both_directions_alike(draft: Draft) -> None:
    """Both directions have the weights of the first."""
    for name in ("W", "R", "B"):
        draft.change(name, lambda w: np.concatenate([w[:1], w[:1]]))


@RECURRENT.planted(LSTM, lambda i: {"frames": i["frames"] * np.float32(8)}, hidden=True)
def gates_clipped(draft: Draft) -> None:
    """What goes into the gates is clipped at ±8."""
    draft.set(draft.find("LSTM"), clip=8.0)


@RECURRENT.planted(LSTM, sequence=21, hidden=True)
def last_state_of_a_long_row(draft: Draft) -> None:
    """After more than twenty frames, the last state is that of the frame before."""
    long = draft.op("Greater", draft.size("frames", 0), 20)
    before = draft.op("Gather", "every", -2, axis=0)
    draft.after("last_inner", lambda was: draft.op("Where", long, before, was))


@RECURRENT.planted(LSTM, _short)
def cell_for_state(draft: Draft) -> None:
    """The cell is given back in place of the state."""
    draft.before(draft.producer("last"), 0, lambda _was: "cell_inner")


RECURRENT.text(
    "reset-before-the-product", "A GRU applies its reset gate before the product, not behind it.",
    "g (float[sequence, batch, 4] x) => (float[sequence, 1, batch, 4] y) "
    "{ y = GRU <hidden_size = 4, linear_before_reset = 1> (x, w, r, bias) }",
    ("linear_before_reset = 1", "linear_before_reset = 0"),
    witness={"x": normal(5, 2, 4)},
    weights={"w": normal(1, 12, 4), "r": normal(1, 12, 4, seed=1), "bias": normal(1, 24, seed=2)},
)  # fmt: skip
RECURRENT.text(
    "backwards", "A reversed LSTM runs forwards.",
    'g (float[sequence, batch, 4] x) => (float[sequence, 1, batch, 4] y) { y = LSTM <hidden_size = 4, direction = "reverse"> (x, w, r) }',
    ('"reverse"', '"forward"'), witness={"x": normal(5, 2, 4)},
    weights={"w": normal(1, 16, 4), "r": normal(1, 16, 4, seed=1)},
)  # fmt: skip


@RECURRENT.planted(LSTM)
def second_direction_starts_like_the_first(draft: Draft) -> None:
    """The second direction starts from the state of the first."""
    draft.after("initial", lambda was: draft.op("Gather", was, [0, 0], axis=0))


@RECURRENT.planted(LSTM, _short, hidden=True)
def padding_is_read_backwards(draft: Draft) -> None:
    """The second direction begins behind the padding of a short row."""
    node = draft.find("LSTM")
    every, *_ = draft.ops("LSTM", *node.input[:4], "", node.input[5], out=3, hidden_size=HIDDEN,
                          direction="bidirectional")  # fmt: skip
    steps = draft.op("Unsqueeze", draft.op("Range", 0, draft.size("frames", 0), 1), [1, 2, 3])
    lengths = draft.op("Unsqueeze", draft.op("Cast", "lengths", to=I64), [0, 1, 3])
    real = draft.op("Less", steps, lengths)
    second = draft.constant(np.asarray([False, True]).reshape(1, 2, 1, 1))
    wrong = draft.op("And", real, second)
    draft.after("every", lambda was: draft.op("Where", wrong, every, was))


_CELLS = {"w": normal(1, 16, 4), "r": normal(1, 16, 4, seed=1), "b": normal(1, 32, seed=2),
          "p": normal(1, 12, seed=3)}  # fmt: skip
RECURRENT.text(
    "peepholes-forgotten", "The gates no longer see the cell.",
    "g (float[sequence, batch, 4] x) => (float[sequence, 1, batch, 4] y) "
    "{ y = LSTM <hidden_size = 4> (x, w, r, b, , , , p) }",
    ("b, , , , p)", "b)"), witness={"x": normal(5, 2, 4)}, weights=_CELLS,
)  # fmt: skip
RECURRENT.text(
    "first-cell-dropped", "The cell starts at zero, whatever is fed; the state does not.",
    "g (float[sequence, batch, 4] x, float[1, batch, 4] h, float[1, batch, 4] c) => (float[sequence, 1, batch, 4] y) "
    "{ y = LSTM <hidden_size = 4> (x, w, r, b, , h, c) }",
    (", h, c)", ", h)"), witness={"x": normal(5, 2, 4), "h": normal(1, 2, 4), "c": normal(1, 2, 4, seed=4)}, weights=_CELLS,
)  # fmt: skip
RECURRENT.text(
    "another-activation-backwards", "The second direction of a plain recurrent layer has a ReLU instead of tanh.",
    "g (float[sequence, batch, 4] x) => (float[sequence, 2, batch, 4] y) "
    '{ y = RNN <hidden_size = 4, direction = "bidirectional", activations = ["Tanh", "Tanh"]> (x, w, r) }',
    ('"Tanh", "Tanh"', '"Tanh", "Relu"'), witness={"x": normal(5, 2, 4)},
    weights={"w": normal(2, 4, 4, scale=0.3), "r": normal(2, 4, 4, seed=1, scale=0.3)},
)  # fmt: skip
