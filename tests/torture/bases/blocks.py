"""Layers as exporters spell them, for the models that are written here."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.draft import Draft


class Weights:
    """Seeded weights, each with a name that says where it belongs."""

    def __init__(self, draft: Draft, seed: int) -> None:
        """Put weights into `draft`."""
        self._draft = draft
        self._random = np.random.default_rng(seed)

    def matrix(self, name: str, rows: int, columns: int, *, gain: float = 1.0) -> str:
        """Return a matrix that keeps the magnitude of what is multiplied by it, times `gain`."""
        scale = gain / np.sqrt(rows)
        return self.put(name, scale * self._random.standard_normal((rows, columns)))

    def vector(self, name: str, size: int, *, around: float = 0.0, spread: float = 0.2) -> str:
        """Return numbers around one value."""
        return self.put(name, around + spread * self._random.standard_normal(size))

    def tensor(self, name: str, *shape: int, gain: float = 1.0) -> str:
        """Return normal numbers of any shape."""
        return self.put(name, gain * self._random.standard_normal(shape))

    def put(self, name: str, array: Array) -> str:
        """Return the name of a constant in single precision."""
        return self._draft.constant(array.astype(np.float32), name)


def linear(draft: Draft, w: Weights, x: str, name: str, sizes: tuple[int, int],
           *, gain: float = 1.0, bias: bool = True) -> str:  # fmt: skip
    """Return x·W + b."""
    product = draft.op("MatMul", x, w.matrix(f"{name}.weight", *sizes, gain=gain))
    if not bias:
        return product
    return draft.op("Add", product, w.vector(f"{name}.bias", sizes[1]), out=f"{name}.out")


def layer_norm(draft: Draft, w: Weights, x: str, name: str, size: int) -> str:
    """Return the normalised x."""
    scale = w.vector(f"{name}.weight", size, around=1.0)
    shift = w.vector(f"{name}.bias", size)
    return draft.op("LayerNormalization", x, scale, shift, epsilon=1e-5, axis=-1, out=f"{name}.out")


def rms_norm(draft: Draft, w: Weights, x: str, name: str, size: int) -> str:
    """Return x over its root mean square, spelled out."""
    squared = draft.op("Mul", x, x)
    mean = draft.op("ReduceMean", squared, [-1], keepdims=1)
    inverse = draft.op("Reciprocal", draft.op("Sqrt", draft.op("Add", mean, 1e-6)))
    scale = w.vector(f"{name}.weight", size, around=1.0)
    return draft.op("Mul", draft.op("Mul", x, inverse), scale, out=f"{name}.out")


def heads_first(draft: Draft, x: str, heads: int, size: int, out: str = "") -> str:
    """Return (batch, heads, sequence, size) of (batch, sequence, heads · size)."""
    split = draft.op("Reshape", x, [0, 0, heads, size])
    return draft.op("Transpose", split, perm=[0, 2, 1, 3], out=out)


def attended(draft: Draft, q: str, k: str, v: str, *, size: int, bias: str, name: str) -> str:
    """Return softmax(q·kᵀ / √size + bias)·v, heads joined again."""
    scores = draft.op("MatMul", q, draft.op("Transpose", k, perm=[0, 1, 3, 2]))
    scaled = draft.op("Mul", scores, float(1 / np.sqrt(size)), out=f"{name}.scaled")
    masked = draft.op("Add", scaled, bias, out=f"{name}.masked") if bias else scaled
    shares = draft.op("Softmax", masked, axis=-1, out=f"{name}.shares")
    mixed = draft.op("MatMul", shares, v, out=f"{name}.mixed")
    return draft.op("Reshape", draft.op("Transpose", mixed, perm=[0, 2, 1, 3]), [0, 0, -1])


def gelu_tanh(draft: Draft, x: str) -> str:
    """Return GELU as GPT-2 has it."""
    cube = draft.op("Mul", draft.op("Mul", x, x), x)
    inner = draft.op("Add", x, draft.op("Mul", cube, 0.044715))
    grown = draft.op(
        "Add", draft.op("Tanh", draft.op("Mul", inner, float(np.sqrt(2 / np.pi)))), 1.0
    )
    return draft.op("Mul", draft.op("Mul", x, grown), 0.5)


def silu(draft: Draft, x: str) -> str:
    """Return x · sigmoid(x)."""
    return draft.op("Mul", x, draft.op("Sigmoid", x))
