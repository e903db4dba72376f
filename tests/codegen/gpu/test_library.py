"""Which groups a library could form, and that ours is chosen where it could not."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.gpu.backend import open_gpu
from burnish.codegen.gpu.choose import LIBRARY_BLOCK, GpuPredicted, priced
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.library import BY_LIBRARY, library_product
from burnish.cuda.library import LibraryProduct
from burnish.hw.spec import load
from burnish.rewrite.static import static
from burnish.tile.candidates import Space
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.gpu.models import HEAD

PRODUCTS = {
    "plain": ("(H[2,64,32] x) => (H[2,64,48] y) { y = MatMul(x, w) }", {}),
    "offsets": (
        "(H[2,64,32] x) => (H[2,64,48] y) { p = MatMul(x, w) y = Add(p, b) }",
        {"offsets": 2, "result": 3},
    ),
    "all": (
        """(H[2,64,32] x, H[2,64,48] r) => (H[2,64,48] y)
        { p = MatMul(x, w) q = Add(p, b) y = Add(q, r) }""",
        {"offsets": 2, "added": 3, "result": 4},
    ),
    "turned": ("(H[128,32] x) => (H[128,48] y) { y = Gemm<transB=1>(x, t) }", {"turned": True}),
}
OTHERS = {
    "activation": "(H[2,64,32] x) => (H[2,64,48] y) { p = MatMul(x, w) y = Relu(p) }",
    "scaled": "(H[2,64,32] x) => (H[2,64,48] y) { p = MatMul(x, w) y = Mul(p, b) }",
    "batch": "(H[2,64,32] x, H[2,32,48] v) => (H[2,64,48] y) { y = MatMul(x, v) }",
    "rows_apart": """(H[2,4,64,8] x) => (H[2,64,48] y)
        { p = Transpose<perm=[0,2,1,3]>(x) q = Reshape(p, rows) y = MatMul(q, w) }""",
    "padded": """(H[1,32,8,8] x) => (H[1,48,8,8] y) { y = Conv<pads=[1,1,1,1]>(x, k) }""",
    "single": "(float[128,32] x, float[32,48] v) => (float[128,48] y) { y = MatMul(x, v) }",
    "odd": "(H[128,32] x, H[32,44] v) => (H[128,44] y) { y = MatMul(x, v) }",
    "twice": "(H[2,64,32] x) => (H[2,64,48] y) { p = MatMul(x, w) y = Add(p, p) }",
}
CONSTANTS = {
    "w": np.ones((32, 48), np.float16), "t": np.ones((48, 32), np.float16),
    "b": np.ones(48, np.float16), "rows": np.array([2, 64, 32]),
    "k": np.ones((48, 32, 3, 3), np.float16), "one": np.ones((48, 32, 1, 1), np.float16),
    "before": np.ones((32, 8, 1, 1), np.float16),
}  # fmt: skip


def graph_of(text: str) -> TileGraph:
    """Return the nests of a model whose constants are above."""
    proto = onnx.parser.parse_model(f"{HEAD}products {text.replace('H[', 'float16[')}")
    for name, array in CONSTANTS.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def product_of(graph: TileGraph, output: str = "y") -> LibraryProduct | None:
    """Return what a library would form in place of a nest."""
    (op,) = (op for op in graph.ops if op.output == output)
    pointers = (*op.inputs, op.output)
    return library_product(Group((op,), (output,)), pointers, graph.tensors, orders_of(graph))


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_matrices_are_known_with_what_is_added(name: str) -> None:
    text, more = PRODUCTS[name]
    wanted = {"left": 0, "right": 1, "result": 2, **more}
    assert product_of(graph_of(text)) == LibraryProduct("f16", 128, 48, 32, **wanted)  # type: ignore[arg-type]


def test_a_convolution_of_single_points_is_a_product_where_channels_lie_innermost() -> None:
    graph = graph_of("""(H[2,8,8,8] x) => (H[2,48,7,7] z)
        { p = Conv(x, before) y = Conv(p, one) z = MaxPool<kernel_shape=[2,2]>(y) }""")
    assert product_of(graph) == LibraryProduct("f16", 128, 48, 32, 0, 1, 2)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_more_or_lies_otherwise_is_left_to_kernels(name: str) -> None:
    assert product_of(graph_of(OTHERS[name])) is None


def large() -> TileGraph:
    text = """(H[8192,768] x, H[768,2304] v) => (H[8192,2304] y) { y = MatMul(x, v) }"""
    return graph_of(text)


def test_a_product_that_fills_a_card_is_given_to_the_library_by_price() -> None:
    graph = large()
    target = GpuTarget(own_functions=True)
    (choice,) = GpuPredicted(load("nvidia-h200"), target)(graph)
    assert choice.schedule is not None
    assert choice.schedule.settings[BY_LIBRARY] == 1
    (launch,) = emit(choice.group, choice.schedule, graph, target)
    assert launch.name.startswith("library_")
    assert f"def {launch.name}(" in launch.source
    assert launch.library == LibraryProduct("f16", 8192, 2304, 768, 0, 1, 2)


def test_a_matrix_that_is_added_has_its_price_even_if_it_is_multiplied_too() -> None:
    texts = {
        "plain": "(H[8192,2304] x, H[2304,2304] v) => (H[8192,2304] y) { y = MatMul(x, v) }",
        "added": """(H[8192,2304] x, H[2304,2304] v) => (H[8192,2304] y)
        { p = MatMul(x, v) y = Add(p, x) }""",
    }
    target, found = GpuTarget(own_functions=True), {}
    for name, text in texts.items():
        (op,) = (graph := graph_of(text)).ops
        schedule = Schedule(op.shape, settings={**LIBRARY_BLOCK, BY_LIBRARY: 1})
        found[name] = priced(Group((op,), ("y",)), schedule, graph, load("nvidia-h200"), target)
    (launch,) = found["added"].launches
    assert launch.launch.library is not None
    assert launch.launch.library.added == 0
    assert found["added"].seconds > found["plain"].seconds


def test_a_plan_says_what_a_library_forms() -> None:
    graph = large()
    backend = open_gpu("sm_90", 1)
    (group,) = backend.partition(graph, "full").groups
    best = backend.candidates(group, graph, Space(top=1)).candidates[0]
    (kernel,) = backend.emit(group, best.schedule, graph, layouts=backend.layouts(graph))
    assert kernel.loops[-1] == "cuBLASLt forms it where it is found"
    assert '"library": {"dtype": "f16", "rows": 8192' in kernel.source


def test_what_must_round_as_it_is_told_is_left_to_kernels() -> None:
    (choice,) = GpuPredicted(load("nvidia-h200"), GpuTarget())(large())
    assert choice.schedule is not None
    assert BY_LIBRARY not in choice.schedule.settings
