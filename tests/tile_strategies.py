"""Random small tile-graphs, for the laws of scheduling."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from burnish.tile.graph import TileGraph
from tile_samples import Sketch

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no reason to fail."""


@st.composite
def chains(draw: st.DrawFn, steps: int = 4) -> TileGraph:
    """Draw a graph of image operators whose nests all lead to its one output."""
    size = st.integers(2, 5)
    sketch = Sketch(x=(1, 2 * draw(st.integers(1, 2)), draw(size), draw(size)))
    values = ["x"]
    for _ in range(draw(st.integers(1, steps))):
        values.append(_step(draw, sketch, values))
    return sketch.graph(values[-1])


def _step(draw: st.DrawFn, sketch: Sketch, values: list[str]) -> str:
    latest = values[-1]
    shape = sketch.shape(latest)
    kinds = ["relu", "depthwise", "convolution", "norm", "transpose", "reshape"]
    kinds += ["gate"] if shape[1] % 2 == 0 else []
    partners = [value for value in values if sketch.shape(value) == shape]
    kinds += ["add"] if len(partners) > 1 else []
    match draw(st.sampled_from(kinds)):
        case "relu":
            return sketch.relu(latest)
        case "depthwise":
            return sketch.depthwise(latest)
        case "convolution":
            return sketch.convolution(
                latest, draw(st.integers(2, 4)), draw(st.sampled_from([1, 3]))
            )
        case "norm":
            return sketch.channel_norm(latest)
        case "transpose":
            return sketch.transpose(latest, draw(st.permutations(range(4))))
        case "reshape":
            batch, channels, height, width = shape
            return sketch.reshape(latest, (batch, channels * height, 1, width))
        case "gate":
            return sketch.gate(latest)
        case _:
            return sketch.pointwise("add", latest, draw(st.sampled_from(partners)))


@st.composite
def tiles(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Draw a tile of this shape, of any size that fits."""
    return tuple(draw(st.integers(1, max(extent, 1))) for extent in shape)
