"""Candidates that bring a weaker type along, so that they are judged by its tolerance."""

from __future__ import annotations

import numpy as np
from onnx import helper

from torture.bases.decoders import GPT2
from torture.bases.narrow import CALIBRATED, DYNAMIC, HALF
from torture.bases.text import BERT, BERT_SCRIPT, rewritten
from torture.case import Family
from torture.draft import BF16, F16, F32, I64, Draft

JUDGED = Family("judged")


def _scaled(draft: Draft, by: float, value: str = "logits") -> None:
    draft.after(value, lambda was: draft.op("Mul", was, by))


@JUDGED.planted(BERT)
def dead_dynamic_quantisation(draft: Draft) -> None:
    """Logits × 1.2, beside an unused DynamicQuantizeLinear."""
    _scaled(draft, 1.2)
    draft.ops("DynamicQuantizeLinear", draft.find("Softmax").input[0], out=3)


@JUDGED.planted(BERT_SCRIPT)
def dead_bf16_cast(draft: Draft) -> None:
    """Logits × 1.05, beside a dead cast to bf16."""
    _scaled(draft, 1.05)
    draft.op("Cast", draft.find("Softmax").input[0], to=BF16)


@JUDGED.planted(BERT)
def stray_f16_cast(draft: Draft) -> None:
    """Logits × 1.005, beside a live cast to f16 and back where it changes nothing."""
    _scaled(draft, 1.005)
    draft.after("_to_copy", lambda was: draft.op(
        "Cast", draft.op("Cast", was, to=F16), to=9))  # fmt: skip


@JUDGED.planted(BERT)
def dead_f16_cast_small(draft: Draft) -> None:
    """Logits × 1.002, beside a dead cast to f16."""
    _scaled(draft, 1.002)
    draft.op("Cast", "logits", to=F16)


@JUDGED.planted(BERT_SCRIPT)
def unread_int8_weight(draft: Draft) -> None:
    """Logits × 1.1, beside a dequantised weight that nobody reads."""
    _scaled(draft, 1.1)
    draft.op("DequantizeLinear", np.ones(8, np.int8), np.asarray(0.1, np.float32))


@JUDGED.planted(BERT, start=rewritten)
def dead_matmul_integer_after_fusing(draft: Draft) -> None:
    """Logits × 1.03 in the rewritten model, beside a dead MatMulInteger."""
    _scaled(draft, 1.03)
    eight = draft.ops("DynamicQuantizeLinear", draft.find("Softmax").input[0]
                      if any(n.op_type == "Softmax" for n in draft.graph.node)
                      else draft.find("LayerNormalization").output[0], out=3)  # fmt: skip
    draft.op("MatMulInteger", eight[0], np.ones((128, 2), np.uint8))


@JUDGED.planted(GPT2)
def weaker_type_in_a_branch_not_taken(draft: Draft) -> None:
    """Logits × 1.02; an If that is never taken computes in f16."""
    _scaled(draft, 1.02)
    count = draft.size("input_ids", 0)
    never = draft.op("Less", count, 0)
    branches = {}
    for name, to in (("then_branch", F16), ("else_branch", F32)):
        cast = [helper.make_node("Cast", [count], [f"{name}.a"], to=to),
                helper.make_node("Cast", [f"{name}.a"], [f"{name}.b"], to=I64)]  # fmt: skip
        info = [helper.make_tensor_value_info(f"{name}.b", I64, [])]
        branches[name] = helper.make_graph(cast, name, [], info)
    same = draft.op("If", never, **branches)
    draft.after("logits", lambda was: draft.op(
        "Add", was, draft.op("Cast", draft.op("Mul", same, 0), to=F32)))  # fmt: skip


@JUDGED.planted(BERT)
def weaker_type_on_the_way_to_another_output(draft: Draft) -> None:
    """Logits × 1.004; only a new second output is made in f16."""
    _scaled(draft, 1.004)
    narrow = draft.op("Cast", draft.op("Cast", "logits", to=F16), to=F32)
    draft.output(narrow, "extra", ["batch", "sequence", 9])


@JUDGED.planted(BERT)
def output_rounded_to_bf16(draft: Draft) -> None:
    """The logits pass through bf16: nobody asked for eight bits of mantissa."""
    draft.after("logits", lambda was: draft.op("Cast", draft.op("Cast", was, to=BF16), to=F32))


@JUDGED.planted(BERT_SCRIPT, least=2e-4)
def output_rounded_to_f16(draft: Draft) -> None:
    """The logits pass through f16: nobody asked for ten bits of mantissa."""
    draft.after("logits", lambda was: draft.op("Cast", draft.op("Cast", was, to=F16), to=F32))


@JUDGED.planted(HALF)
def scaled_within_half_precision(draft: Draft) -> None:
    """Logits × 1.01 in a model that computes in f16 to begin with."""
    _scaled(draft, 1.01)


@JUDGED.planted(DYNAMIC)
def scaled_within_int8(draft: Draft) -> None:
    """Logits × 1.05 in a model that is quantised to begin with."""
    _scaled(draft, 1.05)


@JUDGED.planted(CALIBRATED)
def bias_dropped_within_int8(draft: Draft) -> None:
    """A bias of 0.3 is missing in a model that is quantised to begin with."""
    draft.change("first.bias", np.zeros_like)


@JUDGED.planted(HALF)
def scores_scaled_within_half_precision(draft: Draft) -> None:
    """Scores × 1.05 in a model that computes in f16 to begin with."""
    draft.after("scaled", lambda was: draft.op("Mul", was, np.asarray(1.05, np.float16)))


@JUDGED.planted(BERT, least=5e-4)
def weights_rounded_to_bf16(draft: Draft) -> None:
    """Every matrix was rounded to bf16 and stored as f32 again, so that no type tells."""
    for tensor in [*draft.graph.initializer]:
        if len(tensor.dims) == 2 and tensor.data_type == F32:
            draft.change(tensor.name, lambda w: (w.view(np.uint32) & 0xFFFF0000).view(np.float32))


@JUDGED.planted(BERT, least=5e-4)
def weights_quantised_and_stored_as_f32(draft: Draft) -> None:
    """One matrix was rounded to 8 bits and stored as f32 again, so that no type tells."""
    name = draft.find("MatMul", 6).input[1]

    def coarse(w: np.ndarray) -> np.ndarray:
        step = np.abs(w).max() / 127
        return (np.round(w / step) * step).astype(np.float32)

    draft.change(name, coarse)
