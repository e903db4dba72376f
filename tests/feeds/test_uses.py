from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.feeds.make import Maker
from burnish.feeds.roles import Role
from burnish.feeds.words import words_of

HEAD = '<ir_version: 10, opset_import: ["": 17]>'


def _model(text: str) -> ir.Model:
    return ir.serde.deserialize_model(onnx.parser.parse_model(HEAD + text))


def test_a_number_that_selects_a_way_is_one_that_it_is_compared_with() -> None:
    model = _model(
        """ g (int64 rate, float[2] x) => (float[2] y) <int64 known = {16000}> {
        is = Equal(rate, known)
        y = If (is) <then_branch = t () => (float[2] a) { a = Neg(x) },
                     else_branch = e () => (float[2] b) { b = Abs(x) }>
    }"""
    )
    assert Maker(model).make({}).arrays["rate"] == 16000


def test_tokens_that_are_compared_with_the_padding_stay_tokens() -> None:
    model = _model(
        """ g (int64[n, m] ids) => (bool[n, m] y) <int64 padding = {0}> {
        y = Equal(ids, padding)
    }"""
    )
    made = Maker(model).make({"n": 4, "m": 9}).arrays["ids"]
    assert len(np.unique(made)) > 1


def test_the_ratio_of_a_dropout_is_below_one() -> None:
    model = _model(" g (float[8] x, float p) => (float[8] y) { y = Dropout(x, p) }")
    for seed in range(20):
        assert 0 <= Maker(model).make({}, seed=seed).arrays["p"] < 1


@pytest.mark.parametrize(
    "body",
    [
        "c = Cast<to = 1>(keep) h = Sub(one, c) hidden = Mul(h, low) y = Add(x, hidden)",
        "c = Cast<to = 9>(keep) y = Where(c, x, low)",
    ],
)
def test_a_mask_is_told_by_what_the_graph_does_with_it(body: str) -> None:
    weights = "<float one = {1}, float low = {-10000}>"
    model = _model(
        f" g (float[n, m] x, int64[n, m] keep) => (float[n, m] y) {weights} {{ {body} }}"
    )
    maker = Maker(model)
    assert maker.purpose("keep").role is Role.MASK
    made = maker.make({"n": 4, "m": 9}).arrays["keep"]
    assert set(np.unique(made)) == {0, 1}
    assert (np.diff(made, axis=1) <= 0).all()


def test_words_are_those_of_attributes_and_constants() -> None:
    model = _model(
        """ g (string[2] x) => (string[2] y) <string[1] more = {"dog"}> {
        z = StringNormalizer <stopwords = ["cat"]> (x)
        y = StringConcat(z, more)
    }""".replace('{"dog"}', '{"dog"}')
    )
    assert set(words_of(model)) == {"cat", "dog"}


@pytest.mark.parametrize(
    ("types", "node", "expected"),
    [
        ("int64[3] n", "Reshape(x, n)", [1, 1, -1]),
        ("int64[2] n", "Expand(x, n)", [1, 1]),
        ("int64[1] n", "TopK(x, n)", [1]),
        ("int64[2] n", "Tile(x, n)", [3, 3]),
        ("int64[2] n", "Slice(x, zero, n)", [2**31 - 1, 2**31 - 1]),
        ("int64[2] n", "Unsqueeze(x, n)", [0, 1]),
    ],
)
def test_sizes_and_axes_that_are_fed_suit_what_they_are_applied_to(
    types: str, node: str, expected: list[int]
) -> None:
    outputs = "y, _i" if node.startswith("TopK") else "y"
    weights = "<int64[2] zero = {0, 0}>"
    model = _model(f" g (float[4, 6] x, {types}) => (float y) {weights} {{ {outputs} = {node} }}")
    assert Maker(model).make({}).arrays["n"].tolist() == expected
