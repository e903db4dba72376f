"""What PyTorch did is led back to the nodes that were exported from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.tensors import TensorSpec
from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.attribute import attribute, coverage
from burnish.trace.events import Trace
from burnish.trace.formats import read_any
from burnish.trace.readers.kineto import read
from kineto_events import Event, kernel, launch, module, op, written

WEIGHTS = {"w": TensorSpec("w", "f32", (8, 8)), "v": TensorSpec("v", "f32", (8, 16))}


def graph(*nodes: tuple[str, str, str, str]) -> GraphRecord:
    """Return nodes written as `(name, operator, inputs, output)`; `w`, `v`, `b` are constants."""
    made = tuple(
        GraphNode(name, kind, "", tuple(inputs.split()), (output,),
                  scope=tuple(name.strip("/").split("/")[:-1]))
        for name, kind, inputs, output in nodes
    )  # fmt: skip
    return GraphRecord("g", made, (), (), WEIGHTS, frozenset({"w", "v", "b"}))


LAYER = graph(
    ("/dense/MatMul", "MatMul", "x w", "p"),
    ("/dense/Add", "Add", "b p", "q"),
    ("/Add", "Add", "q x", "r"),
    ("/norm/LayerNormalization", "LayerNormalization", "r b b", "y"),
)


def call(name: str, at: int, number: int, *dims: list[int]) -> list[Event]:
    return [
        op(name, at, 8, *dims),
        launch(at + 2, number),
        kernel(f"k{number}", at + 900, 4, number),
    ]


def layer() -> list[Event]:
    return [
        *call("aten::linear", 10, 1, [2, 8], [8, 8], [8]),
        *call("aten::add", 20, 2, [2, 8], [2, 8]),
        *call("aten::layer_norm", 30, 3, [2, 8]),
    ]


def led_back(trace: Trace) -> dict[str, tuple[tuple[str, ...], str]]:
    return {s.name: (s.nodes, s.confidence) for s in trace.spans if s.category == "kernel"}


def test_a_bias_is_part_of_its_product_and_a_residual_is_not(tmp_path: Path) -> None:
    found = attribute(read(written(tmp_path, *layer())), LAYER)
    assert led_back(found) == {
        "k1": (("/dense/MatMul", "/dense/Add"), "correlation"),
        "k2": (("/Add",), "correlation"),
        "k3": (("/norm/LayerNormalization",), "correlation"),
    }
    assert coverage(found).share == 1.0


def test_a_copy_for_a_product_is_the_products_and_one_after_it_is_its_too(tmp_path: Path) -> None:
    events = [
        op("aten::linear", 10, 30, [2, 8], [8, 8]),
        *call("aten::copy_", 12, 1), *call("aten::mm", 25, 2),
        *call("aten::contiguous", 50, 3),
    ]  # fmt: skip
    found = led_back(attribute(read(written(tmp_path, *events)), LAYER))
    product = ("/dense/MatMul", "/dense/Add")
    assert found == {
        "k1": (product, "correlation"),
        "k2": (product, "correlation"),
        "k3": (product, "pattern"),
    }


def test_weights_of_another_shape_are_of_another_node(tmp_path: Path) -> None:
    two = graph(("/a/MatMul", "MatMul", "x w", "p"), ("/b/MatMul", "MatMul", "p v", "y"))
    events = call("aten::linear", 10, 1, [2, 8], [16, 8])
    assert led_back(attribute(read(written(tmp_path, *events)), two)) == {
        "k1": (("/b/MatMul",), "correlation")
    }


def test_modules_settle_what_order_does_not(tmp_path: Path) -> None:
    three = graph(*((f"/{name}/Relu", "Relu", "x", name) for name in ("first", "gate", "last")))
    events = [module("Gate_0", 0, 50), *call("aten::relu", 10, 1, [2])]
    assert led_back(attribute(read(written(tmp_path, *events)), three)) == {
        "k1": (("/gate/Relu",), "correlation")
    }


def test_an_operator_outside_the_library_is_looked_into(tmp_path: Path) -> None:
    events = [op("mine::block", 5, 60), *layer(), *call("mine::other", 80, 4)]
    found = attribute(read(written(tmp_path, *events)), LAYER)
    assert led_back(found)["k2"] == (("/Add",), "correlation")
    assert led_back(found)["k4"] == ((), "none")
    assert coverage(found).unattributed == 1


def test_what_an_exporter_folded_into_weights_belongs_to_the_node_before(tmp_path: Path) -> None:
    folded = graph(("/conv/Conv", "Conv", "x b", "p"), ("/Relu", "Relu", "p", "y"))
    kinds = ("aten::conv2d", "aten::batch_norm", "aten::relu")
    events = [made for at, kind in enumerate(kinds) for made in call(kind, 10 * at, at)]
    found = led_back(attribute(read(written(tmp_path, *events)), folded))
    assert found["k1"] == (("/conv/Conv",), "pattern")
    kept = graph(("c", "Conv", "x b", "p"), ("n", "BatchNormalization", "p b b b b", "y"))
    assert led_back(attribute(read(written(tmp_path, *events)), kept))["k1"] == (
        ("n",), "correlation",
    )  # fmt: skip


def test_every_step_is_led_back(tmp_path: Path) -> None:
    from kineto_events import event

    events: list[Event] = []
    for step in range(3):
        begin = 2000 * step
        events.append(event("user_annotation", f"ProfilerStep#{step}", begin, 1900))
        for made in layer():
            args = dict(made["args"])
            if "correlation" in args:
                args["correlation"] += 10 * step
            events.append({**made, "ts": made["ts"] + begin, "args": args})
    found = attribute(read(written(tmp_path, *events)), LAYER)
    assert found.runs == 3
    assert coverage(found).share == 1.0


def test_a_trace_of_another_model_is_not_forced_onto_this_one(tmp_path: Path) -> None:
    events = [
        *call("aten::conv2d", 10, 1), *call("aten::relu", 20, 2), *call("aten::max_pool2d", 30, 3),
        *call("aten::add", 40, 4, [2, 8], [2, 8]),
    ]  # fmt: skip
    found = attribute(read(written(tmp_path, *events)), LAYER)
    assert coverage(found).share == 0.0
    assert found.notes == (
        "the trace is of another model: 1 of 4 operators in it have nodes in this one",
    )


def test_inferences_that_nothing_tells_apart_are_not_taken_for_another_model(
    tmp_path: Path,
) -> None:
    events: list[Event] = []
    for begin in (0, 1000, 2000):
        for made in layer():
            args = dict(made["args"])
            if "correlation" in args:
                args["correlation"] += begin
            events.append({**made, "ts": made["ts"] + begin, "args": args})
    *_, note = attribute(read(written(tmp_path, *events)), LAYER).notes
    assert note.startswith("the trace is of another model, or of 3 inferences that nothing tells")
    assert note.endswith("end each with profiler.step()")


def test_a_gelu_written_out_is_taken_apart_where_the_program_wrote_it_out(tmp_path: Path) -> None:
    written_out = graph(
        ("Div_0", "Div", "x b", "a"), ("Erf_1", "Erf", "a", "c"), ("Add_2", "Add", "c b", "d"),
        ("Mul_3", "Mul", "x d", "e"), ("Mul_4", "Mul", "e b", "y"),
    )  # fmt: skip
    whole = attribute(read(written(tmp_path, *call("aten::gelu", 10, 1, [2]))), written_out)
    assert led_back(whole)["k1"][0] == ("Div_0", "Erf_1", "Add_2", "Mul_3", "Mul_4")
    names = ("aten::div", "aten::erf", "aten::add", "aten::mul", "aten::mul")
    apart = [made for at, name in enumerate(names) for made in call(name, 10 * at, at, [2])]
    found = led_back(attribute(read(written(tmp_path, *apart)), written_out))
    assert [nodes for nodes, _ in found.values()] == [
        ("Div_0",), ("Erf_1",), ("Add_2",), ("Mul_3",), ("Mul_4",),
    ]  # fmt: skip


EXPECTED = [
    ("/attention/self/query/MatMul", "/attention/self/query/Add"),
    ("/attention/self/key/MatMul", "/attention/self/key/Add"),
    ("/attention/self/value/MatMul", "/attention/self/value/Add"),
    ("/attention/self/MatMul",),
    ("/attention/self/MatMul",),
    ("/attention/self/MatMul",),
    ("/attention/self/Div",),
    ("/attention/self/Softmax",),
    ("/attention/self/MatMul_1",),
    ("/attention/self/MatMul_1",),
    ("/attention/self/Transpose_3",),
    ("/attention/output/dense/MatMul", "/attention/output/dense/Add"),
    ("/attention/output/Add",),
    ("/attention/output/LayerNorm/LayerNormalization",),
    ("/intermediate/dense/MatMul", "/intermediate/dense/Add"),
    tuple(
        f"/intermediate/intermediate_act_fn/{name}"
        for name in ("Div", "Erf", "Add", "Mul", "Mul_1")
    ),
    ("/output/dense/MatMul", "/output/dense/Add"),
    ("/output/Add",),
    ("/output/LayerNorm/LayerNormalization",),
]


def test_every_kernel_of_the_predecessors_sample_is_led_to_the_right_node(shared: Path) -> None:
    folder = shared / "data/traces"
    model = graph_of(onnx_files.read(folder / "bert-mini_layer.onnx"), {})
    found = attribute(read_any(folder / "trace_dense_layer.json"), model)
    kernels = sorted((s for s in found.spans if s.category == "kernel"), key=lambda s: s.start_s)
    assert [span.nodes for span in kernels] == EXPECTED
    assert coverage(found).share == 1.0
    assert coverage(found).total_s == pytest.approx(98e-6)


def test_a_sample_of_another_model_is_told(shared: Path) -> None:
    folder = shared / "data/traces"
    model = graph_of(onnx_files.read(folder / "bert-mini_layer.onnx"), {})
    found = attribute(read_any(folder / "hta_simple_add.json.gz"), model)
    assert coverage(found).share == 0.0
    assert found.notes[-1].startswith("the trace is of another model: ")
