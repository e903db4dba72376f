"""Right rewrites that look wrong to a careless judge: none of these may be called different."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases import rewriters
from torture.bases.decoders import GPT2, HEADS, KV_HEADS, LLAMA
from torture.bases.found import HIDDEN, LSTM
from torture.bases.narrow import CALIBRATED, HALF, QCONV
from torture.bases.rewriters import Rewriter
from torture.bases.text import BERT, BERT_SCRIPT, rewritten
from torture.bases.vision import CONV, RESTORED, VIT, WINDOWS
from torture.case import Base, Family
from torture.draft import F16, F32, I32, I64, Draft

RIGHT = Family("right", expected="equal")

ROUNDING = 2e-5
"""How far single precision may drift through a dozen layers."""


def _rewritten_by(
    name: str,
    what: str,
    base: Base,
    start: Rewriter,
    *,
    least: float = ROUNDING,
    needs: tuple[str, ...] = (),
) -> None:
    """Add a trap that is what a rewriter makes of a model."""

    def leave(draft: Draft) -> None:
        del draft

    leave.__name__, leave.__doc__ = name, what
    RIGHT.planted(base, start=start, least=least, needs=needs)(leave)


for _base in (BERT, BERT_SCRIPT, GPT2, LLAMA, VIT, CONV, WINDOWS, RESTORED):
    _rewritten_by(
        f"fused_{_base.name.replace('-', '_')}", "What burnish makes of it.", _base, rewritten
    )
_rewritten_by(
    "extended_level", "What ONNX Runtime makes of it.", BERT, rewriters.by_engine("extended")
)
_rewritten_by("extended_level_of_a_decoder", "What ONNX Runtime makes of it.", GPT2,
              rewriters.by_engine("extended"))  # fmt: skip
_rewritten_by("extended_level_of_int8", "What ONNX Runtime makes of it: a step apart here and there.",
              QCONV, rewriters.by_engine("extended"), least=0.5)  # fmt: skip
_rewritten_by(
    "basic_level", "What ONNX Runtime makes of it.", BERT_SCRIPT, rewriters.by_engine("basic")
)
_rewritten_by("by_onnxsim", "What onnxsim makes of it.", BERT_SCRIPT, rewriters.by_onnxsim,
              needs=("onnxsim",))  # fmt: skip
_rewritten_by("by_onnxslim", "What onnxslim makes of it.", BERT_SCRIPT, rewriters.by_onnxslim,
              needs=("onnxslim",))  # fmt: skip
_rewritten_by("newer_opset", "The same in opset 17.", BERT_SCRIPT, rewriters.by_version(17))
_rewritten_by("other_order", "The same nodes in another order.", LLAMA, rewriters.shuffled(1))
_rewritten_by("other_names", "Inner values have each other's names.", BERT, rewriters.renamed)
_rewritten_by(
    "other_names_of_windows", "Inner values have each other's names.", WINDOWS, rewriters.renamed
)


@RIGHT.planted(CONV, least=ROUNDING)
def batch_norms_folded(draft: Draft) -> None:
    """Batch norms are folded into the convolutions before them."""
    for conv, name in (("stem", "bn1"), ("wide", "bn2")):
        scale = draft.array(f"{name}.weight") / np.sqrt(draft.array(f"{name}.var") + 1e-5)
        shift = draft.array(f"{name}.bias") - draft.array(f"{name}.mean") * scale
        draft.change(f"{conv}.weight", lambda w, s=scale: w * s[:, None, None, None])
        draft.change(f"{conv}.bias", lambda b, s=scale, t=shift: b * s + t)
        draft.bypass(draft.producer(f"{name}.out"))


@RIGHT.planted(VIT, least=ROUNDING)
def scale_folded_into_weights(draft: Draft) -> None:
    """The scale of the scores went into the weights of the queries."""
    for layer in (0, 1):
        node = draft.producer(f"layer.{layer}.scaled")
        scale = draft.array(node.input[1])
        draft.bypass(node)
        for kind in ("weight", "bias"):
            draft.change(f"layer.{layer}.q.{kind}", lambda w, s=scale: w * s)


@RIGHT.planted(BERT, sequence=32, least=ROUNDING)
def product_in_two_halves(draft: Draft) -> None:
    """A product of 128 by 512 is done in two halves that are joined."""
    node = next(n for n in draft.graph.node if "val_143" in n.input)
    left, right = np.split(draft.array("val_143"), 2, axis=1)
    halves = [draft.op("MatMul", node.input[0], half) for half in (left, right)]
    draft.replace(node, "Concat", *halves, axis=-1)


@RIGHT.planted(BERT, sequence=32, least=ROUNDING)
def sum_in_two_halves(draft: Draft) -> None:
    """A product over 512 numbers is the sum of two over 256."""
    node = next(n for n in draft.graph.node if "val_209" in n.input)
    upper, lower = np.split(draft.array("val_209"), 2, axis=0)
    inputs = draft.ops("Split", node.input[0], [256, 256], out=2, axis=-1)
    parts = [draft.op("MatMul", x, w) for x, w in zip(inputs, (upper, lower), strict=True)]
    draft.replace(node, "Add", *parts)


@RIGHT.planted(VIT, least=ROUNDING)
def queries_keys_values_in_one(draft: Draft) -> None:
    """Three products with one input became one, which is split."""
    nodes = [draft.producer(draft.producer(f"layer.0.{kind}.out").input[0]) for kind in "qkv"]
    joined = np.concatenate([draft.array(f"layer.0.{kind}.weight") for kind in "qkv"], axis=1)
    product = draft.op("MatMul", nodes[0].input[0], joined)
    outputs = [node.output[0] for node in nodes]
    for node in nodes:
        draft.drop(node)
    draft.ops("Split", product, [16, 16, 16], out=outputs, axis=-1)


@RIGHT.planted(BERT, sequence=32, least=ROUNDING)
def hidden_units_permuted(draft: Draft) -> None:
    """Hidden units stand in another order, on both sides of the activation."""
    order = np.random.default_rng(0).permutation(512)
    draft.change("val_143", lambda w: w[:, order])
    draft.change("model.bert.encoder.layer.0.intermediate.dense.bias", lambda b: b[order])
    draft.change("val_145", lambda w: w[order])


@RIGHT.planted(BERT, least=0.0)
def dead_code_added(draft: Draft) -> None:
    """Nodes that nobody reads, one of them in a weaker type, and an unread weight."""
    draft.op("Cast", "logits", to=F16)
    draft.ops("DynamicQuantizeLinear", "logits", out=3)
    draft.constant(np.zeros(1000, np.float32))


@RIGHT.planted(BERT, least=0.0)
def guard_that_cannot_fire(draft: Draft) -> None:
    """Masked scores are finite, so no share is NaN, and the guard against it can go."""
    for _layer in range(2):
        asked = draft.find("IsNaN")
        draft.bypass(next(n for n in draft.graph.node if asked.output[0] in n.input), 2)
        draft.drop(asked)


@RIGHT.planted(BERT, least=0.0)
def ids_in_32_bits(draft: Draft) -> None:
    """Ids pass through 32 bits, which hold any row of the table."""
    draft.after("input_ids", lambda was: draft.op("Cast", draft.op("Cast", was, to=I32), to=I64))


@RIGHT.planted(BERT, least=1e-6)
def clip_behind_a_softmax(draft: Draft) -> None:
    """Shares are clipped to what they are anyway: 0 to 1."""
    value = draft.find("Softmax").output[0]
    draft.after(value, lambda was: draft.op("Clip", was, 0.0, 1.0))


@RIGHT.planted(BERT, sequence=32, least=ROUNDING)
def a_fast_path_that_is_right(draft: Draft) -> None:
    """Multiples of eight take another path to the same scores."""
    value = draft.find("Softmax").input[0]
    eight = draft.op("Equal", draft.op("Mod", draft.size("input_ids", 1), 8), 0)
    draft.after(value, lambda was: draft.op("Where", eight, draft.op(
        "Add", draft.op("Mul", was, 0.5), draft.op("Mul", was, 0.5)), was))  # fmt: skip


@RIGHT.planted(LLAMA, least=ROUNDING)
def heads_repeated_by_index(draft: Draft) -> None:
    """Shared heads of keys and values are repeated by an index instead of by an expansion."""
    order = np.repeat(np.arange(KV_HEADS), HEADS // KV_HEADS)
    for layer in (0, 1):
        for kind in ("keys", "values"):
            name = f"layer.{layer}.{kind}"
            source = draft.producer(f"{name}.one").input[0]
            draft.replace(draft.producer(name), "Gather", source, order, axis=1)


@RIGHT.planted(GPT2, least=ROUNDING)
def tanh_as_a_sigmoid(draft: Draft) -> None:
    """(1 + tanh z) / 2 is sigmoid(2z)."""
    for nth in (1, 0):
        node = draft.find("Tanh", nth)
        twice = draft.op("Sigmoid", draft.op("Mul", node.input[0], 2.0))
        draft.replace(node, "Sub", draft.op("Mul", twice, 2.0), 1.0)


@RIGHT.planted(GPT2, least=0.0)
def masked_by_a_smaller_number(draft: Draft) -> None:
    """Masked scores are -1e9, which a softmax cannot tell from the lowest, as a key is always seen."""
    node = draft.producer("bias")
    some = draft.op("ReduceMax", draft.op("Cast", "kept", to=I32), [-1], keepdims=1)
    any_kept = draft.op("Greater", some, np.asarray(0, np.int32))
    low = draft.op("Where", any_kept, -1e9, node.input[2])
    draft.before(node, 2, lambda _was: low)


@RIGHT.planted(HALF, least=0.02)
def computed_more_exactly(draft: Draft) -> None:
    """What was computed in half precision is computed in single precision."""
    for tensor in [*draft.graph.initializer]:
        if tensor.data_type == F16:
            draft.change(tensor.name, lambda w: w.astype(np.float32))
    draft.set(draft.producer("narrow"), to=F32)


@RIGHT.planted(CALIBRATED, least=ROUNDING)
def weights_dequantised_ahead(draft: Draft) -> None:
    """Dequantised weights are stored as the numbers that they are."""
    for name in ("first", "second"):
        node = draft.producer(f"{name}.weight")
        scales = draft.array(f"{name}.scales")
        draft.replace(node, "Identity", (draft.array(f"{name}.codes") * scales).astype(np.float32))


@RIGHT.planted(LSTM, least=ROUNDING)
def biases_added_up(draft: Draft) -> None:
    """The two biases of an LSTM are one: only their sum counts."""

    def join(b: Array) -> Array:
        half = 4 * HIDDEN
        return np.concatenate([b[:, :half] + b[:, half:], np.zeros_like(b[:, half:])], axis=1)

    draft.change("B", join)


@RIGHT.planted(CONV, least=ROUNDING)
def mean_as_a_sum(draft: Draft) -> None:
    """The mean over a picture as a sum and a division by its size."""
    node = draft.find("GlobalAveragePool")
    source = node.input[0]
    total = draft.op("ReduceSum", source, [2, 3], keepdims=1)
    size = draft.op("Cast", draft.op("Mul", draft.size(source, 2), draft.size(source, 3)), to=F32)
    draft.replace(node, "Div", total, size)


@RIGHT.planted(RESTORED, least=0.0)
def a_crop_that_crops_nothing(draft: Draft) -> None:
    """A frame is added and cut off again."""
    draft.after("large", lambda was: draft.op(
        "Slice", draft.op("Pad", was, [0, 0, 3, 3, 0, 0, 3, 3]), [3, 3], [-3, -3], [2, 3]))  # fmt: skip
