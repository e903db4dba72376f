from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

from burnish.feeds.make import make

BERT = """
<ir_version: 10, opset_import: ["" : 20]>
bert (int64[batch, sequence] input_ids, int64[batch, sequence] attention_mask,
      int64[batch, sequence] token_type_ids) => (float[batch, sequence, 2] y)
{
    words = Constant<value = float[3, 2] {1, 2, 3, 4, 5, 6}>()
    types = Constant<value = float[2, 2] {1, 2, 3, 4}>()
    a = Gather(words, input_ids)
    b = Gather(types, token_type_ids)
    y = Add(a, b)
}
"""
DECODER = """
<ir_version: 10, opset_import: ["" : 20]>
decoder (int64[batch, sequence] input_ids, int64[batch, past_plus_sequence] attention_mask,
         int64[batch, sequence] position_ids, float[batch, 2, past, 4] past_key_values_0_key)
    => (int64[batch, sequence] y) { y = Identity(input_ids) }
"""


def model_from(text: str) -> ir.Model:
    """Return the model; ONNX text has no expressions, so these are spelled in words."""
    proto = onnx.parser.parse_model(text)
    for value in proto.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.HasField("dim_param"):
                dim.dim_param = dim.dim_param.replace("_plus_", " + ")
    return ir.from_proto(proto)


@pytest.mark.parametrize("bindings", [{}, {"batch": 5, "sequence": 3}, {"batch": 0}])
def test_made_inputs_run(bindings: dict[str, int]) -> None:
    feeds = make(model_from(BERT), bindings=bindings)
    session = onnxruntime.InferenceSession(onnx.parser.parse_model(BERT).SerializeToString())
    (y,) = session.run(None, dict(feeds.arrays))
    assert y.shape == (feeds.bindings["batch"], feeds.bindings["sequence"], 2)


def test_integers_use_the_whole_table_and_no_more() -> None:
    arrays = make(model_from(BERT), bindings={}).arrays
    assert set(arrays["input_ids"].flat) == {0, 1, 2}
    assert set(arrays["token_type_ids"].flat) == {0, 1}


def test_a_decoder_gets_a_past_and_a_mask_over_both() -> None:
    feeds = make(model_from(DECODER), bindings={"sequence": 3, "batch": 2})
    arrays = feeds.arrays
    assert arrays["attention_mask"].shape == (2, 19)
    assert arrays["position_ids"].tolist() == [[16, 17, 18]] * 2
    assert arrays["past_key_values_0_key"].shape == (2, 2, 16, 4)
    assert feeds.bindings == {"batch": 2, "sequence": 3, "past": 16}


def test_a_past_of_fixed_size_is_seen() -> None:
    text = DECODER.replace("2, past, 4", "2, 6, 4").replace("past_plus_sequence", "total")
    arrays = make(model_from(text), bindings={"sequence": 3}).arrays
    assert arrays["position_ids"].tolist() == [[6, 7, 8]]


def test_seeds_differ_and_repeat() -> None:
    first, again, other = (
        make(model_from(BERT), bindings={}, seed=seed).arrays["input_ids"] for seed in (1, 1, -2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_other_inputs_do_not_change_an_input() -> None:
    more = BERT.replace("int64[batch, sequence] attention_mask", "float[batch] extra")
    np.testing.assert_array_equal(
        make(model_from(BERT), bindings={}).arrays["input_ids"],
        make(model_from(more), bindings={}).arrays["input_ids"],
    )


def test_another_process_makes_the_same(tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(BERT), tmp_path / "m.onnx")
    program = (
        "import sys, onnx_ir as ir; from burnish.feeds.make import make;"
        "feeds = make(ir.load(sys.argv[1]), bindings={'batch': 2});"
        "print(b''.join(a.tobytes() for a in feeds.arrays.values()).hex())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "m.onnx")]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    here = make(model_from(BERT), bindings={"batch": 2}).arrays.values()
    assert found == b"".join(array.tobytes() for array in here).hex()


def test_an_index_into_another_input_stays_inside_it() -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 20]>
    g (int64[n] index, float[points, 4] hidden) => (float[n, 4] y) { y = Gather(hidden, index) }
    """
    arrays = make(model_from(text), bindings={"n": 50, "points": 3}).arrays
    assert set(arrays["index"].flat) == {0, 1, 2}


POSITIONS = """
<ir_version: 10, opset_import: ["" : 20]>
g (int64[n] index, int64[n] position_ids, float[rows, 4] hidden) => (float[n, 4] y)
{ a = Gather(hidden, index) b = Gather(hidden, position_ids) y = Add(a, b) }
"""


def test_an_index_into_a_table_without_rows_is_made_all_the_same() -> None:
    arrays = make(model_from(POSITIONS), bindings={"n": 3, "rows": 0}).arrays
    assert set(arrays["index"].flat) == {0}
    assert set(arrays["position_ids"].flat) == {0}
