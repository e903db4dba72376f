"""Errors in attention, norms and activations, as a wrong fusion makes them."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.decoders import GPT2, HEADS, KV_HEADS, LLAMA, LOWEST, SIZE
from torture.bases.text import BERT, BERT_SCRIPT, rewritten
from torture.bases.vision import VIT, WINDOWS
from torture.case import Family
from torture.draft import CONTRIB, F32, I64, Draft

ATTENTION = Family("attention")


@ATTENTION.planted(BERT, sequence=16, least=5e-5)
def gelu_by_tanh(draft: Draft) -> None:
    """The first GELU is approximated by tanh."""
    draft.set(draft.find("Gelu"), approximate="tanh")


@ATTENTION.planted(BERT, sequence=16)
def quick_gelu(draft: Draft) -> None:
    """The second GELU is x · sigmoid(1.702 x)."""
    node = draft.find("Gelu", 1)
    draft.imports(CONTRIB)
    draft.replace(node, "QuickGelu", node.input[0], domain=CONTRIB, alpha=1.702)


@ATTENTION.planted(VIT, least=5e-5)
def fast_gelu(draft: Draft) -> None:
    """GELU is fused into ONNX Runtime's FastGelu, which is the one by tanh."""
    node = draft.find("Gelu")
    draft.replace(node, "FastGelu", node.input[0], domain=CONTRIB)


@ATTENTION.planted(BERT, sequence=16, least=2e-6)
def epsilon_of_a_norm(draft: Draft) -> None:
    """All norms have an epsilon of 1e-5 instead of 1e-12."""
    for nth in range(5):
        draft.set(draft.find("LayerNormalization", nth), epsilon=1e-5)


@ATTENTION.planted(LLAMA, lambda i: {"input_ids": np.full_like(i["input_ids"], 5)}, least=1e-6)
def epsilon_of_an_rms_norm(draft: Draft) -> None:
    """The last norm's epsilon is 1e-5 instead of 1e-6."""
    adds = [n for n in draft.graph.node if n.op_type == "Add" and _is(draft, n.input[1], 1e-6)]
    draft.before(adds[-1], 1, lambda _was: draft.constant(1e-5))


def _is(draft: Draft, name: str, value: float) -> bool:
    found = [t for t in draft.graph.initializer if t.name == name]
    return bool(found) and draft.array(name).size == 1 and np.isclose(draft.array(name), value)


@ATTENTION.planted(BERT, sequence=16)
def scale_off_by_two_per_cent(draft: Draft) -> None:
    """The scores of the first layer are too large by 2 %."""
    draft.after(draft.find("Softmax").input[0], lambda was: draft.op("Mul", was, 1.02))


@ATTENTION.planted(VIT)
def scale_from_the_wrong_size(draft: Draft) -> None:
    """Scores are divided by the root of the width, not of a head."""
    draft.after("layer.1.scaled", lambda was: draft.op("Mul", was, float(1 / np.sqrt(2))))


@ATTENTION.planted(BERT, sequence=16)
def softmax_over_queries(draft: Draft) -> None:
    """The softmax of the second layer runs over the queries."""
    draft.set(draft.find("Softmax", 1), axis=2)


@ATTENTION.planted(WINDOWS)
def softmax_over_queries_in_windows(draft: Draft) -> None:
    """In windows of 16 by 16, the softmax runs over the queries."""
    draft.set(draft.find("Softmax"), axis=-2)


@ATTENTION.planted(GPT2)
def causal_mask_sees_the_next(draft: Draft) -> None:
    """Each token sees the one after it."""
    node = draft.producer("causal")
    draft.before(node, 1, lambda was: draft.op("Add", was, 1))


@ATTENTION.planted(GPT2)
def causal_mask_hides_itself(draft: Draft) -> None:
    """No token but the first sees itself."""
    node = draft.producer("causal")
    first = draft.op("Equal", node.input[1], 0)
    draft.before(node, 1, lambda was: draft.op(
        "Where", first, was, draft.op("Sub", was, 1)))  # fmt: skip


@ATTENTION.planted(GPT2, sequence=4, past=0, hidden=True)
def causal_mask_of_a_first_step(draft: Draft) -> None:
    """Without a past, each token sees the one after it."""
    none = draft.op("Equal", draft.size("past_key_values.0.key", 2), 0)
    one = draft.op("Cast", none, to=I64)
    draft.before(draft.producer("causal"), 1, lambda was: draft.op("Add", was, one))


@ATTENTION.planted(LLAMA, past=20, sequence=4, hidden=True)
def a_window_of_sixteen(draft: Draft) -> None:
    """Keys more than sixteen places back are out of sight, as in a model with sliding windows."""
    columns = draft.op("Range", 0, "total", 1)
    past = draft.size("past_key_values.0.key", 2)
    rows = draft.op("Unsqueeze", draft.op("Range", past, "total", 1), [1])
    far = draft.op("Greater", draft.op("Sub", rows, columns), 16)
    draft.after("bias", lambda was: draft.op("Where", far, LOWEST, was))


@ATTENTION.planted(BERT, sequence=16)
def two_heads_swapped(draft: Draft) -> None:
    """Two heads of the first layer are joined in the wrong order."""
    draft.after(
        "scaled_dot_product_attention", lambda was: draft.op("Gather", was, [1, 0, 2, 3], axis=1)
    )


@ATTENTION.planted(VIT)
def queries_and_keys_swapped(draft: Draft) -> None:
    """Queries are taken for keys, and keys for queries."""
    for kind in ("weight", "bias"):
        query, key = (draft.array(f"layer.0.{which}.{kind}") for which in "qk")
        draft.put(f"layer.0.q.{kind}", key)
        draft.put(f"layer.0.k.{kind}", query)


@ATTENTION.planted(BERT_SCRIPT, sequence=16)
def residual_after_the_norm(draft: Draft) -> None:
    """The residual of the second layer is taken behind the norm, twice."""
    adds = [n for n in draft.graph.node if n.output[0].endswith("layer.1/output/Add_output_0")]
    name = "/model/bert/encoder/layer.0/output/LayerNorm/Add_1_output_0"
    draft.before(adds[0], 1, lambda _was: name)


@ATTENTION.planted(BERT, sequence=16)
def scale_and_shift_of_another_norm(draft: Draft) -> None:
    """The last norm has the weights of the one before."""
    last, before = draft.find("LayerNormalization", -1), draft.find("LayerNormalization", -2)
    last.input[1], last.input[2] = before.input[1], before.input[2]


@ATTENTION.planted(BERT, start=rewritten, sequence=16)
def a_norm_forgets_its_shift(draft: Draft) -> None:
    """In the rewritten model, one norm has no bias."""
    node = draft.find("LayerNormalization", 2)
    draft.change(node.input[2], np.zeros_like)


@ATTENTION.planted(VIT, least=0.05)
def norm_over_the_wrong_axis(draft: Draft) -> None:
    """The first 16 tokens, as many as the model is wide, are normalised along the tokens."""
    node = draft.find("LayerNormalization", 2)
    source = node.input[0]
    head = draft.op("Slice", source, [0], [16], [1])
    tail = draft.op("Slice", source, [16], [17], [1])
    turned = draft.op("Transpose", head, perm=[0, 2, 1])
    normed = draft.op("LayerNormalization", turned, node.input[1], node.input[2], epsilon=1e-5)
    kept = draft.op("LayerNormalization", tail, node.input[1], node.input[2], epsilon=1e-5)
    out = draft.op("Concat", draft.op("Transpose", normed, perm=[0, 2, 1]), kept, axis=1)
    draft.replace(node, "Identity", out)


@ATTENTION.planted(LLAMA)
def rms_norm_by_the_mean_of_absolutes(draft: Draft) -> None:
    """The last norm divides by the mean of absolutes, not by the root of the mean of squares."""
    node = draft.find("ReduceMean", -1)
    x = draft.find("Mul", -2).input[0]
    size = draft.op("ReduceMean", draft.op("Abs", x), [-1], keepdims=1)
    draft.replace(node, "Mul", size, size)


@ATTENTION.planted(LLAMA)
def silu_is_gelu(draft: Draft) -> None:
    """The gate of the second layer is x · sigmoid(1.702 x)."""
    node = draft.find("Sigmoid", 1)
    draft.before(node, 0, lambda was: draft.op("Mul", was, 1.702))


@ATTENTION.planted(LLAMA)
def gate_and_up_swapped(draft: Draft) -> None:
    """The two halves of a gated layer have each other's weights."""
    gate, up = draft.array("layer.1.gate.weight"), draft.array("layer.1.up.weight")
    draft.put("layer.1.gate.weight", up)
    draft.put("layer.1.up.weight", gate)


@ATTENTION.planted(LLAMA)
def rotary_interleaved(draft: Draft) -> None:
    """The first layer's queries pair neighbours instead of halves when they are turned."""
    node = draft.producer("layer.0.q_rotated.turned")
    x = draft.producer(node.input[1]).input[0]
    odd = draft.op("Slice", x, [1], [SIZE], [3], [2])
    even = draft.op("Slice", x, [0], [SIZE], [3], [2])
    pairs = draft.op("Concat", draft.op("Unsqueeze", draft.op("Neg", odd), [4]),
                     draft.op("Unsqueeze", even, [4]), axis=4)  # fmt: skip
    draft.replace(node, "Reshape", pairs, [0, 0, 0, SIZE])


@ATTENTION.planted(LLAMA)
def rotary_turned_backwards(draft: Draft) -> None:
    """Keys of the second layer are turned the other way round."""
    draft.after("layer.1.k_rotated.turned", lambda was: draft.op("Neg", was))


@ATTENTION.planted(LLAMA, past=30, sequence=8)
def rotary_base_of_another_model(draft: Draft) -> None:
    """The slowest angle is off: a base of 10,500 instead of 10,000."""
    rates = np.concatenate([10500.0 ** (-np.arange(4) / 4)] * 2)
    table = np.outer(np.arange(64), rates)
    draft.put("cos", np.cos(table).astype(np.float32))
    draft.put("sin", np.sin(table).astype(np.float32))


@ATTENTION.planted(LLAMA)
def grouped_heads_permuted(draft: Draft) -> None:
    """Query heads read their keys by turns (0, 1, 0, 1) instead of in groups (0, 0, 1, 1)."""
    for kind in ("keys", "values"):
        draft.replace(draft.producer(f"layer.0.{kind}"), "Tile",
                      draft.producer(f"layer.0.{kind}.one").input[0],
                      [1, HEADS // KV_HEADS, 1, 1])  # fmt: skip


@ATTENTION.planted(LLAMA)
def only_values_permuted(draft: Draft) -> None:
    """Keys are read in groups, values by turns."""
    draft.replace(draft.producer("layer.1.values"), "Tile",
                  draft.producer("layer.1.values.one").input[0], [1, HEADS // KV_HEADS, 1, 1])  # fmt: skip


@ATTENTION.planted(GPT2)
def cache_written_one_place_off(draft: Draft) -> None:
    """The keys that are given back are rolled by one place; the logits are right."""
    source = draft.producer("present.0.key").input[0]
    head = draft.op("Slice", source, [1], [2**31], [2])
    tail = draft.op("Slice", source, [0], [1], [2])
    draft.before(draft.producer("present.0.key"), 0,
                 lambda _was: draft.op("Concat", head, tail, axis=2))  # fmt: skip


@ATTENTION.planted(LLAMA)
def cache_keeps_unturned_keys(draft: Draft) -> None:
    """The keys that are given back were not turned yet."""
    old = "past_key_values.1.key"
    fresh = draft.op("Concat", old, "layer.1.k_heads", axis=2)
    draft.before(draft.producer("present.1.key"), 0, lambda _was: fresh)


@ATTENTION.planted(LLAMA, past=0, sequence=5, hidden=True)
def cache_of_a_first_step(draft: Draft) -> None:
    """Without a past, the values that are given back lack the first token's."""
    none = draft.op("Equal", draft.size("past_key_values.0.key", 2), 0)
    first = draft.op("Equal", draft.op("Range", 0, "total", 1), 0)
    hit = draft.op("And", none, draft.op("Unsqueeze", first, [1]))
    draft.before(draft.producer("present.0.value"), 0,
                 lambda was: draft.op("Where", hit, 0.0, was))  # fmt: skip


@ATTENTION.planted(WINDOWS)
def shift_off_by_one(draft: Draft) -> None:
    """Windows are shifted back by one place too few."""
    for axis in (1, 2):
        for part, index in (("head", 2), ("tail", 1)):
            node = draft.producer(f"back.{part}{axis}")
            draft.before(node, index, lambda _was: draft.constant(np.asarray([-1])))


@ATTENTION.planted(WINDOWS)
def shifted_windows_unmasked(draft: Draft) -> None:
    """Tokens that the shift brought together see each other."""
    draft.after("apart", lambda was: draft.op("Mul", was, 0.0))


@ATTENTION.planted(WINDOWS, height=48, width=32, hidden=True)
def window_mask_for_squares(draft: Draft) -> None:
    """The mask of shifted windows mixes up rows and columns."""
    draft.after("regions", lambda was: draft.op("Reshape", draft.op(
        "Transpose", was, perm=[1, 0]), draft.op("Shape", was)))  # fmt: skip


@ATTENTION.planted(WINDOWS)
def relative_bias_transposed(draft: Draft) -> None:
    """The relative bias is laid from key to query."""
    draft.change("relative", lambda table: np.swapaxes(table, 1, 2))


def _double(array: Array) -> Array:
    return array * 2


@ATTENTION.planted(VIT)
def class_token_twice(draft: Draft) -> None:
    """The class token is twice as large as it should be."""
    draft.change("cls", _double)


@ATTENTION.planted(BERT, sequence=128, batch=2, least=1e-4)
def softmax_keeps_the_largest_hundred(draft: Draft) -> None:
    """Attention leaves out shares below a thousandth."""
    value = draft.find("Softmax").output[0]
    draft.after(value, lambda was: draft.op("Mul", was, draft.op(
        "Cast", draft.op("Greater", was, 1e-3), to=F32)))  # fmt: skip
