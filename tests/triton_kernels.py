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

SOURCES = {
    "double": TritonSource("double", DOUBLE, ("f32", "f32"), warps=4, stages=1),
    "waiting": TritonSource("waiting", WAITING, ("f32", "f32"), warps=4, stages=1),
    "spilling": TritonSource("spilling", SPILLING, ("f32", "f32"), warps=1, stages=1),
}


@cache
def built(name: str, architecture: str) -> BuiltCubin:
    """Return a kernel as machine code."""
    pytest.importorskip("triton")
    (found,) = build([SOURCES[name]], architecture)
    assert isinstance(found, BuiltCubin), found
    return found
