"""Errors in what is given back: order, type, one corner of it; and layers left in training."""

from __future__ import annotations

import numpy as np

from torture.bases.decoders import GPT2, LLAMA
from torture.bases.text import BERT
from torture.bases.vision import CONV, VIT
from torture.case import Family, normal
from torture.draft import F64, Draft

OUTPUTS = Family("outputs")


@OUTPUTS.planted(GPT2)
def keys_and_values_swapped(draft: Draft) -> None:
    """Keys are given back as values, and values as keys: their shapes agree."""
    key, value = draft.producer("present.1.key"), draft.producer("present.1.value")
    key.input[0], value.input[0] = value.input[0], key.input[0]


@OUTPUTS.planted(GPT2)
def layers_in_another_order(draft: Draft) -> None:
    """Outputs of equal shape stand in another order: callers that read by place get the wrong one."""
    outputs = [*draft.graph.output]
    outputs[1], outputs[3] = outputs[3], outputs[1]
    del draft.graph.output[:]
    draft.graph.output.extend(outputs)


@OUTPUTS.planted(BERT, sequence=16)
def another_type(draft: Draft) -> None:
    """The logits are given back in double precision."""
    draft.after("logits", lambda was: draft.op("Cast", was, to=F64))
    draft.graph.output[0].type.tensor_type.elem_type = F64


@OUTPUTS.planted(LLAMA)
def only_the_second_output(draft: Draft) -> None:
    """The logits are right; the keys of the first layer are too large by 2 %."""
    draft.before(draft.producer("present.0.key"), 0, lambda was: draft.op("Mul", was, 1.02))


@OUTPUTS.planted(BERT, sequence=128, least=1e-2)
def only_the_last_row(draft: Draft) -> None:
    """The last of 128 tokens is off by a tenth."""
    size = draft.size("input_ids", 1)
    late = draft.op("Equal", draft.op("Range", 0, size, 1), 127)
    draft.after("logits", lambda was: draft.op(
        "Where", draft.op("Unsqueeze", late, [1]), draft.op("Mul", was, 1.1), was))  # fmt: skip


@OUTPUTS.planted(LLAMA, least=1e-2)
def only_the_last_column(draft: Draft) -> None:
    """The last of 131 words is off by a twentieth: a tail of three behind 128."""
    last = np.asarray([1.0] * 130 + [1.05], np.float32)
    draft.after("logits", lambda was: draft.op("Mul", was, last))


@OUTPUTS.planted(BERT, sequence=16, least=1e-2)
def compensating_in_the_mean(draft: Draft) -> None:
    """Every second class is too high by 0.02, the others too low by as much, so means agree."""
    wave = np.asarray([0.02, -0.02] * 4 + [0.0], np.float32)
    draft.after("logits", lambda was: draft.op("Add", was, wave))


@OUTPUTS.planted(BERT, sequence=16, least=1e-4)
def below_a_tolerance(draft: Draft) -> None:
    """Logits too large by 3 in 10,000: far more than rounding, far less than a tolerance."""
    draft.after("logits", lambda was: draft.op("Mul", was, 1.0003))


@OUTPUTS.planted(VIT, least=2e-5)
def far_below_a_tolerance(draft: Draft) -> None:
    """Logits too large by 5 in 100,000."""
    draft.after("logits", lambda was: draft.op("Mul", was, 1.00005))


@OUTPUTS.planted(CONV)
def classes_mirrored(draft: Draft) -> None:
    """Logits that are mirrored: class 9 first."""
    draft.after("logits", lambda was: draft.op("Gather", was, [*range(9, -1, -1)], axis=1))


@OUTPUTS.planted(VIT)
def norm_left_out_of_the_second_output(draft: Draft) -> None:
    """The hidden states are given back before their norm."""
    raw = draft.producer("final.out").input[0]
    draft.before(draft.producer("last_hidden_state"), 0, lambda _was: raw)


TINY = "g (float[n, 6] x) => (float[n, 6] y) { y = Mul(x, k) }"

OUTPUTS.text(
    "tiny-against-zero", "Outputs around 1e-9 became zeros.",
    TINY, ("y = Mul(x, k)", "y = Mul(x, zero)"), witness={"x": normal(2, 6)},
    weights={"k": np.asarray(1e-9, np.float32), "zero": np.asarray(0, np.float32)},
)  # fmt: skip
OUTPUTS.text(
    "tiny-off-by-a-third", "Outputs around 1e-9 are off by a third.",
    TINY, ("y = Mul(x, k)", "y = Mul(x, l)"), witness={"x": normal(2, 6)},
    weights={"k": np.asarray(1e-9, np.float32), "l": np.asarray(1.33e-9, np.float32)},
)  # fmt: skip
OUTPUTS.text(
    "small-column-beside-a-large-one", "A column of thousandths beside one of millions is off by half.",
    "g (float[n, 2] x) => (float[n, 2] y) { y = Mul(x, k) }",
    ("y = Mul(x, k)", "y = Mul(x, l)"), witness={"x": [[1, 1], [2, 3]]}, least=1e-10,
    weights={"k": np.asarray([1e6, 1e-3], np.float32), "l": np.asarray([1e6, 1.5e-3], np.float32)},
)  # fmt: skip
OUTPUTS.text(
    "small-rows-beside-large-ones", "Rows that are a million times smaller than others are zeroed.",
    "g (float[n, 4] x) => (float[n, 4] y) { y = Tanh(x) }",
    ("y = Tanh(x)", "t = Constant <value_float = 1e-5> () m = Abs(x) keep = Greater(m, t) "
     "z = Constant <value_float = 0.0> () c = Where(keep, x, z) y = Tanh(c)"),
    witness={"x": [[1e-6, 2e-6, 3e-6, -1e-6]]}, hidden=True,
)  # fmt: skip
OUTPUTS.text(
    "constant-almost-everywhere", "One unless an input exceeds 5; the candidate is one always.",
    "g (float[n, 6] x) => (float[n, 6] y) { f = Constant <value_float = 5.0> () "
    "o = Constant <value_float = 1.0> () d = Div(x, f) y = Max(d, o) }",
    ("y = Max(d, o)", "z = Sub(d, d) y = Add(z, o)"), witness={"x": [[10, 1, 2, 3, 4, 5]]}, hidden=True,
)  # fmt: skip
OUTPUTS.text(
    "an-axis-more", "The result has an axis of one too many.",
    "g (float[n, 6] x) => (float[n] y) { a = Constant <value_ints = [1]> () y = ReduceSum <keepdims = 0> (x, a) }",
    ("keepdims = 0", "keepdims = 1"), ("=> (float[n] y)", "=> (float[n, m] y)"), witness={"x": normal(2, 6)},
)  # fmt: skip
OUTPUTS.text(
    "indices-in-32-bits", "Indices are given back in 32 bits.",
    "g (float[n, 6] x) => (int64[n] y) { y = ArgMax <axis = 1, keepdims = 0> (x) }",
    ("y = ArgMax", "z = ArgMax"), ("(x) }", "(x) y = Cast <to = 6> (z) }"), ("int64[n]", "int32[n]"),
    witness={"x": normal(2, 6)},
)  # fmt: skip
OUTPUTS.text(
    "one-element-of-many", "One of 100,000 numbers is off by a tenth.",
    "g (float[n, 4] x) => (float[n, 25000] y) { y = MatMul(x, w) }",
    ("y = MatMul(x, w)", "p = MatMul(x, w) y = Mul(p, nearly)"), witness={"x": normal(4, 4)},
    weights={"w": normal(4, 25000, seed=3),
             "nearly": np.where(np.arange(25000) == 17321, 1.1, 1).astype(np.float32)},
)  # fmt: skip
OUTPUTS.text(
    "dropout-in-training", "Dropout is left in training: a tenth of the numbers is zero.",
    "g (float[n, 64] x) => (float[n, 64] y) { y = Dropout(x, r) }",
    ("Dropout(x, r)", "Dropout(x, r, yes)"), witness={"x": normal(4, 64)},
    weights={"r": np.asarray(0.1, np.float32), "yes": np.asarray(True)},
)  # fmt: skip
OUTPUTS.text(
    "rare-dropout-in-training", "Dropout of one in 200 is left in training.",
    "g (float[n, 64] x) => (float[n, 64] y) { y = Dropout(x, r) }",
    ("Dropout(x, r)", "Dropout(x, r, yes)"), witness={"x": normal(64, 64)},
    weights={"r": np.asarray(0.005, np.float32), "yes": np.asarray(True)},
)  # fmt: skip
OUTPUTS.text(
    "batch-norm-in-training", "A batch norm takes mean and variance of the batch.",
    "g (float[n, 4, h, w] x) => (float[n, 4, h, w] y) { y = BatchNormalization (x, s, b, m, v) }",
    ("y = BatchNormalization (x, s, b, m, v)",
     "y, rm, rv = BatchNormalization <training_mode = 1> (x, s, b, m, v)"),
    witness={"x": normal(2, 4, 3, 3)},
    weights={"s": normal(4, seed=1), "b": normal(4, seed=2), "m": normal(4, seed=3),
             "v": np.abs(normal(4, seed=4)) + np.float32(0.5)},
)  # fmt: skip
OUTPUTS.text(
    "random-noise-added", "Noise of one in 10,000 is added, other noise at every run.",
    "g (float[n, 6] x) => (float[n, 6] y) { y = Relu(x) }",
    ("y = Relu(x)", "r = Relu(x) z = RandomNormalLike <scale = 0.0001> (r) y = Add(r, z)"),
    witness={"x": np.ones((2, 6), np.float32)}, least=2e-5,
)  # fmt: skip


@OUTPUTS.planted(GPT2, sequence=4)
def first_token_for_all(draft: Draft) -> None:
    """Every token has the logits of the first one in its row."""
    first = draft.op("Gather", draft.producer("logits").input[0], np.asarray([0]), axis=1)
    shape = draft.op("Shape", draft.producer("logits").input[0])
    draft.before(draft.producer("logits"), 0, lambda _was: draft.op("Expand", first, shape))


_DEPTH = 24
_DEEP = "g (float[n, 12] x0) => (float[n, 12] y) {" + "".join(
    f" p{i} = MatMul(x{i}, w{i}) b{i} = Add(p{i}, c{i}) a{i} = Tanh(b{i}) x{i + 1} = Add(x{i}, a{i})"
    for i in range(_DEPTH)
) + f" y = Identity(x{_DEPTH}) }}"  # fmt: skip
_DEEP_WEIGHTS = {
    **{f"w{i}": normal(12, 12, seed=i, scale=0.1) for i in range(_DEPTH)},
    **{f"c{i}": normal(12, seed=100 + i, scale=0.1) for i in range(_DEPTH)},
    "off": normal(12, 12, seed=17, scale=0.1) * np.float32(1.0001),
    "shifted": normal(12, seed=120, scale=0.1) + np.float32(3e-5),
    "up": np.asarray(1.0001, np.float32), "few": np.asarray(30, np.float32),
}  # fmt: skip
OUTPUTS.text(
    "one-layer-of-many", "In a stack of 24 layers, the weights of the 18th are too large by one in ten thousand.",
    _DEEP, ("MatMul(x17, w17)", "MatMul(x17, off)"), weights=_DEEP_WEIGHTS, witness={"x0": normal(2, 12)}, least=1e-5,
)  # fmt: skip
OUTPUTS.text(
    "one-shift-of-many", "In a stack of 24 layers, the bias of the 21st is off by 3e-5.",
    _DEEP, ("Add(p20, c20)", "Add(p20, shifted)"), weights=_DEEP_WEIGHTS, witness={"x0": normal(2, 12)}, least=5e-6,
)  # fmt: skip
OUTPUTS.text(
    "deep-inside-and-far-out", "In a stack of 24 layers, what the twelfth is given is cut at 30.",
    _DEEP, ("MatMul(x11, w11)", "MatMul(cut, w11)"), ("p11 =", "cut = Min(x11, few) p11 ="), weights=_DEEP_WEIGHTS,
    witness={"x0": normal(2, 12, scale=40.0)}, plain={"x0": normal(2, 12)}, hidden=True,
)  # fmt: skip
OUTPUTS.text(
    "doubles-through-singles", "A model in double precision computes one product in single precision.",
    "g (double[n, 8] x) => (double[n, 8] y) { a = MatMul(x, w) b = Tanh(a) y = MatMul(b, w) }",
    ("y = MatMul(b, w)", "s = Cast <to = 1> (b) t = Cast <to = 1> (w) p = MatMul(s, t) y = Cast <to = 11> (p)"),
    weights={"w": normal(8, 8).astype(np.float64)}, witness={"x": normal(2, 8)}, least=1e-9,
)  # fmt: skip
OUTPUTS.text(
    "half-precision-off-by-a-little", "Results in half precision are too large by four in a thousand.",
    "g (float[n, 8] x) => (float16[n, 8] y) { a = MatMul(x, w) y = Cast <to = 10> (a) }",
    ("y = Cast <to = 10> (a)", "b = Mul(a, k) y = Cast <to = 10> (b)"),
    weights={"w": normal(8, 8), "k": np.asarray(1.004, np.float32)}, witness={"x": normal(2, 8)},
)  # fmt: skip
OUTPUTS.text(
    "bytes-cut-instead-of-rounded", "Pixels are cut to whole numbers instead of rounded.",
    "g (float[n, 8] x) => (uint8[n, 8] y) { s = Mul(x, k) c = Clip(s, low, k) r = Round(c) y = Cast <to = 2> (r) }",
    ("r = Round(c)", "r = Floor(c)"), witness={"x": np.abs(np.tanh(normal(2, 8)))},
    weights={"k": np.asarray(255, np.float32), "low": np.asarray(0, np.float32)},
)  # fmt: skip
OUTPUTS.text(
    "a-word-spelled-otherwise", "A word that is looked for is written in capitals.",
    "g (string[n] words, float[n] x) => (float[n] y) { e = Equal(words, word) m = Mul(x, two) y = Where(e, m, x) }",
    ("Equal(words, word)", "Equal(words, capitals)"), hidden=True,
    weights={"word": np.asarray(["stop"], object), "capitals": np.asarray(["STOP"], object), "two": np.asarray(2, np.float32)},
    witness={"words": ["go", "stop"], "x": [1, 2]}, plain={"words": ["a", "b"], "x": [1, 2]},
)  # fmt: skip

BLANK = Family("blank", expected="not shown")

BLANK.text(
    "nan-on-both-sides", "Both give NaN for whatever is fed.",
    "g (float[n, 6] x) => (float[n, 6] y) { o = Constant <value_float = 1.0> () m = Abs(x) "
    "p = Add(m, o) q = Neg(p) y = Log(q) }",
    ("y = Log(q)", "y = Sqrt(q)"), witness={"x": normal(2, 6)},
)  # fmt: skip
BLANK.text(
    "infinite-on-both-sides", "Both give infinity for whatever is fed.",
    "g (float[n, 6] x) => (float[n, 6] y) { z = Constant <value_float = 0.0> () m = Mul(x, x) "
    "o = Constant <value_float = 1.0> () p = Add(m, o) y = Div(p, z) }",
    ("y = Div(p, z)", "q = Add(p, o) y = Div(q, z)"), witness={"x": normal(2, 6)},
)  # fmt: skip
BLANK.text(
    "constant-on-both-sides", "Both give zero for whatever is fed, by different ways.",
    "g (float[n, 6] x) => (float[n, 6] y) { m = Mul(x, x) q = Neg(m) y = Relu(q) }",
    ("y = Relu(q)", "r = Add(q, q) y = Relu(r)"), witness={"x": normal(2, 6)},
)  # fmt: skip
BLANK.text(
    "empty-on-both-sides", "Both find nothing, whatever is fed.",
    "g (float[n, 6] x) => (int64[2, k] y) { m = Mul(x, x) q = Neg(m) r = Relu(q) y = NonZero(r) }",
    ("r = Relu(q)", "t = Add(q, q) r = Relu(t)"), witness={"x": normal(2, 6)},
)  # fmt: skip
