"""Windows and cuts, with steps or without: what they give is as long as the runtime says."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.infer.shapes import infer
from burnish.operators.size import Quotient, Sum, add, named
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


def value_of(size: object, length: int) -> int:
    """Return a size that is a sum, or a quotient of one, as a number."""
    if isinstance(size, int):
        return size
    assert isinstance(size, Sum)
    total = 0
    for product, count in size.terms:
        for key, power in product:
            known = (
                value_of(key.dividend, length) // key.divisor
                if isinstance(key, Quotient)
                else {"length": length}[str(key)]
            )
            count *= known**power
        total += count
    return total


def test_a_last_window_that_may_begin_in_the_padding_is_not_followed() -> None:
    found, _ = followed("MaxPool", kernel_shape=[2], strides=[2], pads=[0, 1], ceil_mode=1)
    assert isinstance(found, Sum)
    with pytest.raises(KeyError):
        value_of(found, 9)


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(1, 4),
    step=st.integers(1, 4),
    spread=st.integers(1, 2),
    pads=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    pool=st.booleans(),
    up=st.booleans(),
)
def test_the_runtime_gives_what_was_followed(
    width: int, step: int, spread: int, pads: tuple[int, int], pool: bool, up: bool
) -> None:
    shared: dict[str, object] = {"kernel_shape": [width], "dilations": [spread], "strides": [step]}
    within = [min(each, width - 1) for each in pads] if pool else list(pads)
    if pool and up and not any(within) and step <= spread * (width - 1) + 1:
        shared["ceil_mode"] = 1
    weights = () if pool else (samples(3, 2, width),)
    found, model = followed("MaxPool" if pool else "Conv", *weights, pads=within, **shared)
    for length in (8, 9, 11):
        (result,) = run(model, {"x": samples(1, 2, length)})
        assert value_of(found, length) == result.shape[-1]


@pytest.mark.parametrize("how", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_padding_that_is_found_by_itself_is_followed_with_steps(how: str) -> None:
    found, model = followed("MaxPool", kernel_shape=[3], strides=[2], auto_pad=how)
    for length in (8, 9):
        (result,) = run(model, {"x": samples(1, 2, length)})
        assert value_of(found, length) == result.shape[-1]


@settings(max_examples=40, deadline=None)
@given(start=st.integers(0, 3), end=st.sampled_from([-1, 2**62]), step=st.integers(1, 4))
def test_every_nth_of_an_axis_is_followed(start: int, end: int, step: int) -> None:
    ends = [np.array([number], np.int64) for number in (start, end, 2, step)]
    found, model = followed("Slice", *ends)
    try:
        known = value_of(found, 9)
    except KeyError:  # what may be empty is not followed
        return
    (result,) = run(model, {"x": samples(1, 2, 9)})
    assert known == result.shape[-1]
