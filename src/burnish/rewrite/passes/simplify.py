"""Remove operators that do nothing, and join pairs that one operator can do."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer import walk
from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.passes import chains, no_ops
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted

Simplifier = Callable[[ir.Node, Facts], "ir.Value | bool"]
"""Returns the value that a node's output equals, or whether it changed the node in place."""

SIMPLIFIERS: Mapping[str, tuple[Simplifier, ...]] = {
    "Add": (no_ops.neutral_operand, chains.operand_as_wide_as_another),
    "And": (chains.operand_as_wide_as_another,),
    "Cast": (no_ops.same_type, chains.cast_of_cast),
    "CastLike": (no_ops.same_type_as,),
    "Concat": (no_ops.single_input, no_ops.whole_of_parts),
    "Div": (no_ops.neutral_operand,),
    "Dropout": (no_ops.dropout,),
    "Expand": (no_ops.same_size_expand,),
    "GlobalAveragePool": (no_ops.mean_of_last_axis,),
    "Identity": (no_ops.identity,),
    "Max": (no_ops.single_input,),
    "Mean": (no_ops.single_input,),
    "Min": (no_ops.single_input,),
    "Mul": (no_ops.neutral_operand, chains.operand_as_wide_as_another),
    "Neg": (chains.negation_of_negation,),
    "Or": (chains.operand_as_wide_as_another,),
    "Pad": (no_ops.no_padding,),
    "Pow": (no_ops.neutral_operand,),
    "Reshape": (no_ops.same_size_reshape, chains.reshape_of_reshape),
    "Slice": (no_ops.whole_slice,),
    "Squeeze": (chains.squeeze_of_unsqueeze,),
    "Sub": (no_ops.neutral_operand, chains.operand_as_wide_as_another),
    "Sum": (no_ops.single_input,),
    "Transpose": (no_ops.identity_transpose, chains.transpose_of_transpose),
    "Unsqueeze": (chains.unsqueeze_of_squeeze, chains.unsqueeze_of_reduction),
    "Where": (no_ops.decided_choice, chains.operand_as_wide_as_another),
}
"""By operator; the first that applies wins, and each carries its own proof."""


class _Simplified(enum.Enum):
    NOTHING = enum.auto()
    CHANGED = enum.auto()
    DEAD = enum.auto()


@dataclass(frozen=True)
class Simplify(InPlacePass):
    """Apply the table above to every node, in the order in which the model runs."""

    facts: Facts

    def call(self, model: ir.Model) -> Counted:
        """Sweep each graph once; a node sees its producers already simplified."""
        count = 0
        for graph in walk.graphs(model):
            doomed = []
            for node in graph:
                simplifiers = SIMPLIFIERS.get(node.op_type)
                if simplifiers is None or node.domain not in walk.STANDARD_DOMAINS:
                    continue
                outcome = self._simplified(node, simplifiers)
                count += outcome is not _Simplified.NOTHING
                if outcome is _Simplified.DEAD:
                    doomed.append(node)
            edit.remove(doomed)
        return counted(model, count)

    def _simplified(self, node: ir.Node, simplifiers: tuple[Simplifier, ...]) -> _Simplified:
        for simplifier in simplifiers:
            result = simplifier(node, self.facts)
            if isinstance(result, ir.Value):
                if edit.redirect(node.outputs[0], result):
                    return _Simplified.DEAD
            elif result:
                return _Simplified.CHANGED
        return _Simplified.NOTHING
