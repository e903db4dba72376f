from __future__ import annotations

import numpy as np
import pytest

from burnish.tile.channels_last import layouts
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.index import at
from burnish.tile.parse import parse
from burnish.tile.semantics import NestBuilder, axes_for


def images(shape: tuple[int, ...], dtype: str = "f32") -> TileGraph:
    """Return a chain of copies, so that all but the last are internal."""
    builder = NestBuilder({"x": TensorType(dtype, shape)}, {})
    source = "x"
    for number in range(2):
        axes = axes_for(shape)
        source = builder.view(f"t{number}", source, [at(axis) for axis in axes], axes)
    return TileGraph(builder.tensors, ("x",), ("t1",), tuple(builder.ops))


@pytest.mark.parametrize(
    ("shape", "is_last"),
    [
        ((1, 96, 14, 14), True),
        ((1, 96, 31, 31), True),
        ((1, 96, 32, 32), False),
        ((1, 24, 14, 14), False),
        ((1, 96, 1, 1), False),
        ((96, 14, 14), False),
    ],
)
def test_small_images_with_whole_vectors_of_channels_lie_channels_last(
    shape: tuple[int, ...], is_last: bool
) -> None:
    assert layouts(images(shape), lanes=16) == ({"t0": (0, 2, 3, 1)} if is_last else {})


def chain(shape: tuple[int, ...], read: tuple[str, ...]) -> TileGraph:
    """Return a copy of `x`, and a sum of its products with constants, as its text says."""
    axes = ", ".join(f"i{place}={extent}" for place, extent in enumerate(shape))
    place = ", ".join(f"i{place}" if extent > 1 else "0" for place, extent in enumerate(shape))
    text = [
        f"in x: f32[{', '.join(map(str, shape))}]",
        "const w: f32[4, 4]",
        "const v: f32[8, 32, 3]",
        "out y",
        f"t: f32[{axes}] = x[{place}] * 2.0",
        *read,
    ]
    return parse(
        "\n".join(text), {"w": np.zeros((4, 4), np.float32), "v": np.zeros((8, 32, 3), np.float32)}
    )


def test_an_image_that_one_matrix_takes_apart_for_all_channels_lies_channels_last() -> None:
    shape = (1, 32, 64, 64)
    whole = "y: f32[n=1, p=4, x=64, c=32] = sum(a=4) t[0, c, a, x] * w[p, a]"
    assert layouts(chain(shape, (whole,)), lanes=16) == {"t": (0, 2, 3, 1)}


def test_an_image_that_is_put_together_so_lies_channels_last_too() -> None:
    made = "z: f32[n=1, k=64, r=64, x=4] = sum(q=4) t[0, r, q, k] * w[x, q]"
    last = "y: f32[n=1, k=64, r=64, x=4] = z[0, k, r, x] + 1.0"
    assert layouts(chain((1, 64, 4, 64), (made, last)), lanes=16) == {"z": (0, 2, 3, 1)}


@pytest.mark.parametrize(("step", "found"), [(2, {"t": (0, 2, 1)}), (1, {})])
def test_a_sequence_that_is_read_in_steps_lies_channels_last(
    step: int, found: dict[str, tuple[int, ...]]
) -> None:
    there = f"{step}*l + a" if step > 1 else "l + a"
    read = f"y: f32[n=1, k=8, l=40] = sum(c=32, a=3) t[0, c, {there}] * v[k, c, a]"
    assert layouts(chain((1, 32, 100), (read,)), lanes=16) == found


def test_images_of_bytes_lie_so_whatever_their_rows() -> None:
    assert layouts(images((1, 96, 112, 112), "u8"), lanes=16) == {"t0": (0, 2, 3, 1)}
    assert layouts(images((1, 24, 112, 112), "u8"), lanes=16) == {}


@pytest.mark.parametrize(
    ("dtype", "channels", "found"),
    [("u8", 32, {"t": (0, 2, 1)}), ("u8", 24, {}), ("i8", 32, {})],
)
def test_a_sequence_of_bytes_whose_channels_are_summed_lies_so_however_it_is_read(
    dtype: str, channels: int, found: dict[str, tuple[int, ...]]
) -> None:
    text = f"""in x: {dtype}[1, {channels}, 100]
const v: i8[8, {channels}, 3]
out y
t: {dtype}[n=1, c={channels}, l=100] = x[0, c, l]
y: i32[n=1, k=8, l=98] = sum(c={channels}, a=3) i32(t[0, c, l + a]) * i32(v[k, c, a])"""
    graph = parse(text, {"v": np.zeros((8, channels, 3), np.int8)})
    assert layouts(graph, lanes=16) == found
