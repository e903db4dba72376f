"""Encoders of text: ids and a mask in, hidden states out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from burnish.zoo.entry import ENCODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import TOKENS, Architecture
from burnish.zoo.text import SMALL, encoder, pooled_encoder

_reader = partial(
    ModelEntry,
    family="text",
    inputs="input_ids, attention_mask: i64[batch, sequence]",
    understands=ENCODER,
)
_reader_of_pairs = partial(
    _reader, inputs="input_ids, attention_mask, token_type_ids: i64[batch, sequence]"
)
_bert = partial(_reader_of_pairs, idea="Devlin et al. 2018, arXiv:1810.04805; Apache-2.0")


def _sizes(hidden: int, layers: int, heads: int) -> Mapping[str, int]:
    return {
        "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "intermediate_size": 4 * hidden,
    }  # fmt: skip


def _build_bert(sizes: Mapping[str, int], options: NetworkOptions) -> BuiltModel:
    architecture = Architecture("BertConfig", "BertModel", sizes, SMALL)
    return pooled_encoder(architecture, options, has_segments=True)


BERT_TAGGER = Architecture(
    "BertConfig",
    "BertForTokenClassification",
    {**_sizes(128, 2, 4), "vocab_size": 1000, "max_position_embeddings": 128},
    SMALL,
    fixed={"num_labels": 9},
)
ROBERTA = Architecture(
    "RobertaConfig",
    "RobertaModel",
    {
        "vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1,
        "layer_norm_eps": 1e-5,
    },
    SMALL,
    fixed={"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
)  # fmt: skip
ALBERT = Architecture(
    "AlbertConfig",
    "AlbertModel",
    {**_sizes(768, 12, 12), "embedding_size": 128},
    {**SMALL, "embedding_size": 32},
)
ELECTRA = Architecture("ElectraConfig", "ElectraModel", {}, {**SMALL, "embedding_size": 32})
DISTILBERT = Architecture(
    "DistilBertConfig",
    "DistilBertModel",
    {},
    {
        "vocab_size": 131, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 112,
        "max_position_embeddings": 64,
    },
    layers=("n_layers",),
)  # fmt: skip
CLIP_TEXT = Architecture("CLIPTextConfig", "CLIPTextModel", {}, SMALL, fixed=TOKENS)
T5 = Architecture(
    "T5Config",
    "T5EncoderModel",
    {},
    {
        "vocab_size": 131, "d_model": 64, "d_kv": 16, "d_ff": 112, "num_layers": 2, "num_heads": 4,
        "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
    },
    layers=("num_layers",),
)  # fmt: skip


def _build_t5(options: NetworkOptions) -> BuiltModel:
    import torch

    built = encoder(T5, options)
    with torch.no_grad():
        for name, parameter in built.module.named_parameters():
            if name.endswith("SelfAttention.q.weight"):
                # trained T5 has the usual 1/√size in these weights: the graph does not divide
                parameter.mul_(built.module.model.config.d_kv**-0.5)
    return built


register(
    _bert(
        name="bert-tiny",
        summary="2 layers of 128: exports in seconds and has every pattern of its big sisters",
        parameters=4_385_920,
        build=partial(_build_bert, _sizes(128, 2, 2)),
    ),
    _bert(
        name="bert-mini",
        summary="the bundled example: a tagger of 2 layers with a small vocabulary and 9 labels",
        parameters=542_601,
        build=partial(encoder, BERT_TAGGER, has_segments=True, output_names=("logits",)),
    ),
    _bert(
        name="bert-base",
        summary="12 layers of 768: the usual yardstick for attention, LayerNorm and Gelu fusions",
        parameters=109_482_240,
        build=partial(_build_bert, _sizes(768, 12, 12)),
    ),
    _bert(
        name="bert-large",
        summary="24 layers of 1024: compute-bound, 1.3 GB of weights",
        parameters=335_141_888,
        build=partial(_build_bert, _sizes(1024, 24, 16)),
    ),
    _reader(
        name="roberta",
        summary="12 layers of 768: position ids are counted inside the graph (CumSum)",
        parameters=124_645_632,
        idea="Liu et al. 2019, arXiv:1907.11692; MIT",
        build=partial(pooled_encoder, ROBERTA),
    ),
    _reader_of_pairs(
        name="albert",
        summary="12 layers of 768 that share one set of weights, which a careless tool copies",
        parameters=11_683_584,
        idea="Lan et al. 2019, arXiv:1909.11942; Apache-2.0",
        build=partial(pooled_encoder, ALBERT, has_segments=True),
    ),
    _reader_of_pairs(
        name="electra",
        summary="12 layers of 256, the small size: a projection after the embeddings",
        parameters=13_483_008,
        idea="Clark et al. 2020, arXiv:2003.10555; Apache-2.0",
        build=partial(encoder, ELECTRA, has_segments=True),
    ),
    _reader(
        name="distilbert",
        summary="6 layers of 768: the usual small encoder in production; only ids and mask go in",
        parameters=66_362_880,
        idea="Sanh et al. 2019, arXiv:1910.01108; Apache-2.0",
        build=partial(encoder, DISTILBERT),
    ),
    _reader(
        name="clip-text",
        summary="12 layers of 512, beside ViT-B/32: quick Gelu, a causal mask, a pooled token",
        parameters=63_165_952,
        idea="Radford et al. 2021, arXiv:2103.00020; MIT",
        build=partial(pooled_encoder, CLIP_TEXT, second_side="after-first"),
    ),
    _reader(
        name="t5-encoder",
        summary="6 layers of 512, the small size: a learned bias per distance of tokens",
        parameters=35_330_816,
        idea="Raffel et al. 2019, arXiv:1910.10683; Apache-2.0",
        build=_build_t5,
    ),
)
