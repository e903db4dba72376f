"""Architectures that no rule was written for fuse whole, from what PyTorch's exporter writes.

A few of those in `benchmarks/architectures.py`, which holds the rest and exports them in all forms.
"""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import architectures
import numpy as np
import pytest

from burnish.rewrite.pipeline import RewriteResult, optimize
from burnish.store import onnx_files
from rewriting import op_types, run

pytestmark = [
    pytest.mark.torch,
    pytest.mark.slow,
    # transformers and the exporter warn about their own insides
    pytest.mark.filterwarnings("ignore"),
]
COMMON = {
    "vocab_size": 131, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 112, "max_position_embeddings": 64,
}  # fmt: skip
OWN = {"num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
EXPECTED = {
    "xlm": {"MultiHeadAttention": 2, "LayerNormalization": 5, "Gelu": 2},
    "big-bird": {"MultiHeadAttention": 2, "LayerNormalization": 5, "Gelu": 2},
    "rembert": {"MultiHeadAttention": 2, "LayerNormalization": 5, "Gelu": 2},
    "nanochat": {"SimplifiedLayerNormalization": 10, "RotaryEmbedding": 4},
    "deepseek-v3": {"MultiHeadAttention": 2, "SimplifiedLayerNormalization": 9,
                    "RotaryEmbedding": 4, "QuickGelu": 2},
}  # fmt: skip
"""What must be there; BiasGelu and FastGelu count as Gelu, Attention as MultiHeadAttention."""
AS = {"BiasGelu": "Gelu", "FastGelu": "Gelu", "Attention": "MultiHeadAttention"}


def _module(name: str) -> Any:  # noqa: ANN401  (a torch.nn.Module; torch is optional)
    import torch
    import transformers

    torch.manual_seed(0)
    if name in architectures.ENCODERS:
        stem, changes = architectures.ENCODERS[name]
        fields, kind = {**COMMON, **changes}, f"{stem}Model"
    else:
        stem, _, changes = architectures.DECODERS[name]
        fields, kind = {**COMMON, **OWN, **changes}, f"{stem}ForCausalLM"
    config = getattr(transformers, f"{stem}Config")(**fields)
    config.use_cache = False
    model = getattr(transformers, kind)(config).eval()

    class First(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            first: torch.Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask)[0]
            return first

    return First().eval()


def _exported(name: str, path: Path) -> Path:
    import torch

    inputs = (torch.ones(2, 12, dtype=torch.int64), torch.ones(2, 12, dtype=torch.int64))
    names, axes = ["input_ids", "attention_mask"], {0: "batch", 1: "sequence"}
    stream = io.BytesIO()
    torch.onnx.export(
        _module(name), inputs, stream, dynamo=False, opset_version=17, input_names=names,
        output_names=["output"], dynamic_axes=dict.fromkeys(names, axes),
    )  # fmt: skip
    path.write_bytes(stream.getvalue())
    return path


def _counts(result: RewriteResult) -> Counter[str]:
    return Counter(AS.get(op_type, op_type) for op_type in op_types(result.model))


@pytest.mark.parametrize("name", EXPECTED)
def test_an_architecture_fuses_whole_and_gives_the_same(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    model = onnx_files.read(_exported(name, tmp_path / "m.onnx"))
    result = optimize(model)
    counts = _counts(result)
    assert "Softmax" not in counts
    assert {kind: counts[kind] for kind in EXPECTED[name]} == EXPECTED[name]
    mask = np.ones((3, 9), np.int64)
    mask[1, 5:] = mask[2, :3] = 0
    ids = np.random.default_rng(0).integers(5, 131, mask.shape)
    feeds = {"input_ids": ids, "attention_mask": mask}
    (before,), (after,) = run(model, feeds), run(result.model, feeds)
    seen = mask.astype(bool)
    np.testing.assert_allclose(after[seen], before[seen], rtol=1e-3, atol=1e-4)
