"""Einsum: sums of elements, or of products of tensors, along named dimensions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from burnish.operators.loops.products import Over, contract, reduce_nest, widened
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.size import Size
from burnish.tile.expr import cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at
from burnish.tile.pointwise import present
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError

_LABEL = re.compile(r"\.\.\.|[A-Za-z]")


def einsum(builder: NestBuilder, node: Node) -> None:
    """Add what the equation says: labels that the output lacks are summed over.

    Of more than two operands the first two become one, with the labels that are needed later.
    """
    names = list(present(node.inputs))
    terms, result = _labels(
        node.attributes["equation"], [builder.type(name).shape for name in names]
    )
    if len(set(result)) != len(result):
        raise NotCoveredError("a label of its output is repeated")
    while len(names) > 2:
        later = {*result, *(label for term in terms[2:] for label in term)}
        kept = tuple(dict.fromkeys(each for term in terms[:2] for each in term if each in later))
        product = builder.fresh(f"{node.outputs[0]}.product")
        _summed(builder, product, names[:2], terms[:2], kept)
        names[:2], terms[:2] = [product], [kept]
    _summed(builder, node.outputs[0], names, terms, result)


def _summed(
    builder: NestBuilder,
    output: str,
    names: Sequence[str],
    terms: Sequence[tuple[str, ...]],
    result: Sequence[str],
) -> None:
    """Add the sum of elements, or of products of two, over the labels that the result lacks."""
    shapes = [builder.type(name).shape for name in names]
    extents = _extents(terms, shapes)
    axes = {label: Axis(label, size) for label, size in extents.items() if isinstance(size, int)}
    spatial = [axes[label] for label in result]
    reduced = [axis for label, axis in axes.items() if label not in result]
    reads = [
        Read(
            name, tuple(_place(axes[label], size) for label, size in zip(term, shape, strict=True))
        )
        for name, term, shape in zip(names, terms, shapes, strict=True)
    ]
    if len(reads) == 2:
        contract(builder, output, spatial, reads, reduced)
        return
    dtype = builder.type(names[0]).dtype
    over = Over("sum", reduced, lambda total: cast(total, dtype))
    reduce_nest(builder, output, spatial, reads, widened(builder, reads[0], 0), over)


def _labels(
    equation: str, shapes: Sequence[Sequence[Size]]
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the labels of each operand's dimensions, and of the output's."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    operands = left.split(",")
    if len(operands) != len(shapes):
        raise NotCoveredError(f"its equation {equation!r} is not for {len(shapes)} operands")
    written = [_LABEL.findall(operand) for operand in operands]
    most = 0
    for term, shape in zip(written, shapes, strict=True):
        if "..." in term:
            most = max(most, len(shape) - len(term) + 1)
    hidden = [f"...{n}" for n in range(most)]
    terms = [
        _spelled(term, len(shape), hidden) for term, shape in zip(written, shapes, strict=True)
    ]
    if arrow:
        return terms, tuple(_spelled(_LABEL.findall(right), None, hidden))
    used = [label for term in written for label in term if label != "..."]
    once = sorted(label for label in set(used) if used.count(label) == 1)
    return terms, (*hidden, *once)


def _spelled(term: Sequence[str], rank: int | None, hidden: Sequence[str]) -> tuple[str, ...]:
    """Return the labels with those that `...` stands for, the last ones where it has fewer."""
    if "..." not in term:
        if rank is not None and len(term) != rank:
            raise NotCoveredError(f"an operand of rank {rank} has {len(term)} labels")
        return tuple(term)
    count = len(hidden) if rank is None else rank - len(term) + 1
    place = list(term).index("...")
    return (*term[:place], *hidden[len(hidden) - count :], *term[place + 1 :])


def _extents(terms: Sequence[Sequence[str]], shapes: Sequence[Sequence[Size]]) -> dict[str, Size]:
    found: dict[str, Size] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for label, size in zip(term, shape, strict=True):
            found[label] = size if found.get(label, 1) == 1 else found[label]
    return found


def _place(axis: Axis, size: int) -> Index:
    return at(axis) if size != 1 else Index()


def _shape(at: Operands) -> Sequence[Partial | None]:
    shapes = [shape for shape in at.inputs if shape is not None]
    if len(shapes) < len(at.inputs):
        return [None]
    terms, result = _labels(at.text("equation"), shapes)
    extents = _extents(terms, shapes)
    return [tuple(extents[label] for label in result)]


def _work(at: Operands) -> float:
    """Return two operations for every point of the loop nest that the equation describes."""
    shapes = [at.sizes(index) for index in range(len(at.inputs))]
    terms, _ = _labels(at.text("equation"), shapes)
    points = math.prod(size for size in _extents(terms, shapes).values() if isinstance(size, int))
    return float(max(1, 2 * (len(terms) - 1)) * points)


register({"Einsum": Operator(shape=_shape, work=_work, loops=einsum)})
