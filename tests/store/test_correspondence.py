from __future__ import annotations

from burnish.store.correspondence import behind, of_sizes
from burnish.store.graph import GraphNode


def node(name: str, op: str, inputs: str, outputs: str, replaced: str = "") -> GraphNode:
    return GraphNode(name, op, "", tuple(inputs.split()), tuple(outputs.split()),
                     replaced=tuple(replaced.split()))  # fmt: skip


ORIGINAL = (
    node("mm", "MatMul", "x w", "p"),
    node("bias", "Add", "p b", "q"),
    node("relu", "Relu", "q", "r"),
    node("out", "Softmax", "r", "y"),
)


def found(*made: GraphNode, original: tuple[GraphNode, ...] = ORIGINAL) -> dict[str, object]:
    names = behind(original, made, inputs={"x"})
    return {each.name: nodes for each, nodes in zip(made, names, strict=True)}


def test_a_fused_node_does_what_lies_between_the_tensors_that_are_left() -> None:
    made = (node("gemm", "FusedGemm", "x w b", "r"), node("out", "Softmax", "r", "y"))
    assert found(*made) == {"gemm": ("mm", "bias", "relu"), "out": ("out",)}


def test_nodes_whose_tensors_are_new_belong_to_the_next_known_tensor() -> None:
    made = (
        node("in", "Reshape", "x", "new1"), node("gemm", "Gemm", "new1 w b", "new2"),
        node("back", "Reshape", "new2", "q"), node("relu", "Relu", "q", "r"),
        node("out", "Softmax", "r", "y"),
    )  # fmt: skip
    assert found(*made) == {
        "in": ("mm", "bias"), "gemm": ("mm", "bias"), "back": ("mm", "bias"),
        "relu": ("relu",), "out": ("out",),
    }  # fmt: skip


def test_a_tensor_of_another_type_and_a_node_of_the_same_name_are_known() -> None:
    made = (
        node("mm", "MatMul", "x w", "renamed"),
        node("bias", "Add", "renamed b", "InsertedPrecisionFreeCast_q"),
        node("rest", "Fused", "InsertedPrecisionFreeCast_q", "y"),
    )
    assert found(*made) == {"mm": ("mm",), "bias": ("bias",), "rest": ("relu", "out")}


def test_a_node_in_another_layout_is_named_after_the_tensor_that_it_computes() -> None:
    made = (
        node("r_nchwc", "Conv", "x w b", "reorder_1"), node("y_nchwc", "Conv", "reorder_1", "o"),
        node("ReorderOutput", "ReorderOutput", "o", "y"),
    )  # fmt: skip
    assert found(*made) == {
        "r_nchwc": ("mm", "bias", "relu"), "y_nchwc": ("out",), "ReorderOutput": ("out",),
    }  # fmt: skip


def test_what_a_node_says_it_replaced_is_believed_and_not_others_too() -> None:
    made = (
        node("fused", "Gemm", "x w b", "new", replaced="mm bias relu"),
        node("out", "Softmax", "new", "y"),
    )
    assert found(*made) == {"fused": ("mm", "bias", "relu"), "out": ("out",)}


def test_what_was_replaced_in_another_model_is_not_believed() -> None:
    made = (node("all", "Fused", "x", "y", replaced="long gone"),)
    assert found(*made) == {"all": ("mm", "bias", "relu", "out")}


def test_what_is_computed_from_sizes_alone_is_of_no_fused_node() -> None:
    original = (
        node("shape", "Shape", "x", "s"), node("pick", "Gather", "s zero", "n"),
        node("wide", "Expand", "w n", "e"), node("add", "Add", "x e", "y"),
        node("mixed", "Mul", "x n", "z"),
    )  # fmt: skip
    assert of_sizes(original, {"x"}) == {"shape", "pick", "wide"}
    assert found(node("all", "Fused", "x w", "y"), original=original) == {"all": ("add",)}


def test_graphs_that_share_only_their_ends_do_not_correspond() -> None:
    long = tuple(node(f"n{at}", "Relu", f"t{at}", f"t{at + 1}") for at in range(60))
    other = tuple(
        node(f"m{at}", "Relu", f"u{at}", f"u{at + 1}" if at < 59 else "t60") for at in range(60)
    )
    names = behind(long, other, inputs=())
    assert names[0] == ()
    assert names[-1] == ("n59",)
