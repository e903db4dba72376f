"""What inputs that were looked for show in 16 bits is repaired, as what was asked for shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.feeds.feed import Feeds
from burnish.parity.request import VerifyRequest, answer, telling_feeds
from burnish.rewrite.options import Conversion, OptimizeOptions, PrecisionRequest
from burnish.rewrite.pipeline import optimize
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study import fewer_bits
from burnish.study.conversion import Seen
from burnish.study.fewer_bits import repair_after
from burnish.study.optimize_report import OptimizeReport, RewriteRejectedError
from burnish.study.repair import Broken, Repair

MASKED = """<ir_version: 10, opset_import: ["": 20]>
masked (int64[batch, sequence] input_ids, int64[batch, sequence] attention_mask)
  => (float[batch, sequence, 16] y)
<float least = {LEAST}, float zero = {0}, float[1] scale = {1}, int64[1] one = {1}>
{ x = Gather(table, input_ids)
  seen = Cast <to = 9> (attention_mask)
  row = Unsqueeze(seen, one)
  bias = Where(row, zero, least)
  q = MatMul(x, w)
  k = Transpose <perm = [0, 2, 1]> (x)
  s = MatMul(q, k)
  scores = Mul(s, scale)
  biased = Add(scores, bias)
  p = Softmax <axis = -1> (biased)
  y = MatMul(p, x)
}"""
LOWEST = {"f32": "-3.4028235e38", "f16": "-65504.0"}
"""A score plus f32's lowest number is that number, so a row that is masked throughout is even;
a score plus f16's, in f32, still tells scores apart."""


def stored(folder: Path, lowest: str) -> StoredModel:
    """Return an attention whose masked scores get the lowest number of a type."""
    proto = onnx.parser.parse_model(MASKED.replace("LEAST", LOWEST[lowest]))
    random = np.random.default_rng(0)
    for name, shape, size in (("table", (50, 16), 1.0), ("w", (16, 16), 0.2)):
        array = (size * random.normal(size=shape)).astype(np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    path = folder / f"{lowest}.onnx"
    onnx.save(proto, path)
    return StoredModel(path, lowest)


def test_the_inputs_that_were_found_to_tell_two_models_apart_are_made_again(tmp_path: Path) -> None:
    both = VerifyRequest(stored(tmp_path, "f32"), stored(tmp_path, "f16"), budget_s=600)
    found = answer(both)
    assert [sample.kind for sample in found.telling] == ["mask with an empty row"]
    telling = telling_feeds(both, found)
    assert telling is not None
    assert telling.bindings == found.telling[0].bindings
    assert not telling.arrays["attention_mask"].any(axis=1).all()
    assert telling_feeds(replace(both, candidate=None), found) is None


@pytest.mark.parametrize("is_told", [True, False])
def test_what_only_searched_inputs_show_goes_back_to_fp32(tmp_path: Path, is_told: bool) -> None:
    model = stored(tmp_path, "f32")
    result = optimize(onnx_files.read(model.onnx))
    request = VerifyRequest(model, samples=1)
    ids = np.arange(12).reshape(2, 6)
    empty = Feeds({"input_ids": ids, "attention_mask": np.array([[1] * 6, [0] * 6])}, {})
    report = OptimizeReport(
        "m", "", tmp_path / "o.onnx", None, result.report, answer(replace(request, budget_s=0))
    )
    rejected = RewriteRejectedError("", hint="", report=report, telling=empty if is_told else None)
    options = OptimizeOptions(conversion=Conversion(numbers=PrecisionRequest("fp16")))
    found = repair_after(rejected, result.model, model, options, request, Seen())
    if not is_told:
        assert found is None
        return
    assert found is not None
    kept = {node.op_type for node in result.model.graph if node.name in found.keep}
    assert "MultiHeadAttention" in kept
    assert "Where" in kept
    assert all("which 16 bits cannot hold" in reason for reason in found.reasons.values())


def test_samples_that_agreed_do_not_lead_away_from_the_inputs_that_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Broken] = []

    def repaired(broken: Broken) -> Repair:
        tried.append(broken)
        return Repair((), {}, 1)

    monkeypatch.setattr(fewer_bits, "repaired", repaired)
    model = stored(tmp_path, "f32")
    request = VerifyRequest(model, samples=1)
    parity = answer(replace(request, budget_s=0))
    rewritten = onnx_files.read(model.onnx)
    report = OptimizeReport(
        "m", "", tmp_path / "o.onnx", None, optimize(rewritten).report, parity
    )  # fmt: skip
    telling = Feeds({"input_ids": np.zeros((1, 1)), "attention_mask": np.zeros((1, 1))}, {})
    rejected = RewriteRejectedError("", hint="", report=report, telling=telling)
    options = OptimizeOptions(conversion=Conversion(numbers=PrecisionRequest("fp16")))
    assert repair_after(rejected, rewritten, model, options, request, Seen()) is None
    assert [broken.of_tolerance for broken in tried] == [1.0, 0.5]
    assert tried[0].feeds[0] is telling
    assert tried[1].feeds[-1] is telling
