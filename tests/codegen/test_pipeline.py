"""Compiling binds, rewrites and plans, and knows which nodes stand for which."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.pipeline import PlanOptions, plan, prepare, without_products
from burnish.codegen.schedule import Predicted
from burnish.core.errors import UsageError
from codegen.models import PORTABLE, mlp, model

GELU = """
gelu (float[n, 8] x) => (float[n, 8] y)
<float root = {1.4142135}, float one = {1.0}, float half = {0.5}>
{
    [divide] d = Div(x, root)
    [erf] e = Erf(d)
    [plus] p = Add(e, one)
    [times] t = Mul(x, p)
    [halve] y = Mul(t, half)
}
"""


def test_a_rewritten_node_knows_what_it_stands_for() -> None:
    prepared = prepare(model(GELU), {"n": 4})
    (node,) = prepared.model.graph
    assert node.op_type == "Gelu"
    assert set(prepared.origins[node.name or ""]) == {"divide", "erf", "plus", "times", "halve"}


def test_the_model_is_left_untouched() -> None:
    given = model(GELU)
    before = ir.to_proto(given).SerializeToString()
    prepare(given, {"n": 4})
    assert ir.to_proto(given).SerializeToString() == before


def test_an_open_size_is_named_with_the_option_that_binds_it() -> None:
    with pytest.raises(UsageError, match=r"dimension 0 \('batch'\) has no size") as found:
        prepare(mlp(), {})
    assert found.value.hint == "bind it: --shape batch=SIZE"


def test_inputs_with_a_default_are_constants() -> None:
    given = mlp()
    proto = ir.to_proto(given)
    proto.graph.input.append(onnx.helper.make_tensor_value_info("b", onnx.TensorProto.FLOAT, [16]))
    prepared = prepare(ir.serde.deserialize_model(proto), {"batch": 2})
    assert [value.name for value in prepared.model.graph.inputs] == ["x"]


def test_products_stay_with_the_library_when_asked() -> None:
    prepared = prepare(mlp(), {"batch": 2})
    kept = without_products(prepared.model)
    made = plan(prepared, PlanOptions(PORTABLE, Predicted(PORTABLE), to_ort=kept)).plan
    assert {node for step in made.ort_steps for node in step.nodes} == {"up", "down"}
    reasons = {r for step in made.ort_steps for r in step.reasons.values()}
    assert reasons == {"--skip-dot keeps matrix products with ONNX Runtime"}
    assert made.kernel_steps
    assert made.sizes == {"batch": 2}


@pytest.mark.parametrize("fusion", ["none", "element-wise", "full"])
def test_more_fusion_means_fewer_kernels(fusion: str) -> None:
    options = PlanOptions(PORTABLE, Predicted(PORTABLE, fusion), fusion)
    made = plan(prepare(mlp(), {"batch": 64}), options)
    steps = len(made.plan.kernel_steps)
    assert steps == {"none": 4, "element-wise": 2, "full": 1}[fusion]
    assert all(np.isfinite(step.predicted_s or np.nan) for step in made.plan.kernel_steps)
