from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

from burnish.store import runtime_limits


def test_a_model_at_the_limits_runs_and_one_above_does_not() -> None:
    limits = runtime_limits.installed()
    text = (
        '<ir_version: {}, opset_import: ["" : {}]> g (float[1] x) => (float[1] y) {{ y = Abs(x) }}'
    )
    accepted = onnx.parser.parse_model(text.format(limits.ir_version, limits.opset))
    session = onnxruntime.InferenceSession(accepted.SerializeToString())
    assert session.run(None, {"x": np.array([-2], np.float32)})[0].tolist() == [2]
    refused = onnx.parser.parse_model(text.format(limits.ir_version + 1, limits.opset))
    with pytest.raises(Exception, match="Unsupported model IR version"):
        onnxruntime.InferenceSession(refused.SerializeToString())
