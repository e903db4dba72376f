"""Sums of products of bytes, four terms at a step: operands as numbers of 32 bits, four to each.

    Σ_k i32(a[m, k]) · i32(b[k, n])   →   Σ_q dot(a⁴[m, q], b⁴[q, n])

`a` is read as it lies, four neighbouring bytes at once; `b`, a constant, is laid out anew, so that
the four bytes that meet them are neighbours too. What `dot` is, each instruction set says for
itself (`burnish.codegen.cpu.dots`); whatever it is, no sum is cut short, and the result is that of
the plain sum to the last bit. What does not lie so is summed term by term.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from burnish.codegen.cpu.form import Access, NestForm, Quads, Range
from burnish.codegen.cpu.linear import Linear
from burnish.core.arrays import Array, Arrays
from burnish.tile.expr import Argument, Call, Expr
from burnish.tile.index import Axis

TERMS = 4
"""Bytes in a number of 32 bits."""


def in_quads(nest: NestForm, constants: Arrays, dot: str) -> tuple[NestForm, dict[str, Array]]:
    """Return the nest with four terms to a step, added by `dot`, and the constant it reads then.

    Where it is no such sum, or its bytes lie apart, it comes back as it was.
    """
    factors = _factors(nest)
    if factors is None or len(nest.reduced) != 1 or nest.reduced[0].size % TERMS:
        return nest, {}
    left, right = factors
    along = nest.reduced[0]
    if not _lies_in_quads(nest.reads[left], along.axis):
        return nest, {}
    weights = nest.reads[right]
    if weights.offset.rest or weights.guards or weights.tensor not in constants:
        return nest, {}
    step = Axis(f"{along.axis.name}/{TERMS}", along.size // TERMS)
    name = f"{weights.tensor}|{nest.op.output}|{TERMS} of {along.axis.name}"
    array, offset = _laid_out(nest, weights, step, constants[weights.tensor])
    reads = list(nest.reads)
    reads[left] = _in_steps(nest.reads[left], along.axis, step)
    reads[right] = replace(weights, tensor=name, dtype="i32", offset=offset)
    reduced = (Range(step, step.extent, True, (step,)),)
    return replace(nest, reads=tuple(reads), reduced=reduced, quads=Quads(dot, left, right)), {
        name: array
    }


def _factors(nest: NestForm) -> tuple[int, int] | None:
    """Return the positions of unsigned bytes and of signed bytes of which products are summed."""
    match nest.op.body:
        case Call("multiply", (first, second), "i32") if nest.op.combine == "sum":
            by_type = {_byte(first): first, _byte(second): second}
            left, right = by_type.get("u8"), by_type.get("i8")
            if left is not None and right is not None:
                return _position(left), _position(right)
    return None


def _byte(factor: Expr) -> str:
    match factor:
        case Call("cast", (Argument(_, dtype),), _):
            return dtype
    return ""


def _position(factor: Expr) -> int:
    match factor:
        case Call("cast", (Argument(position, _),), _):
            return position
    raise TypeError(f"{factor} is no byte")


def _lies_in_quads(read: Access, along: Axis) -> bool:
    """Say whether every four bytes along the sum begin where a number of 32 bits may begin."""
    offset = read.offset
    others = (stride for axis, stride in offset.strides.items() if axis != along)
    whole = all(stride % TERMS == 0 for stride in (offset.constant, *others))
    return whole and not offset.rest and not read.guards and offset.stride(along) == 1


def _in_steps(read: Access, along: Axis, step: Axis) -> Access:
    strides = {axis: stride // TERMS for axis, stride in read.offset.strides.items()}
    del strides[along]
    offset = Linear({**strides, step: 1}, read.offset.constant // TERMS)
    return replace(read, dtype="i32", offset=offset)


def _laid_out(nest: NestForm, read: Access, step: Axis, constant: Array) -> tuple[Array, Linear]:
    """Return the elements as [steps][spatial axes] of four bytes, and where each step's are."""
    along = nest.reduced[0]
    used = [each for each in nest.spatial if read.offset.depends(each.axis)]
    shape = (step.extent, *(each.axis.extent for each in used), TERMS)
    strides = [read.offset.stride(each.axis) for each in (along, *used, along)]
    strides[0] *= TERMS
    position = np.full(shape, read.offset.constant, np.int64)
    for place, stride in enumerate(strides):
        numbers = np.arange(shape[place], dtype=np.int64) * stride
        position += numbers.reshape([-1 if at == place else 1 for at in range(len(shape))])
    elements = np.ascontiguousarray(constant).reshape(-1)[position]
    array: Array = elements.view(np.int32)[..., 0]
    axes = (step, *(each.axis for each in used))
    places = {axis: int(np.prod(array.shape[at + 1 :])) for at, axis in enumerate(axes)}
    return array, Linear(places)
