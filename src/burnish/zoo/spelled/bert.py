"""BERT's graph, with the parts that frameworks spell differently left to a style."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.zoo.entry import BuiltModel
from burnish.zoo.spelled.writer import ModelWriter


@dataclass(frozen=True, slots=True)
class Sizes:
    """What must be known of a BERT beside its weights."""

    hidden: int
    heads: int
    layers: int
    epsilon: float

    @property
    def head(self) -> int:
        """Return the size of one head."""
        return self.hidden // self.heads


class Weights:
    """The weights of a PyTorch BERT, as arrays."""

    def __init__(self, built: BuiltModel) -> None:
        state = built.module.model.state_dict()
        self._arrays: dict[str, Array] = {
            name: tensor.float().numpy() for name, tensor in state.items()
        }

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def kernel(self, name: str) -> Array:
        """Return a linear layer's weight input-first, as TensorFlow stores it."""
        return np.ascontiguousarray(self._arrays[f"{name}.weight"].T)


@dataclass(frozen=True, slots=True)
class NormWeights:
    """The names of a layer norm's weights, and its epsilon."""

    gamma: str
    beta: str
    epsilon: float


class Style(Protocol):
    """How one exporter spells the parts of BERT."""

    opset: int
    producer: str
    rank: int
    """Of the hidden states between layers."""

    def embeddings(self, write: ModelWriter, weights: Weights, sizes: Sizes) -> str:
        """Return the sum of the three embeddings, before its norm."""

    def mask(self, write: ModelWriter) -> str:
        """Return what is added to attention scores."""

    def norm(self, write: ModelWriter, x: str, rank: int, weights: NormWeights) -> str:
        """Return the layer norm of `x`, which has `rank` axes, over the last one."""

    def enter(self, write: ModelWriter, x: str, sizes: Sizes) -> str:
        """Return the embeddings as layers take them."""

    def gelu(self, write: ModelWriter, x: str) -> str:
        """Return the activation."""

    def dense(self, write: ModelWriter, x: str, weights: Weights, name: str) -> str:
        """Return a linear layer of `x`."""

    def attention(self, write: ModelWriter, x: str, mask: str, part: AttentionWeights) -> str:
        """Return the heads' answers side by side, before the output layer."""

    def finish(self, write: ModelWriter, x: str, sizes: Sizes) -> str:
        """Return the hidden states with batch and sequence as axes of their own."""


@dataclass(frozen=True, slots=True)
class AttentionWeights:
    """Where the weights of one layer's attention are, and its sizes."""

    weights: Weights
    name: str
    sizes: Sizes


def write_bert(built: BuiltModel, style: Style) -> ir.Model:
    """Return the graph of a `BertModel` in a style; it computes what the module computes."""
    config = built.module.model.config
    sizes = Sizes(
        hidden=config.hidden_size,
        heads=config.num_attention_heads,
        layers=config.num_hidden_layers,
        epsilon=config.layer_norm_eps,
    )
    weights, write = Weights(built), ModelWriter(opset=style.opset, producer=style.producer)
    mask = style.mask(write)
    x = style.embeddings(write, weights, sizes)
    norm = _norm_weights(write, weights, "embeddings.LayerNorm", sizes)
    x = style.enter(write, style.norm(write, x, 3, norm), sizes)
    for index in range(sizes.layers):
        x = _layer(write, style, weights, f"encoder.layer.{index}", x, mask, sizes)
    hidden = style.finish(write, x, sizes)
    first = write.op("Gather", hidden, write.weight("first", np.array(0, np.int64)), axis=1)
    kernel = write.weight("pooler/kernel", weights.kernel("pooler.dense"))
    pooled = write.op("MatMul", first, kernel)
    bias = write.weight("pooler/bias", weights["pooler.dense.bias"])
    pooled = write.op("Tanh", write.op("Add", pooled, bias))
    names = built.output_names
    return write.model(
        built.input_names,
        {
            names[0]: (hidden, ["batch", "sequence", sizes.hidden]),
            names[1]: (pooled, ["batch", sizes.hidden]),
        },
    )


def _layer(  # noqa: PLR0913, PLR0917  (what a layer is made of)
    write: ModelWriter, style: Style, weights: Weights, name: str, x: str, mask: str, sizes: Sizes
) -> str:
    part = AttentionWeights(weights, f"{name}.attention.self", sizes)
    heads = style.attention(write, x, mask, part)
    answer = style.dense(write, heads, weights, f"{name}.attention.output.dense")
    attended = write.op("Add", answer, x)
    norm = _norm_weights(write, weights, f"{name}.attention.output.LayerNorm", sizes)
    attended = style.norm(write, attended, style.rank, norm)
    inner = style.dense(write, attended, weights, f"{name}.intermediate.dense")
    outer = style.dense(write, style.gelu(write, inner), weights, f"{name}.output.dense")
    added = write.op("Add", outer, attended)
    norm = _norm_weights(write, weights, f"{name}.output.LayerNorm", sizes)
    return style.norm(write, added, style.rank, norm)


def _norm_weights(write: ModelWriter, weights: Weights, name: str, sizes: Sizes) -> NormWeights:
    gamma = write.weight(f"{name}/gamma", weights[f"{name}.weight"])
    beta = write.weight(f"{name}/beta", weights[f"{name}.bias"])
    return NormWeights(gamma, beta, sizes.epsilon)
