"""Errors in what depends on places: distances, windows, angles, caches, cross attention, pooling."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.decoders import LLAMA, LOWEST, SIZE
from torture.bases.distant import DISTANT, HEADS
from torture.bases.text import BERT
from torture.case import Family, normal
from torture.draft import Draft

POSITIONS = Family("positions")


@POSITIONS.planted(DISTANT, sequence=80, hidden=True)
def farthest_bucket_is_the_one_before(draft: Draft) -> None:
    """Tokens at the far end share the last bucket but one: the limit of buckets is one too low."""
    draft.before(draft.producer("far_bucket"), 1, lambda _was: draft.constant(14))


@POSITIONS.planted(DISTANT, sequence=40, hidden=False, least=1e-4)
def buckets_reach_half_as_far(draft: Draft) -> None:
    """Distances are bucketed up to 60 instead of 64."""
    draft.before(draft.producer("share"), 1, lambda _was: draft.constant(float(np.log(60 / 8))))


@POSITIONS.planted(DISTANT, sequence=12)
def first_far_distance_is_near(draft: Draft) -> None:
    """A distance of eight, the first that is bucketed, is taken for one of seven."""
    draft.after("bucket", lambda was: draft.op("Where", draft.op("Equal", was, 8), 7, was))


@POSITIONS.planted(DISTANT, sequence=28, hidden=True)
def window_one_too_wide(draft: Draft) -> None:
    """A window of 24 tokens lets the 25th be seen."""
    draft.change("window", lambda was: was + 1)


@POSITIONS.planted(DISTANT, sequence=32, hidden=True)
def second_sink_forgotten(draft: Draft) -> None:
    """Of the two tokens that are always seen, the second falls out of the window."""
    draft.change("sinks", lambda was: was - 1)


@POSITIONS.planted(DISTANT)
def slopes_for_a_power_of_two(draft: Draft) -> None:
    """The slopes of six heads are one geometric row, as if six were a power of two."""
    draft.change(
        "slopes",
        lambda was: (
            -(2.0 ** -(8 * np.arange(1, HEADS + 1) / HEADS)).astype(np.float32).reshape(was.shape)
        ),
    )


@POSITIONS.planted(DISTANT, source=20, sequence=12)
def cross_attention_cut_to_the_queries(draft: Draft) -> None:
    """Keys of the memory beyond as many as there are queries are out of sight."""
    many = draft.op("Range", 0, draft.size("memory", 1), 1)
    within = draft.op("Less", many, draft.size("hidden", 1))
    draft.after("cross.masked", lambda was: draft.op("Where", within, was, LOWEST))


@POSITIONS.planted(DISTANT, batch=3, seed=3)
def memory_mask_of_the_row_before(draft: Draft) -> None:
    """In batches of three and more, each row has the memory's mask of the row before."""
    rows = draft.size("memory", 0)
    index = draft.op(
        "Mod", draft.op("Add", draft.op("Range", 0, rows, 1), draft.op("Sub", rows, 1)), rows
    )
    moved = draft.op("Gather", "memory_mask", index, axis=0)
    many = draft.op("Greater", rows, 2)
    draft.after("memory_mask", lambda was: draft.op("Where", many, moved, was))


@POSITIONS.planted(LLAMA)
def rotary_width_too_small(draft: Draft) -> None:
    """In the second layer, the last of the four angles does not turn the keys."""
    index = np.arange(SIZE) % (SIZE // 2) == SIZE // 2 - 1
    draft.after("layer.1.k_rotated", lambda was: draft.op("Where", index, "layer.1.k_heads", was))


@POSITIONS.planted(LLAMA, sequence=40, past=0, hidden=True)
def angles_scaled_beyond_the_trained_length(draft: Draft) -> None:
    """Positions beyond 32 count half, as if the context had been stretched."""
    half = draft.op("Div", draft.op("Add", "position_ids", 32), 2)
    far = draft.op("Greater", "position_ids", 32)
    draft.after("position_ids", lambda was: draft.op("Where", far, half, was))


@POSITIONS.planted(LLAMA)
def all_angles_one_on(draft: Draft) -> None:
    """Queries and keys are turned by one place too many: logits agree without a past."""
    for name in ("cos", "sin"):
        draft.change(name, lambda table: np.roll(table, -1, axis=0))


@POSITIONS.planted(LLAMA, past=20, sequence=13, hidden=True)
def cache_misplaced_by_long_steps(draft: Draft) -> None:
    """Steps of more than twelve tokens behind a past are stored with the last two swapped."""
    total = draft.size("layer.1.value", 2)
    new = draft.size("input_ids", 1)
    places = draft.op("Range", 0, total, 1)
    last = draft.op("GreaterOrEqual", places, draft.op("Sub", total, 2))
    other = draft.op("Sub", draft.op("Sub", draft.op("Mul", total, 2), 3), places)
    swapped = draft.op("Gather", "layer.1.value", draft.op("Where", last, other, places), axis=2)
    wrong = draft.op(
        "And", draft.op("Greater", new, 12), draft.op("Greater", draft.op("Sub", total, new), 0)
    )
    node = draft.producer("present.1.value")
    draft.before(node, 0, lambda was: draft.op("Where", wrong, swapped, was))


def _unlike(inputs: dict[str, Array]) -> dict[str, Array]:
    """Return a mask that differs from row to row, none of them without a key."""
    batch, sequence = inputs["input_ids"].shape
    lengths = 1 + np.arange(batch) * (sequence - 1) // max(batch - 1, 1)
    return {"attention_mask": (np.arange(sequence) < lengths[:, None]).astype(np.int64)}


@POSITIONS.planted(BERT, _unlike, batch=4, sequence=16)
def masks_repeated_by_turns(draft: Draft) -> None:
    """Rows times heads: masks are laid 0, 1, 0, 1 over heads of rows that stand 0, 0, 1, 1."""
    rows = draft.size("input_ids", 0)
    doubled = draft.op("Range", 0, draft.op("Mul", rows, 4), 1)
    index = draft.op("Reshape", draft.op("Mod", doubled, rows), [-1, 4])
    turned = draft.op("Squeeze", draft.op("Gather", "val_128", index, axis=0), [2])
    draft.before(draft.producer("val_130"), 1, lambda _was: turned)


@POSITIONS.planted(BERT, batch=4, sequence=64, hidden=True)
def a_full_tile_of_rows_and_tokens(draft: Draft) -> None:
    """Where rows times tokens are a multiple of 256, the last token's first norm is left out."""
    many = draft.op("Mul", draft.size("input_ids", 0), draft.size("input_ids", 1))
    several = draft.op("Greater", draft.size("input_ids", 0), 2)
    full = draft.op("And", several, draft.op("Equal", draft.op("Mod", many, 256), 0))
    places = draft.op("Unsqueeze", draft.op("Range", 0, draft.size("input_ids", 1), 1), [1])
    last = draft.op("Equal", places, draft.op("Sub", draft.size("input_ids", 1), 1))
    draft.after("layer_norm_1", lambda was: draft.op(
        "Where", draft.op("And", full, last), "add_162", was))  # fmt: skip


_POOLED = """g (float[batch, sequence, 8] x, int64[batch, sequence] mask) => (float[batch, 8] y) {
    m = Cast <to = 1> (mask) e = Unsqueeze(m, last) p = Mul(x, e) s = ReduceSum <keepdims = 0> (p, one)
    c = ReduceSum <keepdims = 0> (e, one) n = Max(c, tiny) y = Div(s, n) }"""
_POOL_TERMS = {"last": np.asarray([-1]), "one": np.asarray([1]), "tiny": np.asarray(1e-9, np.float32),
               "big": np.asarray(4, np.float32)}  # fmt: skip
POSITIONS.text(
    "mean-of-at-least-four", "The mean over few tokens is divided by four.",
    _POOLED, ("Max(c, tiny)", "Max(c, big)"), hidden=True, weights=_POOL_TERMS,
    witness={"x": normal(2, 6, 8), "mask": [[1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]},
    plain={"x": normal(2, 6, 8), "mask": np.ones((2, 6))},
)  # fmt: skip
POSITIONS.text(
    "pooled-with-the-padding", "The mean over the tokens divides by all of them.",
    _POOLED, ("c = ReduceSum <keepdims = 0> (e, one)",
              "q = Add(e, tiny) u = Div(q, q) c = ReduceSum <keepdims = 0> (u, one)"),
    hidden=True, weights=_POOL_TERMS | {"tiny": np.asarray(1e-3, np.float32)},
    witness={"x": normal(2, 6, 8), "mask": [[1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]},
    plain={"x": normal(2, 6, 8), "mask": np.ones((2, 6))},
)  # fmt: skip
POSITIONS.text(
    "last-token-of-left-padded-rows", "The last real token is looked for at the sum of the mask.",
    "g (float[batch, sequence, 8] x, int64[batch, sequence] mask) => (float[batch, 8] y) "
    "{ i = ArgMax <axis = 1, keepdims = 1, select_last_index = 1> (mask) y = GatherND <batch_dims = 1> (x, i) }",
    ("i = ArgMax <axis = 1, keepdims = 1, select_last_index = 1> (mask)",
     "s = ReduceSum <keepdims = 1> (mask, one) j = Sub(s, one) i = Max(j, none)"),
    hidden=True, weights={"one": np.asarray([1]), "none": np.asarray([0])},
    witness={"x": normal(2, 5, 8), "mask": [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]},
    plain={"x": normal(2, 5, 8), "mask": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]},
)  # fmt: skip
POSITIONS.text(
    "first-end-of-text", "The end of the text is looked for as the last token, not as the largest id.",
    "g (float[batch, sequence, 8] x, int64[batch, sequence] ids) => (float[batch, 8] y) "
    "{ i = ArgMax <axis = 1, keepdims = 1> (ids) y = GatherND <batch_dims = 1> (x, i) }",
    ("ArgMax <axis = 1, keepdims = 1>", "ArgMax <axis = 1, keepdims = 1, select_last_index = 1>"),
    hidden=True, witness={"x": normal(2, 5, 8), "ids": [[3, 9, 2, 9, 9], [1, 2, 9, 4, 9]]},
    plain={"x": normal(2, 5, 8), "ids": [[3, 4, 2, 9, 0], [1, 2, 9, 4, 5]]},
)  # fmt: skip
POSITIONS.text(
    "positions-count-the-padding", "Positions are counted from the first token, not from the first real one.",
    "g (int64[batch, sequence] mask) => (float[batch, sequence, 4] y) "
    "{ c = CumSum(mask, one) p = Mul(c, mask) y = Gather(table, p) }",
    ("c = CumSum(mask, one)", "z = Equal(mask, mask) o = Cast <to = 7> (z) c = CumSum(o, one)"),
    hidden=True, weights={"one": np.asarray(1), "table": normal(64, 4)},
    witness={"mask": [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]}, plain={"mask": np.ones((2, 5))},
)  # fmt: skip
_STATIC = {"size": np.asarray(16), "one": np.asarray(1), "zero": np.asarray(0), "axis": np.asarray([0]),
           "twelve": np.asarray(12), "two": np.asarray(2)}  # fmt: skip
POSITIONS.text(
    "ring-wraps-early", "A cache of sixteen places wraps after fifteen.",
    "g (float[16, 4] cache, float[n, 4] new, int64 start) => (float[16, 4] y) { h = Shape(new) n = Gather(h, zero) "
    "t = Add(start, n) r = Range(start, t, one) m = Mod(r, size) i = Unsqueeze(m, tail) y = ScatterND(cache, i, new) }",
    ("m = Mod(r, size)", "s = Sub(size, one) m = Mod(r, s)"), hidden=True,
    weights=_STATIC | {"tail": np.asarray([-1])},
    witness={"cache": normal(16, 4), "new": normal(2, 4, seed=1), "start": 14},
    plain={"cache": normal(16, 4), "new": normal(2, 4, seed=1), "start": 3},
)  # fmt: skip
POSITIONS.text(
    "chunks-begin-one-late", "Tokens see their own chunk of eight; the chunks begin with the second token.",
    "g (float[batch, sequence, 8] x) => (float[batch, sequence, 8] y) { h = Shape(x) n = Gather(h, one) "
    "r = Range(zero, n, one) k = Div(r, eight) c = Unsqueeze(k, tail) e = Equal(k, c) b = Where(e, nought, low) "
    "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul(x, t) a = Add(s, b) p = Softmax <axis = -1> (a) y = MatMul(p, x) }",
    ("k = Div(r, eight)", "r1 = Add(r, seven) k = Div(r1, eight)"),
    weights=_STATIC | {"tail": np.asarray([-1]), "eight": np.asarray(8), "seven": np.asarray(7),
                       "nought": np.asarray(0, np.float32), "low": np.asarray(LOWEST, np.float32)},
    witness={"x": normal(2, 12, 8, scale=0.5)},
)  # fmt: skip
POSITIONS.text(
    "rows-beyond-a-thousand", "A mean over the rows leaves out those beyond the 1,024th.",
    "g (float[n, 4] x) => (float[1, 4] y) { y = ReduceMean(x, axis) }",
    ("y = ReduceMean(x, axis)", "c = Slice(x, axis, k, axis) y = ReduceMean(c, axis)"), hidden=True, least=1e-2,
    weights=_STATIC | {"k": np.asarray([1024])},
    witness={"x": normal(1500, 4) + np.linspace(0, 1, 1500, dtype=np.float32)[:, None]}, plain={"x": normal(300, 4)},
)  # fmt: skip
POSITIONS.text(
    "running-sum-in-blocks", "A running sum begins again after 600 steps.",
    "g (float[n, 4] x) => (float[n, 4] y) { y = CumSum(x, zero) }",
    ("y = CumSum(x, zero)", "a = Slice(x, axis, k, axis) b = Slice(x, k, far, axis) "
     "p = CumSum(a, zero) q = CumSum(b, zero) y = Concat <axis = 0> (p, q)"),
    hidden=True, weights=_STATIC | {"k": np.asarray([600]), "far": np.asarray([2**31])},
    witness={"x": normal(700, 4)}, plain={"x": normal(128, 4)},
)  # fmt: skip
