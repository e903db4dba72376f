"""Small kernels in Triton, and what they compile to."""

from __future__ import annotations

from functools import cache

import pytest

from burnish.cuda.build import build
from burnish.cuda.kernel import BuiltCubin, TritonSource

_HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"

DOUBLE = f"""{_HEAD}def double(x, y):
    place = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(y + place, 2 * tl.load(x + place))
"""

WAITING = f"""{_HEAD}def waiting(x, y):
    tl.extra.cuda.gdc_wait()
    tl.extra.cuda.gdc_launch_dependents()
    place = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(y + place, 2 * tl.load(x + place))
"""

SPILLING = f"""{_HEAD}def spilling(x, y):
    place = tl.arange(0, 64)[:, None] * 256 + tl.arange(0, 256)[None, :]
    values = tl.load(x + place)
    tl.store(y + place, values / tl.sum(values, 1)[:, None])
"""

WINDOW = f"""{_HEAD}def window(x, w, y):
    n = tl.arange(0, 64)
    m = tl.program_id(0) * 128 + tl.arange(0, 128)
    total = tl.zeros([128, 64], dtype=tl.float32)
    for step in range(3):
        k = step * 64 + tl.arange(0, 64)
        down = ((m[:, None] // 56) % 56) * 4 + k[None, :] // 21
        right = (m[:, None] % 56) * 4 + (k[None, :] // 3) % 7
        inside = (k[None, :] < 147) & (down >= 2) & (down < 226) & (right >= 2) & (right < 226)
        place = (m[:, None] // 3136) * 150528 + (k[None, :] % 3) * 50176 + down * 224 + right - 450
        left = tl.load(x + place, mask=inside, other=0)
        side = tl.load(w + k[:, None] * 64 + n[None, :], mask=k[:, None] < 147, other=0)
        total = tl.dot(left, side, total)
    tl.store(y + m[:, None] * 64 + n[None, :], total.to(tl.float16))
"""
"""A convolution whose places LLVM computes in pairs of 16-bit integers."""

SOURCES = {
    "double": TritonSource("double", DOUBLE, ("f32", "f32"), warps=4, stages=1),
    "waiting": TritonSource("waiting", WAITING, ("f32", "f32"), warps=4, stages=1),
    "window": TritonSource("window", WINDOW, ("f16", "f16", "f16"), warps=4, stages=3),
    "spilling": TritonSource("spilling", SPILLING, ("f32", "f32"), warps=1, stages=1),
}


@cache
def built(name: str, architecture: str) -> BuiltCubin:
    """Return a kernel as machine code."""
    pytest.importorskip("triton")
    (found,) = build([SOURCES[name]], architecture)
    assert isinstance(found, BuiltCubin), found
    return found
