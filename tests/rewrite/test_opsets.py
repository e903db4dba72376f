"""An opset is raised only where every operator keeps its meaning."""

from __future__ import annotations

import itertools

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite import opsets
from rewriting import Graph, assert_same_numbers, samples


def model_of(opset: int, op_type: str, *inputs: object, **attributes: object) -> ir.Model:
    graph = Graph(opset=opset)
    x = graph.input("x", [2, 4, 8])
    return graph.model(graph.op(op_type, x, *inputs, **attributes))


@pytest.mark.parametrize(("opset", "op_type", "attributes"), [
    (11, "Unsqueeze", {"axes": [0]}),
    (11, "ReduceSum", {"axes": [1], "keepdims": 0}),
    (11, "ReduceMean", {"axes": [1]}),
    (13, "ReduceMean", {}),
    (11, "Softmax", {"axis": 2}),
    (12, "LogSoftmax", {"axis": -1}),
    (13, "Softmax", {"axis": 0}),
    (11, "Clip", {}),
    (13, "Erf", {}),
])  # fmt: skip
def test_what_keeps_its_meaning_is_raised(
    opset: int, op_type: str, attributes: dict[str, object]
) -> None:
    model = model_of(opset, op_type, **attributes)
    before = model.clone()
    assert opsets.obstacle(model, 18) is None
    opsets.raise_to(model, 18)
    assert opsets.declared(model) == 18
    assert_same_numbers(before, model, {"x": samples(2, 4, 8)}, tolerance=1e-6)


@pytest.mark.parametrize(("opset", "op_type", "attributes", "reason"), [
    (11, "Softmax", {"axis": 1}, ("Softmax 'softmax_0' over axis 1 means something else from"
     " opset 13 on")),
    (11, "Softmax", {}, "Softmax 'softmax_0' over axis 1 means something else from opset 13 on"),
    (13, "Split", {}, "Split 'split_0' means something else from opset 18 on"),
    (11, "Dropout", {}, "Dropout 'dropout_0' means something else from opset 12 on"),
])  # fmt: skip
def test_what_changes_its_meaning_is_named(
    opset: int, op_type: str, attributes: dict[str, object], reason: str
) -> None:
    found = opsets.obstacle(model_of(opset, op_type, **attributes), 18)
    assert found == f"the model declares opset {opset}, and {reason}"


def test_unknown_versions_are_refused() -> None:
    assert opsets.obstacle(model_of(17, "Relu"), 24) == (
        "the model declares opset 17; burnish raises it to 23 at most"
    )


def test_group_normalization_of_groups_is_not_that_of_channels() -> None:
    found = opsets.obstacle(model_of(18, "GroupNormalization", num_groups=2), 23)
    assert found is not None
    assert "GroupNormalization" in found
    assert opsets.obstacle(model_of(20, "Relu"), 23) is None


def test_split_sizes_become_an_input() -> None:
    graph = Graph(opset=11)
    x = graph.input("x", [2, 4, 8])
    parts = graph.ops("Split", x, outputs=2, axis=1, split=[1, 3])
    model = graph.model(*parts)
    before = model.clone()
    opsets.raise_to(model, 17)
    assert_same_numbers(before, model, {"x": samples(2, 4, 8)}, tolerance=0)


def test_branches_are_raised_too() -> None:
    graph = Graph(opset=12)
    x = graph.input("x", [1, 4])
    flag = graph.input("flag", [], ir.DataType.BOOL)
    branches = {}
    for name in ("then_branch", "else_branch"):
        node = ir.node("Squeeze", [x], attributes={"axes": [0]}, name=name)
        node.outputs[0].name = f"{name}_out"
        branches[name] = ir.Graph([], node.outputs, nodes=[node], name=name)
    model = graph.model(graph.op("If", flag, **branches))
    before = model.clone()
    opsets.raise_to(model, 13)
    feeds = {"x": samples(1, 4), "flag": np.array(True)}
    assert_same_numbers(before, model, feeds, tolerance=0)


def test_an_operator_that_onnx_did_not_have_yet_is_an_obstacle() -> None:
    model = model_of(16, "LayerNormalization", np.ones(8, np.float32))
    reason = opsets.obstacle(model, 17)
    assert reason is not None
    assert "means something else from opset 17 on" in reason


def test_operators_whose_kernels_end_are_an_obstacle() -> None:
    g = Graph()
    x = g.input("x", ["batch", 3])
    model = g.model(g.op("Add", x, g.op("RandomUniformLike", x)))
    assert opsets.obstacle(model, 21) is None
    found = opsets.obstacle(model, 23)
    assert found is not None
    assert "ONNX Runtime runs no RandomUniformLike" in found


def test_the_list_of_kernels_that_end_is_that_of_the_runtime() -> None:
    import onnxruntime.capi._pybind_state as runtime

    kernels: dict[str, list[tuple[int, int]]] = {}
    for kernel in runtime.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider" and kernel.domain == "":
            kernels.setdefault(kernel.op_name, []).append(kernel.version_range)

    def runs(name: str, version: int) -> bool:
        # a kernel without an end is for the version that it begins with
        return any(
            first == version if last >= 2**31 - 1 else first <= version <= last
            for first, last in kernels[name]
        )

    ended = {
        (name, after)
        for name, versions in opsets._versions().items()
        for before, after in itertools.pairwise(versions)
        if name in kernels and 7 <= after <= opsets.NEWEST_KNOWN
        and runs(name, before) and not runs(name, after)
    }  # fmt: skip
    # Bernoulli is run as RandomUniformLike and a comparison
    assert ended - opsets.CHANGED_MEANING <= opsets.KERNELLESS
    assert {name for name, _ in opsets.KERNELLESS - ended} <= {"Bernoulli"}
