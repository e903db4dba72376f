"""Errors and right rewrites in what both of PyTorch's exporters write, of 2026-11-18."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.exported import LAYER, LAYER_SCRIPT, PICTURE, PICTURE_SCRIPT
from torture.case import Family
from torture.draft import Draft

EXPORTERS = Family("exporters")


def _weight_of(draft: Draft, op_type: str, nth: int) -> str:
    """Return the constant that the nth node of a type with one reads second."""
    held = {each.name for each in draft.graph.initializer}
    nodes = [n for n in draft.graph.node if n.op_type == op_type and n.input[1] in held]
    name: str = nodes[nth].input[1]
    return name


def _one_percent(array: Array) -> None:
    array[3, 5] *= 1.01


@EXPORTERS.planted(LAYER, least=1e-6)
def one_weight_by_one_percent(draft: Draft) -> None:
    """One weight of 576 is off by 1 %."""
    draft.change(_weight_of(draft, "MatMul", 2), _one_percent)


@EXPORTERS.planted(LAYER_SCRIPT, least=1e-6)
def one_weight_by_one_percent_of_a_script(draft: Draft) -> None:
    """One weight of the last product is off by 1 %."""
    draft.change(_weight_of(draft, "MatMul", 6), _one_percent)


@EXPORTERS.planted(LAYER)
def bias_of_one_head_dropped(draft: Draft) -> None:
    """The biases of the second head's values are zero."""

    def clear(bias: Array) -> None:
        bias[8:16] = 0

    draft.change("v.bias", clear)


@EXPORTERS.planted(LAYER, least=1e-4)
def another_epsilon(draft: Draft) -> None:
    """The second norm has 0.01 for 1e-6."""
    for node in [n for n in draft.graph.node if n.op_type == "LayerNormalization"][1:]:
        draft.set(node, epsilon=1e-2, axis=-1)


@EXPORTERS.planted(LAYER, lambda i: {"x": i["x"] * np.float32(0.003)}, least=1e-4)
def epsilon_of_the_first_norm(draft: Draft) -> None:
    """The first norm has 1e-6 for 1e-5."""
    draft.set(draft.find("LayerNormalization"), epsilon=1e-6, axis=-1)


@EXPORTERS.planted(LAYER_SCRIPT)
def scale_of_queries_alone(draft: Draft) -> None:
    """Scores are divided by the root of the width of all heads."""
    node = draft.producer("/Div_2_output_0")
    draft.before(node, 1, lambda _was: draft.constant(float(24**0.5)))


@EXPORTERS.planted(LAYER)
def queries_and_keys_exchanged(draft: Draft) -> None:
    """Queries have the biases of keys, and keys those of queries."""
    q, k = draft.array("q.bias"), draft.array("k.bias")
    draft.put("q.bias", k)
    draft.put("k.bias", q)


@EXPORTERS.planted(LAYER)
def sine_of_the_other_half(draft: Draft) -> None:
    """Halves are turned the other way round."""
    node = draft.producer("cat_2")
    node.input[0], node.input[1] = node.input[1], node.input[0]


@EXPORTERS.planted(LAYER_SCRIPT)
def keys_are_turned_less(draft: Draft) -> None:
    """Angles are a tenth smaller than they should be."""
    draft.change("onnx::Cos_192", lambda angles: angles * np.float32(0.9))


@EXPORTERS.planted(LAYER, hidden=False)
def gelu_without_its_tail(draft: Draft) -> None:
    """GELU is written as x · sigmoid(1.702 x)."""
    node = draft.find("Gelu")
    x = node.input[0]
    draft.replace(node, "Mul", x, draft.op("Sigmoid", draft.op("Mul", x, 1.702)))


@EXPORTERS.planted(PICTURE, least=1e-5)
def group_norm_with_another_epsilon(draft: Draft) -> None:
    """The epsilon of the groups' norm is 0.05."""
    draft.set(draft.find("InstanceNormalization"), epsilon=0.05)


@EXPORTERS.planted(PICTURE, lambda i: {"x": i["x"] * np.float32(20.0)}, hidden=True)
def relu6_without_its_bound(draft: Draft) -> None:
    """What is clipped at six is not."""
    node = draft.find("Clip")
    draft.replace(node, "Relu", node.input[0])


@EXPORTERS.planted(PICTURE_SCRIPT)
def groups_of_filters_exchanged(draft: Draft) -> None:
    """The two groups of the dilated convolution have each other's filters."""
    draft.change("wide.weight", lambda w: np.concatenate([w[4:], w[:4]]))


@EXPORTERS.planted(PICTURE_SCRIPT)
def pooled_without_the_frame(draft: Draft) -> None:
    """Pixels of the frame do not count in the mean."""
    node = draft.find("AveragePool")
    draft.set(node, count_include_pad=0)


@EXPORTERS.planted(PICTURE)
def resized_with_corners_aligned(draft: Draft) -> None:
    """Corners are aligned when the picture is made large again."""
    draft.set(draft.find("Resize"), coordinate_transformation_mode="align_corners")


@EXPORTERS.planted(PICTURE_SCRIPT, least=1e-5)
def batch_norm_folded_with_another_epsilon(draft: Draft) -> None:
    """The norm was folded with an epsilon of 1e-3."""
    draft.change("onnx::Conv_49", lambda w: w * np.float32((1 / 1.001) ** 0.5))
