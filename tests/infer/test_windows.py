"""Windows that move by one step: what they give is as long as the runtime says."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.infer.shapes import infer
from burnish.operators.size import add, named
from burnish.rewrite.facts import Facts
from rewriting import Graph, run, samples

LENGTH = named("length")


def followed(op_type: str, *weights: np.ndarray, **attributes: object) -> tuple[object, ir.Model]:
    g = Graph()
    result = g.op(op_type, g.input("x", ["batch", 2, "length"]), *weights, **attributes)
    model = g.model(result)
    return (infer(Facts(model)).of(result) or ())[-1], model


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"kernel_shape": [5], "pads": [2, 2]}, LENGTH),
        ({"kernel_shape": [5]}, add(LENGTH, -4)),
        ({"kernel_shape": [5], "auto_pad": "SAME_UPPER"}, LENGTH),
        ({"kernel_shape": [5], "auto_pad": "VALID"}, add(LENGTH, -4)),
        ({"kernel_shape": [3], "dilations": [2], "pads": [2, 2]}, LENGTH),
    ],
)
def test_convolutions_are_followed(attributes: dict[str, list[int]], expected: object) -> None:
    width = attributes["kernel_shape"][0]
    assert followed("Conv", samples(3, 2, width), **attributes)[0] == expected


def test_steps_are_not_followed() -> None:
    found, _ = followed("MaxPool", kernel_shape=[2], strides=[2])
    assert found not in (LENGTH, add(LENGTH, -1))


@settings(max_examples=30, deadline=None)
@given(
    width=st.integers(1, 4),
    spread=st.integers(1, 2),
    before=st.integers(0, 3),
    after=st.integers(0, 3),
    pool=st.booleans(),
)
def test_the_runtime_gives_what_was_followed(
    width: int, spread: int, before: int, after: int, pool: bool
) -> None:
    length = 9
    shared = {"kernel_shape": [width], "dilations": [spread]}
    pads = [min(before, width - 1), min(after, width - 1)] if pool else [before, after]
    weights = () if pool else (samples(3, 2, width),)
    found, model = followed("MaxPool" if pool else "Conv", *weights, pads=pads, **shared)
    (result,) = run(model, {"x": samples(1, 2, length)})
    assert found == add(LENGTH, result.shape[-1] - length)
