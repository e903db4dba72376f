from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from burnish.rewrite import kernels

INT32 = TensorProto.INT32
MS = "com.microsoft"

# (domain, operator): inputs (a shape; a type and a shape; None: left out), attributes, opset
Spec = tuple[list[object], Mapping[str, object], int]
NODES: Mapping[tuple[str, str], Spec] = {
    (MS, "Attention"): ([(2, 4, 8), (8, 24), (24,)], {"num_heads": 2}, 17),
    (MS, "MultiHeadAttention"): ([(2, 4, 8)] * 3, {"num_heads": 2}, 17),
    (MS, "BiasGelu"): ([(2, 8), (8,)], {}, 17),
    (MS, "FusedMatMul"): ([(2, 8), (8, 4)], {"alpha": 0.5}, 17),
    (MS, "FusedGemm"): ([(2, 8), (8, 4), (4,)], {"activation": "Relu"}, 17),
    (MS, "FusedConv"): ([(1, 4, 8, 8), (4, 4, 3, 3)], {"activation": "Relu"}, 17),
    (MS, "GroupQueryAttention"): (
        [(2, 4, 16), (2, 4, 16), (2, 4, 16), None, None, (INT32, (2,)), (INT32, ())],
        {"num_heads": 2, "kv_num_heads": 2},
        17,
    ),
    (MS, "RotaryEmbedding"): (
        [(2, 4, 16), (TensorProto.INT64, (2, 4)), (16, 4), (16, 4)],
        {"num_heads": 2, "rotary_embedding_dim": 8},
        17,
    ),
    (MS, "Gelu"): ([(2, 8)], {}, 17),
    (MS, "FastGelu"): ([(2, 8), (8,)], {}, 17),
    (MS, "QuickGelu"): ([(2, 8)], {"alpha": 1.0}, 17),
    (MS, "SkipLayerNormalization"): ([(2, 4, 8), (2, 4, 8), (8,), (8,)], {}, 17),
    (MS, "SkipSimplifiedLayerNormalization"): ([(2, 4, 8), (2, 4, 8), (8,)], {}, 17),
    (MS, "EmbedLayerNormalization"): (
        [(INT32, (2, 4)), None, (16, 8), (16, 8), None, (8,), (8,)],
        {},
        17,
    ),
    ("", "LayerNormalization"): ([(2, 8), (8,), (8,)], {}, 17),
    ("", "SimplifiedLayerNormalization"): ([(2, 8), (8,)], {}, 17),
    ("", "RMSNormalization"): ([(2, 8), (8,)], {}, 23),
    ("", "Attention"): ([(2, 2, 4, 8)] * 3, {}, 23),
    ("", "RotaryEmbedding"): ([(2, 2, 4, 8), (2, 4, 4), (2, 4, 4)], {}, 23),
    ("", "Gelu"): ([(2, 8)], {}, 20),
    ("", "GroupNormalization"): ([(2, 4, 8), (4,), (4,)], {"num_groups": 2}, 21),
    ("", "Swish"): ([(2, 8)], {}, 24),
    ("", "InstanceNormalization"): ([(2, 4, 8), (4,), (4,)], {}, 17),
}
CUDA_ONLY = frozenset(
    {"GroupNorm", "SkipGroupNorm", "BiasSplitGelu", "BiasAdd", "NhwcConv", "PackedAttention",
     "PackedMultiHeadAttention", "LongformerAttention", "RelativePositionBias"}
)  # fmt: skip
NOT_EMITTED = frozenset({"DecoderMaskedMultiHeadAttention", "SparseAttention", "MatMulNBits"})


def loads(domain: str, op_type: str, dtype: ir.DataType) -> bool:
    import onnxruntime

    inputs, attributes, opset = NODES[domain, op_type]
    names, infos = [], []
    for index, given in enumerate(inputs):
        if given is None:
            names.append("")
            continue
        typed = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], tuple)
        element, shape = given if typed else (dtype.value, given)  # type: ignore[misc]
        names.append(f"in{index}")
        infos.append(helper.make_tensor_value_info(f"in{index}", element, shape))
    outputs = ["out", "second"] if op_type == "EmbedLayerNormalization" else ["out"]
    node = helper.make_node(op_type, names, outputs, domain=domain, **attributes)
    out = helper.make_tensor_value_info("out", dtype.value, None)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)]
    graph = helper.make_graph([node], "one", infos, [out])
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    problem = ""
    try:
        onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        problem = str(error)
    assert not problem or "NOT_IMPLEMENTED" in problem or "Type Error" in problem, problem
    return not problem


@pytest.mark.parametrize("dtype", kernels.TYPES.values(), ids=str)
@pytest.mark.parametrize(("domain", "op_type"), NODES)
def test_the_cpu_table_says_what_the_runtime_does(
    domain: str, op_type: str, dtype: ir.DataType
) -> None:
    told = kernels.support(op_type, domain, dtype, "cpu")
    assert (told is not None) == loads(domain, op_type, dtype)


def test_every_row_of_the_cpu_table_is_tried_or_known_not_to_be_emitted() -> None:
    told = {(domain, op_type) for domain, op_type, _ in kernels.table("cpu").support}
    assert told - set(NODES) == {("com.microsoft", name) for name in NOT_EMITTED}


def test_operators_without_a_cpu_kernel_are_not_available_there() -> None:
    for op_type in CUDA_ONLY:
        assert kernels.available(op_type, MS, ir.DataType.FLOAT16, "cuda")
        assert not kernels.available(op_type, MS, ir.DataType.FLOAT, "cpu")


def test_an_operator_that_runs_as_its_definition_is_not_available() -> None:
    assert kernels.support("GroupNormalization", "", ir.DataType.FLOAT, "cpu") == "body"
    assert not kernels.available("GroupNormalization", "", ir.DataType.FLOAT, "cpu")


def test_grouped_query_attention_needs_a_narrow_type_on_cuda() -> None:
    assert not kernels.available("GroupQueryAttention", MS, ir.DataType.FLOAT, "cuda")
    assert kernels.available("GroupQueryAttention", MS, ir.DataType.FLOAT16, "cuda")


def test_an_unknown_type_is_never_available() -> None:
    assert not kernels.available("Gelu", "", None, "cpu")
