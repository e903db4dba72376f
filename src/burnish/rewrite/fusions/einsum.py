"""Write a sum of products of two factors as the matrix product that it is.

rewrite:
    Einsum(a, b, "bqhd,bkhd->bhqk")
    -->
    MatMul(Transpose(a), Transpose(b))

    Einsum(x, w, "abc,cde->abde")
    -->
    Reshape(MatMul(x, Reshape(w)))

    Einsum(a, b, "bhnkf,bhgf->bhnkg")
    -->
    MatMul(a, Transpose(Unsqueeze(b)))

Transposes meet others and vanish, and attention is found in products.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import total
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

_REST = "..."
"""All axes that have no letter: the leading ones."""


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
        """Return those that one factor brings into the result alone, in the result's order."""
        other = self.right if letters == self.left else self.left
        return "".join(c for c in self.result if c in letters and c not in other)

    @property
    def is_backward(self) -> bool:
        """Return whether the right factor's rows come first, or are those of several axes."""
        one, two = self.own(self.left), self.own(self.right)
        if self.batch and len(one) != len(two):
            return len(two) > len(one)
        return bool(one and two) and self.result.index(one[0]) > self.result.index(two[0])

    @property
    def leading(self) -> str:
        """Return the axes over which there are products, in the result's order.

        Both factors have them, or the left one has them beside its rows.
        """
        rows = self.own(self.left)[-1:] if self.batch else self.own(self.left)
        return "".join(c for c in self.result if c in self.left and c not in rows)


def _read(node: ir.Node, facts: Facts) -> _Letters | None:
    attribute = node.attributes.get("equation")
    equation = "" if attribute is None else attribute.as_string().replace(" ", "")
    factors, arrow, result = equation.partition("->")
    parts = factors.split(",")
    if arrow and len(parts) == 2 and _REST in equation:
        *parts, result = _spelled((*parts, result), node, facts)
    if not arrow or len(parts) != 2 or not all(part.isalpha() for part in (*parts, result)):
        return None
    if any(len(set(part)) < len(part) for part in (*parts, result)):
        return None
    return _Letters(parts[0], parts[1], result)


def _spelled(parts: Sequence[str], node: ir.Node, facts: Facts) -> tuple[str, ...]:
    """Return the parts of an equation with letters for the axes that dots stand for.

    They stay where the result drops them, and where they are not as many axes in each factor.
    """
    counts = set()
    for part, value in zip(parts, node.inputs, strict=False):
        shape = shapes_of(facts).of(value)
        if _REST in part:
            counts.add(-1 if shape is None else len(shape) - len(part) + len(_REST))
    free = [letter for letter in string.ascii_letters if letter not in "".join(parts)]
    if _REST not in parts[-1] or len(counts) != 1 or not 0 <= min(counts) <= len(free):
        return tuple(parts)
    names = "".join(free[: min(counts)])
    return tuple(part.replace(_REST, names) for part in parts)


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    if not is_standard(node, "Einsum") or len(node.inputs) != 2:
        return None
    if node.outputs[0].dtype not in FLOATS:
        return None
    letters = _read(node, facts)
    if letters is None or letters.left == letters.right:
        return None
    left, right = node.inputs[0], node.inputs[1]
    if letters.is_backward:
        letters, left, right = _Letters(letters.right, letters.left, letters.result), right, left
    parts = (letters.own(letters.left), letters.own(letters.right), letters.summed)
    whole = set(letters.batch + "".join(parts))
    several = any(len(part) > 1 for part in parts[1:])
    if not all(parts) or whole != {*letters.left, *letters.right} or (several and letters.batch):
        return Refusal(
            f"Einsum {node.name!r} computes {letters.left},{letters.right}->{letters.result},"
            " expected one index that is summed and one that a factor has alone,"
            " or none that both factors and the result have",
            "none: this is not one matrix product",
        )
    refusal = _sizes_refusal(node, letters, {"left": left, "right": right}, facts)
    if refusal is not None:
        return refusal
    texts = {"left": letters.left, "right": letters.right, "result": letters.result}
    return Match((node,), node.outputs[0], {"left": left, "right": right}, texts)


def _sizes_refusal(
    node: ir.Node, letters: _Letters, factors: Mapping[str, ir.Value | None], facts: Facts
) -> Refusal | None:
    """Return which ranks or sizes are not known; None: all that are needed are."""
    shapes = shapes_of(facts)
    one, two = factors["left"], factors["right"]
    left, right = shapes.of(one), shapes.of(two)
    if one is None or two is None or left is None or right is None:
        return Refusal(
            f"the factors of Einsum {node.name!r} have no known rank",
            "declare the shapes of the graph's inputs",
        )
    for letter in letters.summed:
        sizes = {left[letters.left.index(letter)], right[letters.right.index(letter)]}
        if 1 in sizes and len(sizes) > 1:
            return Refusal(
                f"Einsum {node.name!r} stretches axis {letter} of one factor, expected equal sizes",
                "none: this is not one matrix product",
            )
    merged = len(letters.summed) > 1 or len(letters.own(letters.right)) > 1
    if merged and not all(isinstance(size, int) for size in right):
        return Refusal(
            f"the sizes of {two.name!r}, a factor of Einsum {node.name!r}, are not"
            " known, expected numbers where several axes are merged",
            "declare the shapes of the graph's inputs",
        )
    return None


def _replace(match: Match, builder: Builder) -> ir.Value:
    texts = {name: str(text) for name, text in match.attributes.items()}
    letters = _Letters(texts["left"], texts["right"], texts["result"])
    make = SizedBuilder(builder, match.output.dtype or ir.DataType.FLOAT)
    two, summed, leading = letters.own(letters.right), letters.summed, letters.leading
    rest = "".join(c for c in letters.own(letters.left) if c not in leading)
    left = _ordered(match.values["left"], letters.left, leading + rest + summed, make)
    shared = "".join(c for c in leading if c in letters.right)
    right = _ordered(match.values["right"], letters.right, shared + summed + two, make)
    right = _spread(right, leading, shared, make)
    split = make.shapes.of(right) or ()
    if len(summed) > 1:
        left = _reshaped(left, (*(make.shapes.of(left) or ())[: -len(summed)],
                                total(split[: len(summed)])), make)  # fmt: skip
    if len(summed) > 1 or len(two) > 1:
        inner = len(split) - len(two)
        right = _reshaped(right, (*split[: inner - len(summed)],
                                  total(split[inner - len(summed) : inner]),
                                  total(split[inner:])), make)  # fmt: skip
    rows, columns = make.shapes.of(left) or (), make.shapes.of(right) or ()
    product = make.node("MatMul", [left, right], (*rows[:-1], columns[-1]))
    if len(two) > 1:
        product = _reshaped(product, (*rows[:-1], *split[-len(two) :]), make)
    return _ordered(product, leading + rest + two, letters.result, make)


def _spread(value: ir.Value, leading: str, have: str, make: SizedBuilder) -> ir.Value:
    """Return a factor with an axis of size 1 for each leading one that it lacks."""
    lacking = [at for at, letter in enumerate(leading) if letter not in have]
    if not lacking:
        return value
    own = make.shapes.of(value) or ()
    known = dict(zip(have, own, strict=False))
    shape = (*(known.get(letter, 1) for letter in leading), *own[len(have) :])
    return make.over_axes("Unsqueeze", value, lacking, shape)


def _reshaped(value: ir.Value, wanted: Shape, make: SizedBuilder) -> ir.Value:
    """Return a value with its last axes merged or split; those in front are copied."""
    have = make.shapes.of(value) or ()
    same = 0
    while same < min(len(have), len(wanted)) and have[same] == wanted[same]:
        same += 1
    sizes = [size if isinstance(size, int) else -1 for size in wanted[same:]]
    return make.node("Reshape", [value, make.numbers([0] * same + sizes)], wanted)


def _ordered(value: ir.Value | None, have: str, want: str, make: SizedBuilder) -> ir.Value:
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
