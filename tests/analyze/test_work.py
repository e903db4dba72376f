from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.analyze.work import Work, combined, fused, work_of
from burnish.infer.graph_of import graph_of
from event_graphs import node, record

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g '


def counted(signature: str, body: str) -> Work | None:
    graph = graph_of(ir.from_onnx_text(f"{HEAD}{signature} {{ {body} }}"), {})
    return work_of(graph.nodes[-1], graph)


@pytest.mark.parametrize(
    ("signature", "body", "flops"),
    [
        ("(float[2,3,4] a, float[4,5] b) => (float[N,M,K] y)", "y = MatMul(a, b)", 240),
        ("(float[4,3] a, float[5,4] b, float[5] c) => (float[N,M] y)",
         "y = Gemm<transA = 1, transB = 1>(a, b, c)", (2 * 4 + 1) * 3 * 5),
        ("(float[1,4,8,8] x, float[6,2,3,3] w) => (float[N,C,H,W] y)",
         "y = Conv<group = 2>(x, w)", 2 * (2 * 9) * (6 * 6 * 6)),
        ("(float[1,4,8,8] x, float[4,6,3,3] w) => (float[N,C,H,W] y)",
         "y = ConvTranspose(x, w)", 2 * (6 * 9) * (4 * 8 * 8)),
        ("(float[2,3,4] a, float[2,4,5] b) => (float[N,M,K] y)",
         'y = Einsum<equation = "bij,bjk->bik">(a, b)', 2 * 2 * 3 * 4 * 5),
        ("(float[2,3,4] a, float[2,5,4] b) => (float[N,M,K] y)",
         'y = Einsum<equation = "...ij,...kj->...ik">(a, b)', 2 * 2 * 3 * 4 * 5),
        ("(float[2,3,4] a, float[2,5,4] b) => (float[N,M,K] y)",
         "y = com.microsoft.FusedMatMul<transB = 1>(a, b)", 2 * 2 * 3 * 4 * 5),
        ("(float[4,8] x) => (float[N,M] y)", "y = Softmax(x)", 14 * 32),
        ("(float[4,8] x) => (float[N,M] y)", "y = ReduceMean(x)", 32),
        ("(float[4,8] x) => (float[N,M] y)", "y = Erf(x)", 320),
        ("(float[4,8] x) => (float[N,M] y)", "y = Transpose(x)", 0),
        ("(float[1,2,4,4] x) => (float[N,C,H,W] y)", "y = MaxPool<kernel_shape = [2,2]>(x)", 72),
    ],
)  # fmt: skip
def test_operations_are_counted_from_shapes(signature: str, body: str, flops: float) -> None:
    found = counted(signature, body)
    assert found is not None
    assert found.flops == flops


def test_a_recurrent_layer_counts_every_gate_and_step() -> None:
    found = counted(
        "(float[5,2,3] x, float[1,16,3] w, float[1,16,4] r) => (float[A,B,C,D] y)",
        "y = LSTM<hidden_size = 4>(x, w, r)",
    )
    assert found is not None
    assert found.flops == 2 * 5 * 2 * 4 * 4 * (3 + 4)


def test_attention_counts_scores_softmax_and_sum() -> None:
    found = counted(
        "(float[1,6,8] q, float[1,6,8] k, float[1,6,8] v) => (float[N,M,K] y)",
        "y = com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v)",
    )
    assert found is not None
    assert found.flops == 2 * 6 * 6 * (8 + 8) + 14 * 2 * 6 * 6


def test_bytes_are_what_is_read_and_written_once() -> None:
    found = counted("(float[4,8] a, float16[4,8] b) => (float16[N,M] y)", "y = CastLike(a, b)")
    assert found is not None
    assert found.bytes_moved == 32 * 4 + 32 * 2 + 32 * 2
    squared = counted("(float[4,8] a) => (float[N,M] y)", "y = Mul(a, a)")
    assert squared is not None
    assert squared.bytes_moved == 2 * 32 * 4


def test_a_look_up_reads_only_what_it_gives() -> None:
    found = counted(
        "(float[1000,8] table, int64[3] i) => (float[N,M] y)", "y = Gather<axis = 0>(table, i)"
    )
    assert found is not None
    assert found.bytes_moved == 2 * 3 * 8 * 4 + 3 * 8


def test_a_view_moves_nothing() -> None:
    found = counted("(float[4,8] x) => (float[N,M] y)", "y = Flatten<axis = 0>(x)")
    assert found == Work(0.0, 0.0, "f32")
    assert found.intensity == float("inf")


def test_eight_bit_products_are_counted_as_such() -> None:
    found = counted("(uint8[4,8] a, uint8[8,2] b) => (int32[N,M] y)", "y = MatMulInteger(a, b)")
    assert found is not None
    assert (found.flops, found.dtype) == (2 * 4 * 2 * 8, "i8")


def test_what_is_not_known_is_unknown_and_not_nothing() -> None:
    assert counted("(float[4] x) => (float[N] y)", "y = com.microsoft.Odd(x)") is None
    assert counted("(float[N] x) => (float[N] y)", "y = Relu(x)") is None
    assert combined([Work(1, 1, "f32"), None]) is None
    assert combined([]) is None


def test_nodes_done_as_one_do_not_move_what_they_hand_to_each_other() -> None:
    graph = record(node("a", "Relu", "x", "h"), node("b", "Neg", "h", "y"))
    size = 64 * 64 * 4
    apart = combined(work_of(one, graph) for one in graph.nodes)
    together = fused(graph.nodes, graph)
    assert apart is not None
    assert together is not None
    assert (apart.bytes_moved, together.bytes_moved) == (4 * size, 2 * size)
    assert apart.flops == together.flops
