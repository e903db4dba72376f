"""Read a softmax over several sets of scores side by side as one over one set of keys.

rewrite:
    weights = Softmax(Concat(query · key₁^T + mask₁, query · key₂^T + mask₂))
    weights[…, :n] · value₁ + weights[…, n:] · value₂
    -->
    Softmax(query · Concat(key₁, key₂)^T + Concat(mask₁, mask₂)) · Concat(value₁, value₂)

Global tokens beside a block's own are written so. A sink is a set of scores that come from no
product, and whose weights are thrown away: it becomes a key of zeros with the sink as its bias and
a value of zeros. What comes out is what the rule for attention looks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import Size, add, broadcast
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention import bias, scores
from burnish.rewrite.fusions.attention.parted_weights import PartedWeights, parted
from burnish.rewrite.fusions.attention.replacement import turned_value
from burnish.rewrite.fusions.attention.scores import Scores
from burnish.rewrite.fusions.new_values import SizedBuilder, can_be_read
from burnish.rewrite.matched import in_order
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

_PADS_AS_INPUT = 11


@dataclass(frozen=True, slots=True)
class _Part:
    """One set of scores."""

    value: ir.Value
    """What is added to the others' side; without Expand, if it is a sink."""
    shape: Shape
    scores: Scores | None
    """None: a sink."""
    fits: tuple[bias.Fit, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan(Match):
    """All sets of scores, and the values that they weigh."""

    parts: tuple[_Part, ...] = ()
    after: PartedWeights | None = None
    leading: Shape = field(default=())
    """The axes of the scores but for the last two."""
    over: ir.Value | None = None
    """What is added to all sets together."""


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return the sets of scores of a softmax; None: it has one."""
    joined = _joined(node.inputs[0], facts) if is_standard(node, "Softmax") else None
    if joined is None:
        return None
    concat = joined.concat
    shapes, whole = shapes_of(facts), shapes_of(facts).of(node.inputs[0])
    if whole is None or len(whole) < 3 or node.outputs[0].dtype not in FLOATS:
        return None
    last = {-1, len(whole) - 1}
    if not {node.attributes.get_int("axis", -1), concat.attributes.get_int("axis", 0)} <= last:
        return None
    inputs = [value for value in concat.inputs if value is not None]
    if not any(scores.leads_to_product(value) for value in inputs):
        return None
    parts: list[_Part] = []
    for value in inputs:
        part = _part(value, shapes.of(value), facts)
        if not isinstance(part, _Part):
            return part
        parts.append(part)
    after = parted(node, [part.shape[-1] for part in parts], facts)
    return None if after is None else _plan(joined, node, parts, after, facts)


@dataclass(frozen=True, slots=True)
class _Joined:
    """Concat(sets of scores) + over."""

    concat: ir.Node
    over: ir.Value | None = None
    nodes: tuple[ir.Node, ...] = ()
    """All of it."""


def _joined(value: ir.Value | None, facts: Facts) -> _Joined | None:
    """Return what joins scores; something may be added to all of them, if it stretches none."""
    node = None if value is None else value.producer()
    if node is None:
        return None
    if is_standard(node, "Concat"):
        return _Joined(node, None, (node,))
    if not is_standard(node, "Add"):
        return None
    whole = shapes_of(facts).of(value)
    for inner, over in (node.inputs[:2], node.inputs[1::-1]):
        concat = None if inner is None else inner.producer()
        if concat is None or not is_standard(concat, "Concat"):
            continue
        if whole is not None and shapes_of(facts).of(inner) == whole:
            return _Joined(concat, over, (concat, node))
    return None


def _part(value: ir.Value, shape: Shape | None, facts: Facts) -> _Part | Refusal | None:
    if shape is None:
        return None
    read = scores.read_value(value, facts)
    if isinstance(read, Refusal):
        return read
    if read is None:
        return _sink(value, shape, facts) if isinstance(shape[-1], int) else None
    product = shapes_of(facts).of(read.product.outputs[0])
    if product != shape or read.softcap or read.floored:
        return None
    fits: list[bias.Fit] = []
    for term in read.terms:
        fitted = bias.fit(term, shape, shape, facts)
        if isinstance(fitted, Refusal):
            return fitted
        fits.append(fitted)
    return _Part(value, shape, read, tuple(fits))


def _sink(value: ir.Value, shape: Shape, facts: Facts) -> _Part:
    node = value.producer()
    source = node.inputs[0] if node is not None and is_standard(node, "Expand") else None
    own = shapes_of(facts).of(source)
    if source is None or own is None or len(own) != len(shape) or own[-1] != shape[-1]:
        return _Part(value, shape, None)
    return _Part(source, own, None)


def _plan(
    joined: _Joined, node: ir.Node, parts: Sequence[_Part], after: PartedWeights, facts: Facts
) -> Match | Refusal | None:
    concat = joined.concat
    read = [part.scores for part in parts if part.scores is not None]
    first = read[0]
    at = [index for index, part in enumerate(parts) if part.scores is not None]
    if at != list(range(at[0], at[-1] + 1)) or not after.is_whole(at[0], at[-1]):
        return None
    if any((each.query.value, each.query.perm, each.scale)
           != (first.query.value, first.query.perm, first.scale) for each in read):  # fmt: skip
        return Refusal(
            f"the scores that Concat {concat.name!r} joins are not those of the same queries at one"
            " scale, expected one attention over several sets of keys",
            "none: a fused operator has one query for all its keys",
        )
    leading = (shapes_of(facts).of(first.product.outputs[0]) or ())[:-2]
    values = {**_values(parts, after), "over": joined.over}
    wanted = [size for part in parts for size in part.shape] + list(leading)
    wanted += [size for _, value in after.values for size in shapes_of(facts).of(value) or ()]
    if not can_be_read(tuple(wanted), facts, values.values()):
        return Refusal(
            f"a size of the scores that Concat {concat.name!r} joins is not that of any input",
            "give the axes of the graph's inputs names, the same for the same size",
        )
    nodes = in_order(*(each.nodes for each in read), joined.nodes, [node], after.nodes)
    return _Plan(
        nodes, after.output, values,
        parts=tuple(parts), after=after, leading=leading, over=joined.over,
    )  # fmt: skip


def _values(parts: Sequence[_Part], after: PartedWeights) -> dict[str, ir.Value | None]:
    named: dict[str, ir.Value | None] = {}
    for index, part in enumerate(parts):
        if part.scores is None:
            named[f"sink_{index}"] = part.value
            continue
        named |= {"query": part.scores.query.value, f"key_{index}": part.scores.key.value}
        terms = enumerate(part.fits)
        named |= {f"bias_{index}_{number}": fit.term.value for number, fit in terms}
    return named | {f"value_{at}": value for at, (_, value) in enumerate(after.values)}


def replace(match: Match, builder: Builder) -> ir.Value:
    """Return the result of one attention over all keys, spelled out."""
    if not isinstance(match, _Plan) or match.output.dtype is None or match.after is None:
        raise ValueError("this match is not one of joined keys")
    make = SizedBuilder(builder, match.output.dtype, match.values.values())
    read = [part.scores for part in match.parts if part.scores is not None]
    query = turned_value(read[0].query, make)
    columns: Size = 0
    for part in match.parts:
        columns = add(columns, part.shape[-1])
    keys = [turned_value(each.key, make) for each in read]
    key = _stacked(keys, match, columns, make)
    rank = len(match.leading) + 2
    last = (make.shapes.of(key) or ())[-1]
    perm = (*range(rank - 2), rank - 1, rank - 2)
    turned = make.node(
        "Transpose", [key], (*match.leading, last, columns), attributes={"perm": perm}
    )
    shape = (*(make.shapes.of(query) or ())[:-1], columns)
    product = make.node("MatMul", [query, turned], shape)
    if read[0].scale != 1.0:
        product = make.node("Mul", [product, make.scalar(read[0].scale)], shape)
    added = _bias(match, make)
    for term in (added, match.over):
        if term is not None:
            product = make.node("Add", [product, term], shape)
    weights = make.node("Softmax", [product], shape, attributes={"axis": rank - 1})
    value = _stacked([value for _, value in match.after.values], match, columns, make)
    result = make.shapes.of(match.output) or ()
    weighed = make.node("MatMul", [weights, value], result)
    factor = match.after.factor
    return weighed if factor == 1.0 else make.node("Mul", [weighed, make.scalar(factor)], result)


def _stacked(values: Sequence[ir.Value], plan: _Plan, rows: Size, make: SizedBuilder) -> ir.Value:
    """Return keys or values below each other, with zeros in place of those of sinks."""
    wide = []
    for value in values:
        own = make.shapes.of(value) or ()
        shape = (*plan.leading, *own[-2:])
        if own != shape:
            value = make.node("Expand", [value, make.shape(shape)], shape)
        wide.append(value)
    rank = len(plan.leading) + 2
    size = (make.shapes.of(wide[0]) or ())[-1]
    own_rows: Size = 0
    for value in wide:
        own_rows = add(own_rows, (make.shapes.of(value) or ())[-2])
    stacked = wide[0]
    if len(wide) > 1:
        stacked = make.node(
            "Concat", wide, (*plan.leading, own_rows, size), attributes={"axis": rank - 2}
        )
    before, behind = _sink_widths(plan.parts)
    if not before and not behind:
        return stacked
    pads = [0] * (2 * rank)
    pads[rank - 2], pads[2 * rank - 2] = before, behind
    whole = (*plan.leading, rows, size)
    if make.builder.opset >= _PADS_AS_INPUT:
        return make.node("Pad", [stacked, make.numbers(pads)], whole)
    return make.node("Pad", [stacked], whole, attributes={"pads": tuple(pads)})


def _sink_widths(parts: Sequence[_Part]) -> tuple[int, int]:
    """Return how many sinks stand in front of all scores, and behind them."""
    at = [index for index, part in enumerate(parts) if part.scores is not None]
    return _width(parts[: at[0]]), _width(parts[at[-1] + 1 :])


def _width(parts: Sequence[_Part]) -> int:
    return sum(size for part in parts for size in part.shape[-1:] if isinstance(size, int))


def _bias(plan: _Plan, make: SizedBuilder) -> ir.Value | None:
    """Return what is added to all scores; None: nothing."""
    if all(part.scores is not None and not part.fits for part in plan.parts):
        return None
    added: list[tuple[ir.Value, Shape]] = []
    rank = len(plan.leading) + 2
    for part in plan.parts:
        if part.scores is None:
            added.append((part.value, part.shape))
        elif part.fits:
            added.append(bias.total(part.fits, make))
        else:
            added.append((make.scalar(0.0), (*(1 for _ in range(rank - 1)), part.shape[-1])))
    front = added[0][1][:-1]
    for _, shape in added[1:]:
        pairs = zip(front, shape[:-1], strict=True)
        front = tuple(broadcast(one, other) or one for one, other in pairs)
    wide: list[ir.Value] = []
    columns: Size = 0
    for value, shape in added:
        wanted = (*front, shape[-1])
        columns = add(columns, shape[-1])
        if make.shapes.of(value) != wanted:
            value = make.node("Expand", [value, make.shape(wanted)], wanted)
        wide.append(value)
    return make.node("Concat", wide, (*front, columns), attributes={"axis": rank - 1})


RULES = (
    Rule(
        "joined-keys",
        "Softmax(Concat(q · k₁^T, q · k₂^T, sink)) --> Softmax(q · Concat(k₁, k₂, 0)^T + bias)",
        anchors=frozenset({"Softmax"}),
        find=find,
        replace=replace,
    ),
)
