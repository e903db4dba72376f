"""BERT as TensorFlow's and Keras's exporters write it, without TensorFlow."""

from __future__ import annotations

import dataclasses
from functools import partial

import onnx_ir as ir

from burnish.zoo.entry import (
    BuiltModel,
    Choice,
    ModelEntry,
    NetworkOptions,
    Spelling,
    register,
)
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL, pooled_encoder

IDEA = "Devlin et al. 2018, arXiv:1810.04805; Apache-2.0; graphs written here"
SIZES = {
    "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512,
}  # fmt: skip
FOLLOWS: frozenset[Choice] = frozenset({"layers", "sequence"})


def _build(activation: str, options: NetworkOptions) -> BuiltModel:
    fixed = {"hidden_act": activation, "layer_norm_eps": 1e-12}
    architecture = Architecture("BertConfig", "BertModel", SIZES, SMALL, fixed=fixed)
    return pooled_encoder(architecture, options, has_segments=True)


def _tf2onnx(built: BuiltModel) -> ir.Model:
    from burnish.zoo.spelled.bert import write_bert
    from burnish.zoo.spelled.tf2onnx_bert import Tf2OnnxStyle

    return write_bert(built, Tf2OnnxStyle())


def _keras(built: BuiltModel) -> ir.Model:
    from burnish.zoo.spelled.bert import write_bert
    from burnish.zoo.spelled.keras_bert import KerasStyle

    return write_bert(built, KerasStyle())


TF = ModelEntry(
    name="bert_tf",
    family="text",
    summary="BERT-tiny as tf2onnx spells it: other forms of LayerNorm, Gelu and attention to fuse",
    parameters=4_385_920,
    inputs="input_ids, attention_mask, token_type_ids: i64[batch, sequence]",
    idea=IDEA,
    build=partial(_build, "gelu_new"),
    understands=FOLLOWS,
    spelling=Spelling("tf2onnx-style", _tf2onnx),
)
register(TF)
register(
    dataclasses.replace(
        TF,
        name="bert_keras",
        summary="BERT-tiny as keras2onnx spells it: attention by Einsum, Gelu by Erf and Sqrt",
        build=partial(_build, "gelu"),
        spelling=Spelling("keras2onnx-style", _keras),
    )
)
