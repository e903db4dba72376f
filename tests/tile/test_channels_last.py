from __future__ import annotations

import pytest

from burnish.tile.channels_last import layouts
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.index import at
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


def test_images_of_bytes_lie_so_whatever_their_rows() -> None:
    assert layouts(images((1, 96, 112, 112), "u8"), lanes=16) == {"t0": (0, 2, 3, 1)}
    assert layouts(images((1, 24, 112, 112), "u8"), lanes=16) == {}
