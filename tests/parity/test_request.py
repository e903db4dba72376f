from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from burnish.engines import loading
from burnish.parity.request import ODD_SIZES, VerifyRequest, answer
from burnish.store.layout import stored
from burnish.store.stored import StoredModel

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'


def write(path: Path, text: str) -> StoredModel:
    onnx.save(onnx.parser.parse_model(f"{HEAD} {text}"), path)
    return stored(path)


MASKED = """g (float[batch, seq] x, int64[batch, seq] attention_mask) => (float[batch, seq] y)
    <float low = {-1e9}, int64 one = {1}>
    { keep = Equal(attention_mask, one)  s = Where(keep, x, low)  y = Softmax(s) }"""


def test_the_default_samples_find_a_dropped_mask(tmp_path: Path) -> None:
    reference = write(tmp_path / "masked.onnx", MASKED)
    dropped = write(tmp_path / "dropped.onnx", MASKED.replace("Softmax(s)", "Softmax(x)"))
    report = answer(VerifyRequest(reference, dropped, bisect=True))
    assert not report.passed
    assert report.bisection is not None
    assert report.bisection.culprit is not None
    assert report.bisection.culprit.tensor == "y"


def test_static_models_have_no_second_shape(tmp_path: Path) -> None:
    model = write(tmp_path / "m.onnx", "g (float[2, 3] x) => (float[2, 3] y) { y = Tanh(x) }")
    assert len(answer(VerifyRequest(model, samples=2)).samples) == 2


def test_dimensions_of_pictures_keep_their_size(tmp_path: Path) -> None:
    text = """g (float[batch, 3, height, width] pixels) => (float[batch, 3, h, w] y)
        { y = MaxPool<kernel_shape = [32, 32]>(pixels) }"""
    report = answer(VerifyRequest(write(tmp_path / "m.onnx", text), samples=1))
    assert dict(report.samples[-1].bindings) == {
        "batch": ODD_SIZES["batch"], "height": 224, "width": 224,
    }  # fmt: skip


def test_models_of_gigabytes_are_given_fewer_tokens_unless_more_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "g (float[batch, seq] x) => (float[batch, seq] y) { y = Tanh(x) }"
    model = write(tmp_path / "m.onnx", text)
    monkeypatch.setattr(loading, "_LARGE_BYTES", 0)
    asked = [VerifyRequest(model), VerifyRequest(model, shapes=({"seq": 100},))]
    tokens = [answer(request).samples[0].bindings["seq"] for request in asked]
    assert tokens == [32, 100]


@pytest.mark.parametrize("seed", [0, 5])
def test_equal_requests_have_equal_answers(tmp_path: Path, seed: int) -> None:
    model = write(tmp_path / "masked.onnx", MASKED)
    request = VerifyRequest(model, seed=seed)
    assert answer(request) == answer(request)
    assert answer(request).passed


def test_text_is_the_same_as_a_constant_and_as_what_a_node_gives(tmp_path: Path) -> None:
    whole = 'g () => (string[2] y) { c = Constant <value_strings = ["a", "b"]> () y = Identity(c) }'
    bare = 'g () => (string[2] y) { y = Constant <value_strings = ["a", "b"]> () }'
    models = (write(tmp_path / f"{n}.onnx", text) for n, text in (("whole", whole), ("bare", bare)))
    assert answer(VerifyRequest(*models, budget_s=5)).passed
