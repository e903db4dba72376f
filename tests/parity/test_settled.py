from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest

from burnish.parity.settled import settled_numbers

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'


def settled(nodes: str) -> set[str | None]:
    text = f"""{HEAD} g (float[n, 7] x, float[n] z) => (float[n, 7] y)
        <float two = {{2}}, int64[1] last = {{1}}, int64[1] first = {{0}}>
        {{ {nodes} y = Mul(x, x) }}"""
    model = ir.serde.deserialize_model(onnx.parser.parse_model(text))
    return {value.name for value in settled_numbers(model)}


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ("a = Sqrt(two)", {"a"}),
        ("a = Sqrt(two) b = Exp(a)", {"a", "b"}),
        ("s = Shape(x) d = Gather(s, last) f = Cast<to = 1>(d) r = Sqrt(f)", {"f", "r"}),
    ],
)
def test_what_comes_of_constants_and_fixed_sizes_is_settled(nodes: str, found: set[str]) -> None:
    assert settled(nodes) == found


@pytest.mark.parametrize(
    "nodes",
    [
        "a = Sqrt(z)",
        "a = Add(two, z)",
        "s = Shape(x) d = Gather(s, first) f = Cast<to = 1>(d)",
        "a = RandomNormalLike(two)",
        "a = Identity(last)",
    ],
    ids=["an input", "an input and a constant", "a free size", "chance", "whole numbers"],
)
def test_nothing_else_is(nodes: str) -> None:
    assert settled(nodes) == set()
