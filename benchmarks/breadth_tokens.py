"""Networks of tokens in the style of published ones, each for a mechanism that others lack.

Each function returns a module with seeded weights and its inputs, at batch 1, as `networks` does.
Those that take steps have their past as inputs, and give it back longer, flattened into one tensor.
"""

from __future__ import annotations

from typing import Any

import torch
from networks import Built, published, seeded
from torch import Tensor, nn
from torch.nn import functional


def tokens(length: int, words: int = 1000) -> tuple[Tensor, ...]:
    """Return one row of tokens."""
    return (torch.randint(3, words, (1, length)),)


def configured(network: str, configuration: str, **settings: Any) -> nn.Module:  # noqa: ANN401
    """Return a network of `transformers` as it is, by its names there."""
    import transformers

    config = getattr(transformers, configuration)(**settings)
    found: nn.Module = getattr(transformers, network)(config)
    return found


class Stepping(nn.Module):
    """A decoder of `transformers` with a past: keys and values of all layers in one tensor."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, given: Tensor, past: Tensor) -> Tensor:
        """Return logits, keys and values of the new tokens, in one row for each sample."""
        import transformers

        layers = [(each[:, 0], each[:, 1]) for each in past.unbind(1)]
        cache = transformers.DynamicCache(layers)
        found = self.network(given, past_key_values=cache, use_cache=True)
        new = given.shape[1]
        parts = [found.logits.flatten(1)]
        for layer in found.past_key_values.layers:
            parts += [layer.keys[:, :, -new:].flatten(1), layer.values[:, :, -new:].flatten(1)]
        return torch.cat(parts, 1)


def stepping(
    network: str, configuration: str, seen: int, new: int, **settings: Any,  # noqa: ANN401
) -> Built:  # fmt: skip
    """Return a decoder of four layers with so many tokens seen, and what it is given."""
    common = {
        "vocab_size": 8192, "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 4,
        "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 64,
        "attn_implementation": "sdpa", "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    }  # fmt: skip
    made = configured(network, configuration, **{**common, **settings})
    config: Any = made.config
    shape = (1, config.num_hidden_layers, 2, config.num_key_value_heads, seen, config.head_dim)
    return Stepping(made), (*tokens(new), 0.5 * torch.randn(shape))


@seeded
def llama_step() -> Built:
    """Return a step of a Llama of four layers behind 512 tokens."""
    return stepping("LlamaForCausalLM", "LlamaConfig", 512, 1)


@seeded
def llama_chunk() -> Built:
    """Return a Llama of four layers that reads 128 tokens behind 256."""
    return stepping("LlamaForCausalLM", "LlamaConfig", 256, 128)


@seeded
def qwen3_step() -> Built:
    """Return a step of a Qwen3: queries and keys are normalised by head."""
    return stepping("Qwen3ForCausalLM", "Qwen3Config", 512, 1)


@seeded
def gemma3_step() -> Built:
    """Return a step of a Gemma 3: windows, norms on both sides of each part."""
    return stepping(
        "Gemma3ForCausalLM", "Gemma3TextConfig", 384, 1, sliding_window=256,
        layer_types=["sliding_attention", "full_attention"] * 2,
    )  # fmt: skip


@seeded
def mixtral_step() -> Built:
    """Return a step of a Mixtral of four experts, of which each token asks two."""
    return stepping(
        "MixtralForCausalLM", "MixtralConfig", 256, 1, num_local_experts=4, intermediate_size=1024,
        experts_implementation="batched_mm",
    )  # fmt: skip


@seeded
def llama_prefill() -> Built:
    """Return a Llama of four layers that reads 512 tokens."""
    return published(
        "LlamaForCausalLM", "LlamaConfig", vocab_size=8192, hidden_size=1024,
        intermediate_size=2816, num_hidden_layers=4, num_attention_heads=16, num_key_value_heads=4,
        use_cache=False,
    ), tokens(512)  # fmt: skip


@seeded
def deberta() -> Built:
    """Return DeBERTa-v3 of four layers: scores by content and by distance, both ways."""
    return published(
        "DebertaV2Model", "DebertaV2Config", num_hidden_layers=4, vocab_size=8192,
        relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=256,
        max_relative_positions=-1, share_att_key=True, norm_rel_ebd="layer_norm", hidden_size=768,
        num_attention_heads=12, intermediate_size=3072,
    ), tokens(128)  # fmt: skip


@seeded
def xlnet() -> Built:
    """Return XLNet of four layers: scores by distance are shifted against each other."""
    return published(
        "XLNetModel", "XLNetConfig", n_layer=4, d_model=768, n_head=12, d_inner=3072,
        vocab_size=8192,
    ), tokens(128)  # fmt: skip


@seeded
def fnet() -> Built:
    """Return FNet of four layers: spectra over tokens and channels instead of attention."""
    return published(
        "FNetModel", "FNetConfig", num_hidden_layers=4, vocab_size=8192,
        max_position_embeddings=128, tpu_short_seq_length=128,
    ), tokens(128)  # fmt: skip


@seeded
def mamba() -> Built:
    """Return Mamba of two layers on 64 tokens: a recurrence with chosen steps."""
    return published(
        "MambaModel", "MambaConfig", num_hidden_layers=2, hidden_size=512, vocab_size=8192,
        use_cache=False,
    ), tokens(64)  # fmt: skip


@seeded
def rwkv() -> Built:
    """Return RWKV of two layers on 32 tokens: sums that fade, kept finite by their largest."""
    return published(
        "RwkvModel", "RwkvConfig", num_hidden_layers=2, hidden_size=512, vocab_size=8192,
        use_cache=False, attention_hidden_size=512,
    ), tokens(32)  # fmt: skip


@seeded
def perceiver() -> Built:
    """Return Perceiver: 64 latents that look at 512 tokens."""
    return published(
        "PerceiverModel", "PerceiverConfig", d_model=256, d_latents=512, num_latents=64,
        num_self_attends_per_block=4,
    ), (torch.randn(1, 512, 256),)  # fmt: skip


class Retention(nn.Module):
    """RetNet's parallel form: scores fade with distance, no softmax, norms by head."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.gate = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm = nn.GroupNorm(heads, width)
        self.heads = heads

    def forward(self, given: Tensor) -> Tensor:
        """Return the same shape."""
        inside = self.before(given)
        split = self.qkv(inside).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        places = torch.arange(given.shape[1], device=given.device)
        apart = (places[:, None] - places).to(given.dtype)
        numbers = torch.arange(self.heads, device=given.device).to(given.dtype)
        decay = torch.log1p(-torch.exp2(-5 - numbers))[:, None, None] * apart
        fading = torch.exp(decay).masked_fill(apart < 0, 0.0)
        scores = split[0] @ split[1].transpose(-1, -2) * split.shape[-1] ** -0.5 * fading
        mixed = (scores @ split[2]).transpose(1, 2).flatten(2)
        mixed = self.norm(mixed.flatten(0, 1)).unflatten(0, given.shape[:2])
        given = given + self.out(functional.silu(self.gate(inside)) * mixed)
        inside = self.between(given)
        found: Tensor = given + self.narrow(functional.gelu(self.wide(inside)))
        return found


@seeded
def retnet() -> Built:
    """Return RetNet of four layers on 256 tokens."""
    embedding = nn.Embedding(8192, 512)
    return nn.Sequential(embedding, *(Retention(512, 8) for _ in range(4))), tokens(256)


class Answering(nn.Module):
    """T5's decoder, one token behind a past, looking at what was encoded."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, given: Tensor, past: Tensor, seen: Tensor) -> Tensor:
        """Return logits; keys and values of `past` and `seen` are by layer."""
        import transformers

        caches = [
            transformers.DynamicCache([(n[:, 0], n[:, 1]) for n in each.unbind(1)])
            for each in (past, seen)
        ]
        cache = transformers.EncoderDecoderCache(*caches)
        for layer in range(past.shape[1]):
            cache.is_updated[layer] = True
        mask = torch.ones(given.shape[0], seen.shape[4], dtype=torch.long, device=given.device)
        encoded = seen[:, 0, 0, 0, :, :1].expand(-1, -1, 512)
        found: Tensor = self.network(
            decoder_input_ids=given, encoder_outputs=(encoded,), attention_mask=mask,
            past_key_values=cache, use_cache=True,
        ).logits  # fmt: skip
        return found


@seeded
def t5_step() -> Built:
    """Return a step of T5-small's decoder behind 64 tokens, with 128 encoded."""
    made = configured("T5ForConditionalGeneration", "T5Config", vocab_size=8192)
    past = 0.5 * torch.randn(1, 6, 2, 8, 64, 64)
    return Answering(made), (*tokens(1), past, 0.5 * torch.randn(1, 6, 2, 8, 128, 64))
