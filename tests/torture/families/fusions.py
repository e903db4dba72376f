"""Errors of fused activations, norms, caps and precisions: a constant, a bound, an axis is wrong."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.decoders import GPT2, LLAMA
from torture.bases.narrow import HALF
from torture.bases.text import BERT, rewritten
from torture.bases.vision import CONV, VIT
from torture.case import Family, normal
from torture.draft import F16, F32, Draft

FUSIONS = Family("fusions")

ROW = "g (float[n, 6] x) => (float[n, 6] y) "
WIDE = {"x": [[-9, -4, -2.5, 2.5, 4, 9]]}


def _f32(**numbers: float) -> dict[str, Array]:
    return {name: np.asarray(number, np.float32) for name, number in numbers.items()}


FUSIONS.text(
    "quick-gelu-with-a-rounded-factor", "x · sigmoid(1.702 x) with 1.7.",
    ROW + "{ a = Mul(x, k) s = Sigmoid(a) y = Mul(x, s) }", ("Mul(x, k)", "Mul(x, r)"),
    weights=_f32(k=1.702, r=1.7), witness={"x": normal(2, 6)}, least=2e-4,
)  # fmt: skip
FUSIONS.text(
    "mish-beyond-a-limit", "Mish is taken for x from 3 on, where it is 2.987.",
    ROW + "{ s = Softplus(x) t = Tanh(s) y = Mul(x, t) }",
    ("y = Mul(x, t)", "m = Mul(x, t) g1 = Greater(x, k) y = Where(g1, x, m)"),
    weights=_f32(k=3), witness={"x": [[3.1, 3.2, 1, -1, 0, 3.05]]}, plain={"x": np.tanh(normal(1, 6))}, hidden=True,
)  # fmt: skip
FUSIONS.text(
    "hard-swish-with-another-bound", "The upper bound of a hard swish is 5 instead of 6: from x = 2 on.",
    ROW + "{ a = Add(x, three) c = Clip(a, zero, six) p = Mul(x, c) y = Div(p, six) }",
    ("Clip(a, zero, six)", "Clip(a, zero, five)"), weights=_f32(zero=0, three=3, five=5, six=6),
    witness=WIDE, plain={"x": np.tanh(normal(1, 6))}, hidden=True,
)  # fmt: skip
FUSIONS.text(
    "hard-sigmoid-of-the-other-framework", "The slope of a hard sigmoid is 1/5 instead of 1/6.",
    ROW + "{ y = HardSigmoid <alpha = 0.16666667> (x) }", ("alpha = 0.16666667", "alpha = 0.2"),
    witness={"x": normal(2, 6)},
)  # fmt: skip
FUSIONS.text(
    "celu-taken-for-elu", "At α = 1.5, CELU became ELU: the same above zero.",
    ROW + "{ y = Celu <alpha = 1.5> (x) }", ("Celu", "Elu"), witness=WIDE,
    plain={"x": np.abs(normal(2, 6))}, hidden=True,
)  # fmt: skip
FUSIONS.text(
    "selu-with-rounded-constants", "SELU with α = 1.673 and γ = 1.0507.",
    ROW + "{ y = Selu(x) }", ("Selu(x)", "Selu <alpha = 1.673, gamma = 1.0507> (x)"),
    witness={"x": normal(2, 6)}, least=1e-5,
)  # fmt: skip
FUSIONS.text(
    "slopes-along-the-other-axis", "The slopes below zero of a square are laid along the columns.",
    "g (float[n, 4, 4] x) => (float[n, 4, 4] y) { y = PRelu(x, s) }", ("PRelu(x, s)", "PRelu(x, t)"),
    weights={"s": normal(4, 1), "t": normal(4, 1).reshape(1, 4)}, witness={"x": -np.abs(normal(2, 4, 4))},
    plain={"x": np.abs(normal(2, 4, 4))}, hidden=True,
)  # fmt: skip
FUSIONS.text(
    "soft-cap-left-out", "30 · tanh(x / 30) became x: the same as long as logits are small.",
    ROW + "{ a = Div(x, k) t = Tanh(a) y = Mul(t, k) }", ("y = Mul(t, k)", "y = Identity(x)"),
    weights=_f32(k=30), witness={"x": [[5, -20, 30, -60, 1, 2]]}, plain={"x": normal(1, 6, scale=0.1)}, hidden=True,
)  # fmt: skip
FUSIONS.text(
    "soft-cap-of-another-model", "Logits are capped at 50 instead of 30.",
    ROW + "{ a = Div(x, k) t = Tanh(a) y = Mul(t, k) }", ("Div(x, k)", "Div(x, l)"), ("Mul(t, k)", "Mul(t, l)"),
    weights=_f32(k=30, l=50), witness={"x": [[5, -20, 30, -60, 1, 2]]}, plain={"x": normal(1, 6, scale=0.1)},
    hidden=True,
)  # fmt: skip
_SWIGLU = ("g (float[n, 6] gate, float[n, 6] up) => (float[n, 6] y) { g1 = Min(gate, seven) u = Clip(up, low, seven) "
           "a = Mul(g1, k) s = Sigmoid(a) p = Mul(g1, s) q = Add(u, one) y = Mul(p, q) }")  # fmt: skip
FUSIONS.text(
    "gate-clipped-on-one-side-only", "The linear half is clipped above only; the reference clips it on both sides.",
    _SWIGLU, ("Clip(up, low, seven)", "Min(up, seven)"), weights=_f32(seven=7, low=-7, k=1.702, one=1),
    witness={"gate": normal(2, 6), "up": [[-12, 1, 2, 9, -8, 0]] * 2}, plain={"gate": normal(2, 6), "up": normal(2, 6)},
    hidden=True,
)  # fmt: skip
FUSIONS.text(
    "gate-clipped-below-as-well", "The gate is clipped on both sides; the reference clips it above only.",
    _SWIGLU, ("Min(gate, seven)", "Clip(gate, minus, seven)"), weights=_f32(seven=7, low=-7, minus=-3, k=1.702, one=1),
    witness={"gate": [[-4, -6, -9, 9, 1, 0]], "up": normal(1, 6)}, plain={"gate": np.tanh(normal(2, 6)), "up": normal(2, 6)},
    hidden=True, least=1e-3,
)  # fmt: skip
FUSIONS.text(
    "root-mean-square-without-its-guard", "The epsilon under the root is gone: rows of zeros become NaN.",
    ROW + "{ q = Mul(x, x) m = ReduceMean(q, last) e = Add(m, k) r = Sqrt(e) y = Div(x, r) }",
    ("e = Add(m, k) r = Sqrt(e)", "r = Sqrt(m)"), weights=_f32(k=1e-6) | {"last": np.asarray([-1])},
    witness={"x": np.zeros((1, 6))}, hidden=True,
)  # fmt: skip
FUSIONS.text(
    "epsilon-behind-the-root", "x / (√v + ε) for x / √(v + ε): the same but for tiny rows.",
    ROW + "{ q = Mul(x, x) m = ReduceMean(q, last) e = Add(m, k) r = Sqrt(e) y = Div(x, r) }",
    ("e = Add(m, k) r = Sqrt(e)", "e = Sqrt(m) r = Add(e, k)"), weights=_f32(k=1e-6) | {"last": np.asarray([-1])},
    witness={"x": normal(2, 6, scale=1e-3)}, hidden=True,
)  # fmt: skip
FUSIONS.text(
    "groups-of-another-size", "A norm over four groups of channels became one over two.",
    "g (float[n, 8, l] x) => (float[n, 8, l] y) { a = Reshape(x, four) b = InstanceNormalization(a, s, o) "
    "h = Shape(x) y = Reshape(b, h) }",
    ("Reshape(x, four)", "Reshape(x, two)"), ("InstanceNormalization(a, s, o)", "InstanceNormalization(a, s2, o2)"),
    weights={"four": np.asarray([0, 4, -1]), "two": np.asarray([0, 2, -1]), "s": np.ones(4, np.float32),
             "o": np.zeros(4, np.float32), "s2": np.ones(2, np.float32), "o2": np.zeros(2, np.float32)},
    witness={"x": normal(2, 8, 3)},
)  # fmt: skip
FUSIONS.text(
    "mean-kept-in-half-precision", "A mean over the rows is kept in f16 and given back in f32.",
    "g (float[n, 4] x) => (float[1, 4] y) { y = ReduceMean(x, none) }",
    ("y = ReduceMean(x, none)", "m = ReduceMean(x, none) h = Cast <to = 10> (m) y = Cast <to = 1> (h)"),
    weights={"none": np.asarray([0])}, witness={"x": 1 + normal(300, 4)}, least=1e-4,
)  # fmt: skip


@FUSIONS.planted(GPT2, least=1e-7)
def gelu_with_a_rounded_constant(draft: Draft) -> None:
    """The cube's factor in the second GELU is 0.0447 instead of 0.044715."""
    factors = [
        n
        for n in draft.graph.node
        if n.op_type == "Mul" and any(_holds(draft, name, 0.044715) for name in n.input)
    ]
    draft.before(factors[-1], 1, lambda _was: draft.constant(0.0447))


def _holds(draft: Draft, name: str, value: float) -> bool:
    found = [t for t in draft.graph.initializer if t.name == name]
    return (
        bool(found) and draft.array(name).size == 1 and bool(np.isclose(draft.array(name), value))
    )


@FUSIONS.planted(BERT, sequence=16, least=1e-6)
def gelu_by_tanh_in_one_unit(draft: Draft) -> None:
    """One of the 512 hidden units of the second layer has the GELU by tanh."""
    other = draft.op("Gelu", "linear_10", approximate="tanh")
    one = draft.constant(np.arange(512) == 389)
    draft.after("gelu_1", lambda was: draft.op("Where", one, other, was))


@FUSIONS.planted(BERT, sequence=16, least=1e-3)
def variance_of_a_sample(draft: Draft) -> None:
    """The variance of one norm is divided by 127 instead of 128."""
    draft.after("layer_norm_3", lambda was: draft.op(
        "Add", draft.op("Mul", draft.op("Sub", was, node_bias := draft.producer(was).input[2]),
                        float(np.sqrt(127 / 128))), node_bias))  # fmt: skip


@FUSIONS.planted(LLAMA, least=1e-5)
def shares_kept_in_half_precision(draft: Draft) -> None:
    """The shares of the second layer are kept in f16."""
    draft.after(
        "layer.1.shares", lambda was: draft.op("Cast", draft.op("Cast", was, to=F16), to=F32)
    )


@FUSIONS.planted(LLAMA, least=1e-5)
def norm_in_half_precision(draft: Draft) -> None:
    """The norm in front of the head passes through f16."""
    draft.after("final.out", lambda was: draft.op("Cast", draft.op("Cast", was, to=F16), to=F32))


@FUSIONS.planted(BERT, sequence=16, least=1e-4)
def scores_of_one_head(draft: Draft) -> None:
    """Scores of the last head of the second layer are too large by one in a hundred."""
    factors = draft.constant(np.asarray([1, 1, 1, 1.01], np.float32).reshape(4, 1, 1))
    draft.after("val_193", lambda was: draft.op("Mul", was, factors))


@FUSIONS.planted(BERT, sequence=16)
def block_of_one_head_transposed(draft: Draft) -> None:
    """What the output takes from the last head into as many numbers is transposed."""

    def turn(w: Array) -> None:
        w[96:, :32] = w[96:, :32].T.copy()

    draft.change("val_203", turn)


@FUSIONS.planted(BERT, start=rewritten, sequence=16, least=1e-5)
def a_layer_off_by_one_in_ten_thousand(draft: Draft) -> None:
    """In the rewritten model, the last norm's scale is too large by one in ten thousand."""
    draft.change(
        "model.bert.encoder.layer.1.output.LayerNorm.weight", lambda w: w * np.float32(1.0001)
    )


@FUSIONS.planted(CONV)
def sign_of_a_folded_scale(draft: Draft) -> None:
    """A folded batch norm takes the absolute of one channel's scale, which is below zero."""
    draft.change("bn2.weight", _turned)


def _turned(scale: Array) -> None:
    scale[5] *= -1


@FUSIONS.planted(VIT, least=1e-6)
def scale_of_a_norm_rounded(draft: Draft) -> None:
    """The scale of the last norm is rounded to three digits."""
    draft.change("final.weight", lambda w: np.round(w, 3))


@FUSIONS.planted(HALF, least=1e-4)
def gelu_by_tanh_in_half_precision(draft: Draft) -> None:
    """In a model that computes in f16 to begin with, GELU is approximated by tanh."""
    draft.set(draft.find("Gelu"), approximate="tanh")


@FUSIONS.planted(HALF, lambda i: {"features": i["features"] * np.float32(0.05)}, least=1e-4)
def epsilon_in_half_precision(draft: Draft) -> None:
    """In a model that computes in f16 to begin with, a norm's epsilon is 1e-4 instead of 1e-5."""
    draft.set(draft.find("LayerNormalization"), epsilon=1e-4)
