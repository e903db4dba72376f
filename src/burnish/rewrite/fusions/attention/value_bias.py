"""Move the bias of an attention's values into the bias of the product behind it.

rewrite:
    Attention(q, k, v + bias) · W + c
    -->
    Attention(q, k, v) · W + (c + bias · W)

The weights of each row add up to one, so that weights · (v + bias) = weights · v + bias. That
fails for rows that are masked throughout, where operators give zeros: the mask must be proven to
have numbers in it only, of which a softmax always makes weights.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite.facts import FLOATS, Facts, static_sizes
from burnish.rewrite.fusions.attention.fused import VALUE, FusedAttention, read
from burnish.rewrite.fusions.attention.number_range import range_of
from burnish.rewrite.fusions.biased import Biased, biased
from burnish.rewrite.fusions.refusals import still_read
from burnish.rewrite.rule import Builder, Match, Refusal, Rule


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    attention = read(node)
    found = None if attention is None else biased(node.inputs[VALUE])
    if attention is None or found is None:
        return None
    refusal = _row_refusal(attention, found, facts)
    if refusal is not None:
        return refusal
    project = _only_reader(node.outputs[0])
    shift = None if project is None else _only_reader(project.outputs[0])
    target = None if shift is None else biased(shift.outputs[0])
    if project is None or not _multiplies_weights(project) or shift is None or target is None:
        return Refusal(
            f"the result of {node.op_type} {node.name!r} is not read by a product with weights and"
            f" a bias alone, expected one that can take in the bias {found.bias.name!r}",
            "none: without a product behind it the bias must be added anyway",
        )
    nodes = (found.node, node, project, shift)
    values = {
        "value": found.x, "bias": found.bias, "weight": project.inputs[1], "target": target.bias,
    }  # fmt: skip
    groups = {"heads": attention.heads, "groups": attention.groups}
    return still_read(found.node, nodes, shift.outputs[0]) or Match(
        nodes, shift.outputs[0], values, groups
    )


def _row_refusal(attention: FusedAttention, found: Biased, facts: Facts) -> Refusal | None:
    """Return why the weights of a row may not add up to one; None: they do."""
    node, mask = attention.node, attention.scores_bias
    if not attention.is_plain:
        return Refusal(
            f"{node.op_type} {node.name!r} has a cache, a padding mask or further results, expected"
            f" none: the bias {found.bias.name!r} may not be added to all values",
            "none: the bias moves only if all values have it",
        )
    if mask is None:
        return None
    numbers = range_of(mask, facts) if mask.dtype in FLOATS else None
    if numbers is not None and numbers.lowest > -np.inf:
        return None
    return Refusal(
        f"what is added to the scores of {node.op_type} {node.name!r}, {mask.name!r}, may be -inf"
        " or a mask of truth values, expected finite numbers: a row that is masked throughout gets"
        f" nothing of the bias {found.bias.name!r}",
        "mask with the lowest number, torch.finfo(dtype).min, not with -inf",
    )


def _only_reader(value: ir.Value) -> ir.Node | None:
    uses = value.uses()
    return None if value.is_graph_output() or len(uses) != 1 else next(iter(uses)).node


def _multiplies_weights(node: ir.Node) -> bool:
    if not is_standard(node, "MatMul") or node.inputs[1] is None:
        return False
    weight = node.inputs[1]
    return constant_tensor(weight) is not None and len(static_sizes(weight) or ()) == 2


def _replace(match: Match, builder: Builder) -> ir.Value:
    _, attention, project, shift = match.nodes
    inputs = list(attention.inputs)
    inputs[VALUE] = match.values["value"]
    attended = builder.node(
        attention.op_type, inputs, like=attention.outputs[0], domain=attention.domain,
        attributes=dict(attention.attributes),
    )  # fmt: skip
    product = builder.node("MatMul", [attended, match.values["weight"]], like=project.outputs[0])
    return builder.node("Add", [product, _moved(match, builder)], like=shift.outputs[0])


def _moved(match: Match, builder: Builder) -> ir.Value:
    """Return c + bias · W, computed when it is written or read: W may be large."""
    bias, weight, target = (_tensor(match.values[role]) for role in ("bias", "weight", "target"))
    heads, groups = int(match.attributes["heads"]), int(match.attributes["groups"])
    dtype = target.dtype

    def compute() -> ir.Tensor[Array]:
        each = bias.numpy().astype(np.float64).reshape(groups, -1)
        whole = np.repeat(each, heads // groups, axis=0).reshape(-1)
        result = target.numpy().astype(np.float64) + whole @ weight.numpy().astype(np.float64)
        return ir.Tensor(result.astype(dtype.numpy()))

    return builder.computed(
        "bias", ir.LazyTensor(compute, dtype=dtype, shape=ir.Shape(target.shape.numpy()))
    )


def _tensor(value: ir.Value | None) -> ir.TensorProtocol:
    tensor = None if value is None else constant_tensor(value)
    if tensor is None:
        raise ValueError("this match is not one with constant biases and weights")
    return tensor


RULES = (
    Rule(
        "attention-value-bias",
        "Attention(q, k, v + bias) · W + c --> Attention(q, k, v) · W + (c + bias · W)",
        anchors=frozenset({"Attention", "MultiHeadAttention"}),
        find=_find,
        replace=_replace,
    ),
)
