"""Sums of products of short numbers, a word of 32 bits at a step: four bytes, or two bf16.

    Σ_k wide(a[m, k]) · wide(b[k, n])   →   Σ_q dot(aʷ[m, q], bʷ[q, n])

`a` is read as it lies, neighbouring numbers at once; `b`, a constant, is laid out anew, so that the
numbers that meet them are neighbours too. What `dot` is, each instruction set says for itself
(`burnish.codegen.cpu.dots`); of bytes no sum is cut short, and the result is that of the plain sum
to the last bit. What does not lie so is summed term by term.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from burnish.codegen.cpu.form import Access, NestForm, Range, Words
from burnish.codegen.cpu.linear import Linear
from burnish.codegen.cpu.target import InstructionSet
from burnish.core.arrays import Array, Arrays
from burnish.tile.expr import Argument, Call, Expr
from burnish.tile.graph import TileOp
from burnish.tile.index import Axis

BYTES, HALVES = 4, 2
"""How many of them are in a word."""


@dataclass(frozen=True, slots=True)
class _Product:
    """Two reads whose products are summed."""

    left: int
    right: int
    """The constant."""
    terms: int
    """Numbers in a word."""
    dot: str


def word_read(op: TileOp) -> tuple[int, int] | None:
    """Return which read of a sum of products of bytes should lie in words, and how many are in one.

    None: it is no such sum. Of bf16 either may be the constant, so nothing is wished for.
    """
    match op.body:
        case Call("multiply", (first, second), "i32") if op.combine == "sum":
            for factor in (_short(first), _short(second)):
                if factor is not None and factor.dtype == "u8":
                    return factor.position, BYTES
    return None


def in_words(
    nest: NestForm, constants: Arrays, target: InstructionSet
) -> tuple[NestForm, dict[str, Array]]:
    """Return the nest with a word of terms to a step, and the constant it reads then.

    Where it is no such sum, or its numbers lie apart, it comes back as it was.
    """
    found = _product(nest, constants, target)
    along = None if found is None else _along(nest, nest.reads[found.left], found.terms)
    if found is None or along is None:
        return nest, {}
    terms = found.terms
    weights = nest.reads[found.right]
    if weights.offset.rest or weights.guards or weights.tensor not in constants:
        return nest, {}
    step = Axis(f"{along.axis.name}/{terms}", along.size // terms)
    name = f"{weights.tensor}|{nest.op.output}|{terms} of {along.axis.name}"
    reduced = tuple(
        Range(step, step.extent, True, (step,)) if each is along else each for each in nest.reduced
    )
    array, offset = _laid_out(nest, weights, (along, step), constants[weights.tensor])
    reads = list(nest.reads)
    reads[found.left] = _in_steps(nest.reads[found.left], along.axis, step, terms)
    reads[found.right] = replace(weights, tensor=name, dtype="i32", offset=offset)
    words = Words(found.dot, found.left, found.right)
    return replace(nest, reads=tuple(reads), reduced=reduced, words=words), {name: array}


def _product(nest: NestForm, constants: Arrays, target: InstructionSet) -> _Product | None:
    """Return which numbers are multiplied and added, if they are short ones."""
    match nest.op.body:
        case Call("multiply", (first, second), wide) if nest.op.combine == "sum":
            left, right = _short(first), _short(second)
        case _:
            return None
    if left is None or right is None:
        return None
    types = (left.dtype, right.dtype)
    if wide == "i32" and types in (("u8", "i8"), ("i8", "u8")):
        unsigned, signed = (left, right) if left.dtype == "u8" else (right, left)
        return _Product(unsigned.position, signed.position, BYTES, target.dot)
    if wide == "f32" and types == ("bf16", "bf16"):
        if nest.reads[left.position].tensor in constants:
            left, right = right, left
        return _Product(left.position, right.position, HALVES, target.dot_bf16)
    return None


def _short(factor: Expr) -> Argument | None:
    match factor:
        case Call("cast", (Argument() as read,), _):
            return read
    return None


def _along(nest: NestForm, read: Access, terms: int) -> Range | None:
    """Return the part of the sum along which words lie: each begins where one may begin."""
    offset = read.offset
    if offset.rest or read.guards:
        return None
    for each in nest.reduced:
        others = (stride for axis, stride in offset.strides.items() if axis != each.axis)
        whole = all(stride % terms == 0 for stride in (offset.constant, *others))
        if whole and offset.stride(each.axis) == 1 and each.size % terms == 0:
            return each
    return None


def _in_steps(read: Access, along: Axis, step: Axis, terms: int) -> Access:
    strides = {axis: stride // terms for axis, stride in read.offset.strides.items()}
    del strides[along]
    offset = Linear({**strides, step: 1}, read.offset.constant // terms)
    return replace(read, dtype="i32", offset=offset)


def _laid_out(
    nest: NestForm, read: Access, steps: tuple[Range, Axis], constant: Array
) -> tuple[Array, Linear]:
    """Return the elements as [steps][other axes] of words, and where each step's are."""
    along, step = steps
    terms = along.size // step.extent
    walked = (each for each in (*nest.reduced, *nest.spatial) if each is not along)
    used = [each for each in walked if read.offset.depends(each.axis)]
    shape = (step.extent, *(each.axis.extent for each in used), terms)
    strides = [read.offset.stride(each.axis) for each in (along, *used, along)]
    strides[0] *= terms
    position = np.full(shape, read.offset.constant, np.int64)
    for place, stride in enumerate(strides):
        numbers = np.arange(shape[place], dtype=np.int64) * stride
        position += numbers.reshape([-1 if at == place else 1 for at in range(len(shape))])
    elements = np.ascontiguousarray(constant).reshape(-1)[position]
    array: Array = elements.view(np.int32)[..., 0]
    axes = (step, *(each.axis for each in used))
    places = {axis: int(np.prod(array.shape[at + 1 :])) for at, axis in enumerate(axes)}
    return array, Linear(places)
