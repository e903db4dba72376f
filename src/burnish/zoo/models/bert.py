"""BERT, the encoder that most fusions were first written for."""

from __future__ import annotations

from functools import partial

from burnish.zoo.entry import ENCODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL, encoder, pooled_encoder

IDEA = "Devlin et al. 2018, arXiv:1810.04805; Apache-2.0"
INPUTS = "input_ids, attention_mask, token_type_ids: i64[batch, sequence]"


def _sizes(hidden: int, layers: int, heads: int) -> dict[str, int]:
    return {
        "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "intermediate_size": 4 * hidden,
    }  # fmt: skip


def _build(sizes: dict[str, int], options: NetworkOptions) -> BuiltModel:
    architecture = Architecture("BertConfig", "BertModel", sizes, SMALL)
    return pooled_encoder(architecture, options, has_segments=True)


def _build_tagger(options: NetworkOptions) -> BuiltModel:
    sizes = _sizes(128, 2, 4) | {"vocab_size": 1000, "max_position_embeddings": 128}
    architecture = Architecture(
        "BertConfig", "BertForTokenClassification", sizes, SMALL, fixed={"num_labels": 9}
    )
    return encoder(architecture, options, has_segments=True, output_names=("logits",))


register(
    ModelEntry(
        name="bert-tiny",
        family="text",
        summary="2 layers of 128: exports in seconds and has every pattern of its big sisters",
        parameters=4_385_920,
        inputs=INPUTS,
        idea=IDEA,
        build=partial(_build, _sizes(128, 2, 2)),
        understands=ENCODER,
    )
)
register(
    ModelEntry(
        name="bert-mini",
        family="text",
        summary="the bundled example: a tagger of 2 layers with a small vocabulary and 9 labels",
        parameters=542_601,
        inputs=INPUTS,
        idea=IDEA,
        build=_build_tagger,
        understands=ENCODER,
    )
)
register(
    ModelEntry(
        name="bert-base",
        family="text",
        summary="12 layers of 768: the usual yardstick for attention, LayerNorm and Gelu fusions",
        parameters=109_482_240,
        inputs=INPUTS,
        idea=IDEA,
        build=partial(_build, _sizes(768, 12, 12)),
        understands=ENCODER,
    )
)
register(
    ModelEntry(
        name="bert-large",
        family="text",
        summary="24 layers of 1024: compute-bound, 1.3 GB of weights",
        parameters=335_141_888,
        inputs=INPUTS,
        idea=IDEA,
        build=partial(_build, _sizes(1024, 24, 16)),
        understands=ENCODER,
    )
)
