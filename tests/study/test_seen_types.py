from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.study.seen_types import tell_types


def test_only_what_is_unknown_is_told() -> None:
    unknown, known, unseen = (ir.Value(name=name) for name in "abc")
    known.type, known.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(["n"])
    tell_types([unknown, known, unseen], {"a": np.zeros((2, 3), np.int64), "b": np.zeros(5)})
    assert (unknown.dtype, unknown.shape) == (ir.DataType.INT64, ir.Shape([2, 3]))
    assert (known.dtype, known.shape) == (ir.DataType.FLOAT, ir.Shape(["n"]))
    assert unseen.type is None
