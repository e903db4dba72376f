"""Networks on images: a ViT, one of convolutions, windows that shift, a picture in and out."""

from __future__ import annotations

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.bases import blocks
from torture.bases.blocks import Weights
from torture.case import Base
from torture.draft import F32, I64, Draft

WIDTH, HEADS, WINDOW, SHIFT = 16, 2, 4, 2


def pictures(
    *, batch: int = 2, height: int = 32, width: int = 32, seed: int = 0
) -> dict[str, Array]:
    """Return pictures of noise."""
    random = np.random.default_rng(seed)
    return {"pixel_values": random.standard_normal((batch, 3, height, width)).astype(np.float32)}


def _block(draft: Draft, w: Weights, x: str, name: str, bias: str = "") -> str:
    """Return a transformer layer with the norm in front."""
    size = WIDTH // HEADS
    normed = blocks.layer_norm(draft, w, x, f"{name}.norm1", WIDTH)
    q, k, v = (
        blocks.heads_first(
            draft,
            blocks.linear(draft, w, normed, f"{name}.{kind}", (WIDTH, WIDTH), gain=1.5),
            HEADS,
            size,
        )
        for kind in "qkv"
    )
    mixed = blocks.attended(draft, q, k, v, size=size, bias=bias, name=name)
    x = draft.op("Add", x, blocks.linear(draft, w, mixed, f"{name}.proj", (WIDTH, WIDTH)))
    normed = blocks.layer_norm(draft, w, x, f"{name}.norm2", WIDTH)
    wide = blocks.linear(draft, w, normed, f"{name}.up", (WIDTH, 32), gain=1.5)
    grown = draft.op("Gelu", wide, out=f"{name}.gelu")
    return draft.op("Add", x, blocks.linear(draft, w, grown, f"{name}.down", (32, WIDTH)))


def _vit() -> onnx.ModelProto:
    draft = Draft()
    w = Weights(draft, seed=3)
    pixels = draft.input("pixel_values", ["batch", 3, 32, 32])
    filters = w.tensor("patch.weight", WIDTH, 3, 8, 8, gain=0.1)
    patches = draft.op("Conv", pixels, filters, w.vector("patch.bias", WIDTH), strides=[8, 8])
    rows = draft.op("Transpose", draft.op("Reshape", patches, [0, 0, -1]), perm=[0, 2, 1])
    shape = draft.op(
        "Concat", draft.op("Unsqueeze", draft.size(pixels, 0), [0]), [1], [WIDTH], axis=0
    )
    first = draft.op("Expand", w.tensor("cls", 1, 1, WIDTH), shape)
    x = draft.op("Add", draft.op("Concat", first, rows, axis=1), w.tensor("position", 17, WIDTH))
    for layer in range(2):
        x = _block(draft, w, x, f"layer.{layer}")
    normed = blocks.layer_norm(draft, w, x, "final", WIDTH)
    head = draft.op("Gather", normed, 0, axis=1)
    logits = blocks.linear(draft, w, head, "head", (WIDTH, 10))
    draft.output(logits, "logits", ["batch", 10])
    draft.output(normed, "last_hidden_state", ["batch", 17, WIDTH])
    return draft.finish()


def _normalised(draft: Draft, w: Weights, x: str, name: str, channels: int) -> str:
    random = np.random.default_rng(len(name))
    variance = w.put(f"{name}.var", random.uniform(0.5, 2.0, channels))
    return draft.op(
        "BatchNormalization",
        x,
        w.vector(f"{name}.weight", channels, around=1.0),
        w.vector(f"{name}.bias", channels),
        w.vector(f"{name}.mean", channels),
        variance,
        epsilon=1e-5,
        out=f"{name}.out",
    )


def _conv() -> onnx.ModelProto:
    draft = Draft()
    w = Weights(draft, seed=4)
    pixels = draft.input("pixel_values", ["batch", 3, "height", "width"])
    x = draft.op(
        "Conv",
        pixels,
        w.tensor("stem.weight", 8, 3, 3, 3, gain=0.2),
        w.vector("stem.bias", 8),
        pads=[0, 0, 1, 1],
        strides=[2, 2],
        out="stem.out",
    )
    x = draft.op("Relu", _normalised(draft, w, x, "bn1", 8))
    x = draft.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], out="pooled")
    x = draft.op(
        "Conv",
        x,
        w.tensor("wide.weight", 8, 8, 3, 3, gain=0.12),
        w.vector("wide.bias", 8),
        dilations=[2, 2],
        pads=[2, 2, 2, 2],
        out="wide.out",
    )
    x = draft.op("LeakyRelu", _normalised(draft, w, x, "bn2", 8), alpha=0.1)
    x = draft.op(
        "Conv",
        x,
        w.tensor("depth.weight", 8, 1, 3, 3, gain=0.3),
        w.vector("depth.bias", 8),
        group=8,
        pads=[1, 1, 1, 1],
        out="depth.out",
    )
    x = draft.op("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=0)
    features = draft.op("HardSwish", x, out="features.inner")
    pooled = draft.op("Flatten", draft.op("GlobalAveragePool", features))
    logits = draft.op(
        "Gemm", pooled, w.tensor("head.weight", 10, 8), w.vector("head.bias", 10), transB=1
    )
    draft.output(logits, "logits", ["batch", 10])
    draft.output(features, "features", ["batch", 8, "h", "w"])
    return draft.finish()


def _windows() -> onnx.ModelProto:
    """Return one layer of attention in windows of 4 × 4, shifted by 2, over patches of 4 × 4."""
    draft = Draft()
    w = Weights(draft, seed=5)
    pixels = draft.input("pixel_values", ["batch", 3, "height", "width"])
    filters = w.tensor("patch.weight", WIDTH, 3, 4, 4, gain=0.15)
    grid = draft.op("Conv", pixels, filters, w.vector("patch.bias", WIDTH), strides=[4, 4])
    grid = draft.op("Transpose", grid, perm=[0, 2, 3, 1], out="grid")
    rows, columns = draft.size(grid, 1), draft.size(grid, 2)
    down, right = (_missing(draft, size) for size in (rows, columns))
    pads = draft.op("Concat", [0], [0], [0], [0], [0], down, right, [0], axis=0, out="pads")
    padded = draft.op("Pad", grid, pads)
    rolled = _rolled(draft, padded, SHIFT, "forth")
    high, wide = draft.size(rolled, 1), draft.size(rolled, 2)
    near = draft.op("Add", w.tensor("relative", HEADS, 16, 16, gain=0.5), _apart(draft, high, wide))
    bias = draft.op("Tile", near, _shape(draft, draft.size(pixels, 0), 1, 1, 1), out="window_bias")
    x = _block(draft, w, _cut(draft, rolled, high, wide), "window", bias)
    back = _rolled(draft, _joined(draft, x, high, wide), -SHIFT, "back")
    ends = draft.op(
        "Concat", draft.op("Unsqueeze", rows, [0]), draft.op("Unsqueeze", columns, [0]), axis=0
    )
    whole = draft.op("Slice", back, [0, 0], ends, [1, 2], out="whole")
    logits = blocks.linear(
        draft, w, draft.op("ReduceMean", whole, [1, 2], keepdims=0), "head", (WIDTH, 10)
    )
    draft.output(logits, "logits", ["batch", 10])
    draft.output(whole, "tokens", ["batch", "rows", "columns", WIDTH])
    return draft.finish()


def _missing(draft: Draft, size: str) -> str:
    """Return how many rows a size lacks to be full windows."""
    rest = draft.op("Mod", size, WINDOW)
    return draft.op("Unsqueeze", draft.op("Mod", draft.op("Sub", WINDOW, rest), WINDOW), [0])


def _rolled(draft: Draft, x: str, by: int, name: str) -> str:
    """Return x with its first `by` rows and columns moved behind the last ones."""
    for axis in (1, 2):
        head = draft.op("Slice", x, [0], [by], [axis], out=f"{name}.head{axis}")
        tail = draft.op("Slice", x, [by], [2**31], [axis], out=f"{name}.tail{axis}")
        x = draft.op("Concat", tail, head, axis=axis, out=f"{name}.rolled{axis}")
    return x


def _apart(draft: Draft, high: str, wide: str) -> str:
    """Return (windows, 1, 16, 16): -100 between tokens that only the shift brought together."""
    regions = []
    for size in (high, wide):
        steps = draft.op("Range", 0, size, 1)
        passed = [
            draft.op("Cast", draft.op("GreaterOrEqual", steps, draft.op("Sub", size, edge)), to=I64)
            for edge in (WINDOW, SHIFT)
        ]
        regions.append(draft.op("Add", *passed))
    rows = draft.op("Unsqueeze", draft.op("Mul", regions[0], 3), [1])
    region = draft.op("Add", rows, draft.op("Unsqueeze", regions[1], [0]), out="regions")
    four = draft.op("Unsqueeze", draft.op("Cast", region, to=F32), [0, 3])
    flat = draft.op("Squeeze", _cut(draft, four, high, wide), [2])
    other = draft.op("Sub", draft.op("Unsqueeze", flat, [1]), draft.op("Unsqueeze", flat, [2]))
    differ = draft.op("Not", draft.op("Equal", other, 0.0))
    return draft.op("Unsqueeze", draft.op("Where", differ, -100.0, 0.0), [1], out="apart")


def _cut(draft: Draft, x: str, high: str, wide: str) -> str:
    """Return the windows of (batch, high, wide, channels): (batch · windows, 16, channels)."""
    down, right = draft.op("Div", high, WINDOW), draft.op("Div", wide, WINDOW)
    depth = draft.size(x, 3)
    split = _shape(draft, -1, down, WINDOW, right, WINDOW, depth)
    ordered = draft.op("Transpose", draft.op("Reshape", x, split), perm=[0, 1, 3, 2, 4, 5])
    return draft.op("Reshape", ordered, _shape(draft, -1, WINDOW * WINDOW, depth))


def _joined(draft: Draft, x: str, high: str, wide: str) -> str:
    down, right = draft.op("Div", high, WINDOW), draft.op("Div", wide, WINDOW)
    split = _shape(draft, -1, down, right, WINDOW, WINDOW, WIDTH)
    ordered = draft.op("Transpose", draft.op("Reshape", x, split), perm=[0, 1, 3, 2, 4, 5])
    return draft.op("Reshape", ordered, _shape(draft, -1, high, wide, WIDTH), out="joined")


def _shape(draft: Draft, *sizes: str | int) -> str:
    parts = [
        [size] if isinstance(size, int) else draft.op("Unsqueeze", size, [0]) for size in sizes
    ]
    return draft.op("Concat", *parts, axis=0)


def _restored() -> onnx.ModelProto:
    """Return a picture doubled in size, as a network for super-resolution does it."""
    draft = Draft()
    w = Weights(draft, seed=6)
    pixels = draft.input("pixel_values", ["batch", 3, "height", "width"])
    framed = draft.op("Pad", pixels, [0, 0, 2, 2, 0, 0, 2, 2], mode="reflect", out="framed")
    x = draft.op(
        "Conv",
        framed,
        w.tensor("first.weight", 12, 3, 5, 5, gain=0.12),
        w.vector("first.bias", 12),
        out="first.out",
    )
    x = draft.op("PRelu", x, w.put("slope", np.linspace(0.05, 0.4, 12).reshape(12, 1, 1)))
    detail = draft.op("DepthToSpace", x, blocksize=2, mode="CRD", out="detail")
    large = draft.op(
        "Resize",
        pixels,
        "",
        np.asarray([1, 1, 2, 2], np.float32),
        mode="linear",
        coordinate_transformation_mode="half_pixel",
        out="large",
    )
    small = draft.op(
        "Resize",
        large,
        "",
        np.asarray([1, 1, 0.5, 0.5], np.float32),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
        out="small",
    )
    picture = draft.op("Clip", draft.op("Add", detail, large), -8.0, 8.0, out="clipped")
    draft.output(picture, "picture", ["batch", 3, "h2", "w2"])
    draft.output(small, "preview", ["batch", 3, "h1", "w1"])
    return draft.finish()


_SQUARE = ({}, {"batch": 1, "height": 64, "width": 64})
VIT = Base("vit", _vit, pictures, ({}, {"batch": 1}))
CONV = Base("conv", _conv, pictures, _SQUARE)
WINDOWS = Base("windows", _windows, pictures, _SQUARE)
RESTORED = Base("restored", _restored, pictures, _SQUARE)
