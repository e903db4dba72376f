"""Write a sum over one index of two factors as the matrix product that it is.

rewrite:
    Einsum(a, b, "bqhd,bkhd->bhqk")
    -->
    MatMul(Transpose(a), Transpose(b))

Transposes meet others and vanish, and attention is found in products.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.rewrite.edit import is_standard
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.new_values import Maker
from burnish.rewrite.rule import Builder, Match, Refusal, Rule
from burnish.rewrite.symbolic.shapes import shapes_of


@dataclass(frozen=True, slots=True)
class _Letters:
    """The letters of an equation of two factors."""

    left: str
    right: str
    result: str

    @property
    def batch(self) -> str:
        """Return those that both factors and the result have."""
        return "".join(c for c in self.result if c in self.left and c in self.right)

    @property
    def summed(self) -> str:
        """Return those that both factors have, and the result has not."""
        return "".join(c for c in self.left if c in self.right and c not in self.result)

    def own(self, letters: str) -> str:
        """Return those that one factor brings into the result alone."""
        other = self.right if letters == self.left else self.left
        return "".join(c for c in letters if c in self.result and c not in other)


def _read(node: ir.Node) -> _Letters | None:
    attribute = node.attributes.get("equation")
    equation = "" if attribute is None else attribute.as_string().replace(" ", "")
    factors, arrow, result = equation.partition("->")
    parts = factors.split(",")
    if not arrow or len(parts) != 2 or not all(part.isalpha() for part in (*parts, result)):
        return None
    if any(len(set(part)) < len(part) for part in (*parts, result)):
        return None
    return _Letters(parts[0], parts[1], result)


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    if not is_standard(node, "Einsum") or len(node.inputs) != 2:
        return None
    if node.outputs[0].dtype not in FLOATS:
        return None
    letters = _read(node)
    if letters is None or letters.left == letters.right:
        return None
    parts = (letters.own(letters.left), letters.own(letters.right), letters.summed)
    whole = set(letters.batch + "".join(parts))
    if any(len(part) != 1 for part in parts) or whole != {*letters.left, *letters.right}:
        return Refusal(
            f"Einsum {node.name!r} computes {letters.left},{letters.right}->{letters.result},"
            " expected one index that is summed and one that each factor has alone",
            "none: this is not one matrix product",
        )
    shapes = shapes_of(facts)
    if any(shapes.of(value) is None for value in node.inputs):
        return Refusal(
            f"the factors of Einsum {node.name!r} have no known rank",
            "declare the shapes of the graph's inputs",
        )
    values = {"left": node.inputs[0], "right": node.inputs[1]}
    texts = {"left": letters.left, "right": letters.right, "result": letters.result}
    return Match((node,), node.outputs[0], values, texts)


def _replace(match: Match, builder: Builder) -> ir.Value:
    texts = {name: str(text) for name, text in match.attributes.items()}
    letters = _Letters(texts["left"], texts["right"], texts["result"])
    make = Maker(builder, match.output.dtype or ir.DataType.FLOAT)
    one, two = letters.own(letters.left), letters.own(letters.right)
    left = _ordered(match.values["left"], letters.left, letters.batch + one + letters.summed, make)
    right = _ordered(
        match.values["right"], letters.right, letters.batch + letters.summed + two, make
    )
    shapes = make.shapes.of(left) or (), make.shapes.of(right) or ()
    product = make.node("MatMul", [left, right], (*shapes[0][:-1], shapes[1][-1]))
    return _ordered(product, letters.batch + one + two, letters.result, make)


def _ordered(value: ir.Value | None, have: str, want: str, make: Maker) -> ir.Value:
    if value is None:
        raise ValueError("both factors are given")
    if have == want:
        return value
    perm = tuple(have.index(letter) for letter in want)
    shape = make.shapes.of(value) or ()
    ordered = tuple(shape[axis] for axis in perm)
    return make.node("Transpose", [value], ordered, attributes={"perm": perm})


RULES = (
    Rule(
        "einsum",
        'Einsum(a, b, "bqhd,bkhd->bhqk") --> MatMul(Transpose(a), Transpose(b))',
        anchors=frozenset({"Einsum"}),
        find=_find,
        replace=_replace,
    ),
)
