"""Small PyTorch modules as both of its exporters write them."""

from __future__ import annotations

import functools
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.case import Base

WIDTH, HEADS = 24, 3
NEEDS = ("torch", "onnxscript")


def rows(*, batch: int = 2, sequence: int = 7, seed: int = 0) -> dict[str, Array]:
    """Return states, and which of them are real."""
    random = np.random.default_rng(seed)
    kept = np.ones((batch, sequence), bool)
    kept[1:, sequence - sequence // 3 :] = False
    return {"x": random.standard_normal((batch, sequence, WIDTH)).astype(np.float32), "kept": kept}


def pictures(
    *, batch: int = 2, height: int = 12, width: int = 12, seed: int = 0
) -> dict[str, Array]:
    """Return pictures of noise."""
    random = np.random.default_rng(seed)
    return {"x": random.standard_normal((batch, 3, height, width)).astype(np.float32)}


@functools.cache
def _modules() -> tuple[type, type]:
    import torch
    from torch import nn

    class Layer(nn.Module):
        """Attention with rotary angles and a gated unit, as language models have."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH, eps=1e-6)
            self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
            self.gate, self.up = nn.Linear(WIDTH, 40, bias=False), nn.Linear(WIDTH, 40)
            self.down = nn.Linear(40, WIDTH)
            self.register_buffer("pace", 1 / 100 ** (torch.arange(0, 8, 2) / 8))

        def turned(self, x: Any) -> Any:  # noqa: ANN401
            angles = torch.arange(x.shape[2])[:, None] * self.pace
            cos, sin = (torch.cat([f(angles)] * 2, -1) for f in (torch.cos, torch.sin))
            first, last = x.chunk(2, -1)
            return x * cos + torch.cat((-last, first), -1) * sin

        def forward(self, x: Any, kept: Any) -> Any:  # noqa: ANN401
            y = self.first(x)
            parts = (part(y).unflatten(-1, (HEADS, -1)) for part in (self.q, self.k, self.v))
            q, k, v = (part.transpose(1, 2) for part in parts)
            scores = self.turned(q) @ self.turned(k).transpose(2, 3) / 8**0.5
            scores = scores.masked_fill(~kept[:, None, None, :], -1e9)
            y = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
            x = x + self.out(y)
            y = self.second(x)
            return x + self.down(nn.functional.gelu(self.gate(y)) * self.up(y))

    class Picture(nn.Module):
        """Convolutions with norms, dilation, a stride, pooling and a resize back."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.wide = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=2)
            self.less = nn.Conv2d(8, 12, 3, stride=2, padding=1)
            self.groups = nn.GroupNorm(3, 12)
            self.last = nn.Conv2d(12, 4, 1)

        def forward(self, x: Any) -> Any:  # noqa: ANN401
            y = nn.functional.relu6(self.norm(self.first(x)))
            y = y + nn.functional.hardswish(self.wide(y))
            y = self.groups(self.less(y))
            y = nn.functional.avg_pool2d(y, 3, stride=1, padding=1)
            y = nn.functional.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
            return torch.sigmoid(self.last(y))

    return Layer, Picture


def _exported(which: int, *, dynamo: bool) -> onnx.ModelProto:
    import torch

    torch.manual_seed(3 + which)
    network = _modules()[which]()
    for value in network.state_dict().values():
        if value.is_floating_point():
            value.add_(torch.randn_like(value).abs() * 0.2)
    network.eval()
    fed = {name: torch.from_numpy(each) for name, each in (rows, pictures)[which]().items()}
    axes = {"x": {0: "batch", 1: "sequence"}, "kept": {0: "batch", 1: "sequence"}}
    if which:
        axes = {"x": {0: "batch", 2: "height", 3: "width"}}
    common: dict[str, Any] = {"input_names": list(fed), "output_names": ["y"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not dynamo:
            held = io.BytesIO()
            torch.onnx.export(network, tuple(fed.values()), held, dynamo=False, opset_version=17,
                              dynamic_axes={**axes, "y": axes["x"]}, **common)  # fmt: skip
            return onnx.load_from_string(held.getvalue())
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "m.onnx"
            torch.onnx.export(network, tuple(fed.values()), place, dynamo=True, external_data=False,
                              dynamic_shapes=axes, verbose=False, **common)  # fmt: skip
            return onnx.load(place)


def _base(name: str, which: int, *, dynamo: bool) -> Base:
    make = functools.partial(_exported, which, dynamo=dynamo)
    plain = ({}, {"batch": 1}) if not which else ({}, {"batch": 1, "height": 16, "width": 16})
    return Base(name, make, (rows, pictures)[which], plain, NEEDS)


LAYER, LAYER_SCRIPT = (_base(f"layer-{d}", 0, dynamo=d == "dynamo") for d in ("dynamo", "script"))
PICTURE, PICTURE_SCRIPT = (
    _base(f"picture-{d}", 1, dynamo=d == "dynamo") for d in ("dynamo", "script")
)
