from __future__ import annotations

import pytest

from burnish.analyze.computed import computed, told
from burnish.analyze.event_graph import Event, EventGraph
from burnish.analyze.selector import Scene
from burnish.analyze.transform import Setting
from burnish.core.tensors import TensorSpec
from burnish.store.graph import GraphNode, GraphRecord


def graph(*nodes: GraphNode, **shapes: tuple[int | str, ...]) -> GraphRecord:
    tensors = {name: TensorSpec(name, "f32", shape) for name, shape in shapes.items()}
    return GraphRecord("g", nodes, (), (), tensors, frozenset())


def node(op: str, inputs: str, output: str, **attributes: int) -> GraphNode:
    return GraphNode(f"/{output}", op, "", tuple(inputs.split()), (output,), attributes)


@pytest.mark.parametrize(
    ("left", "right", "result", "said"),
    [
        ((1, 128, 256), (256, 1024), (1, 128, 1024), "MatMul 128×256×1024"),
        ((8, 128, 256), (256, 64), (8, 128, 64), "MatMul 1024×256×64"),
        ((2, 4, 32, 64), (2, 4, 64, 32), (2, 4, 32, 32), "MatMul 8×[32×64×32]"),
        ((4, 1, 64), (64, 0), (4, 1, 0), "MatMul"),
        (("batch", 64), (64, 8), ("batch", 8), "MatMul"),
        ((64,), (64, 8), (8,), "MatMul"),
    ],
)
def test_a_product_is_named_by_its_shapes(
    left: tuple[int, ...], right: tuple[int, ...], result: tuple[int, ...], said: str
) -> None:
    product = node("MatMul", "a b", "c")
    assert told([product], graph(product, a=left, b=right, c=result)) == said


def test_a_product_with_transposed_weights_has_the_same_sizes() -> None:
    product = node("Gemm", "a b", "c", transB=1)
    assert told([product], graph(product, a=(5, 7), b=(3, 7), c=(5, 3))) == "Gemm 5×7×3"


def test_a_convolution_is_named_by_window_channels_and_places() -> None:
    made = node("Conv", "x w", "y", group=2)
    record = graph(made, x=(1, 64, 56, 56), w=(128, 32, 3, 3), y=(1, 128, 28, 28))
    assert told([made], record) == "Conv 3×3, 64 → 128 at 28×28"


def test_what_does_the_bulk_comes_first_and_views_are_left_out() -> None:
    nodes = (
        node("Reshape", "x s", "r"), node("Add", "r b", "d"), node("MatMul", "d w", "m"),
        node("Mul", "m b", "n"),
    )  # fmt: skip
    record = graph(*nodes, d=(2, 3), w=(3, 4), m=(2, 4))
    assert told(nodes, record) == "MatMul 2×3×4 + Add + Mul"
    assert told(nodes[:1], record) == "Reshape"


def test_of_many_operators_a_few_are_named_and_the_others_counted() -> None:
    names = ("Add", "Sub", "Mul", "Div", "Erf")
    nodes = [node(op, "x", op.lower()) for op in names]
    assert told(nodes, graph(*nodes)) == "Add + Sub + Mul + 2 more"


def test_work_of_no_node_keeps_its_own_name_in_short() -> None:
    event = Event("void at::native::copy_kernel<float>(int)", "kernel", "s", 1.0)
    assert computed(event, Setting(Scene(EventGraph((event,)), None))) == "copy_kernel"


def test_a_launch_is_called_what_the_host_calls_whatever_it_launches() -> None:
    product = node("MatMul", "a b", "c")
    event = Event("cudaLaunchKernel", "launch", "t", 1.0, nodes=("/c",))
    setting = Setting(Scene(EventGraph((event,)), graph(product)))
    assert computed(event, setting) == "cudaLaunchKernel"
