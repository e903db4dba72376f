from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.study.check_feeds import CheckSample
from burnish.study.check_meaning import PartMeaning

PART = """<ir_version: 10, opset_import: ["" : 20]>
g (float[n, 7] x, float[7, 3] w) => (float[n, 3] old, float[n, 3] new) <int64[1] last = {1}> {
    s = Shape(x)  d = Gather(s, last)  f = Cast<to = 1>(d)  r = Sqrt(f)  q = Reciprocal(r)
    m = MatMul(x, w)  old = Mul(m, q)
    new = Gemm<alpha = ALPHA>(x, w)
}"""


@pytest.mark.parametrize(("alpha", "same"), [("0.37796447", True), ("0.377965", False)])
def test_a_number_that_follows_from_a_fixed_size_may_be_stored_but_only_as_rounded(
    alpha: str, same: bool
) -> None:
    proto = onnx.parser.parse_model(PART.replace("ALPHA", alpha))
    random = np.random.default_rng(0)
    arrays = {"x": random.standard_normal((5, 7)), "w": random.standard_normal((7, 3))}
    sample = CheckSample("plain", {"n": 5}, {k: v.astype(np.float32) for k, v in arrays.items()})
    with PartMeaning(ir.serde.deserialize_model(proto), ["old"], ["new"], []) as meaning:
        assert (meaning.difference([sample]) == "") is same
