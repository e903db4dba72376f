"""Errors at what a model takes and gives: only for some inputs, only in some places."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper

from torture.draft import Draft
from torture.spoils import SPOILS, NothingToSpoilError, Spoil, spoil

_FLOATS = {
    TensorProto.FLOAT: np.dtype(np.float32),
    TensorProto.FLOAT16: np.dtype(np.float16),
    TensorProto.BFLOAT16: helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16),
}


def _real(values: list[ValueInfoProto], what: str) -> tuple[str, np.dtype[np.generic]]:
    for value in values:
        kind = value.type.tensor_type.elem_type
        if kind in _FLOATS:
            return value.name, _FLOATS[kind]
    raise NothingToSpoilError(what)


def _where(draft: Draft, condition: str, value: str, by: float, kind: np.dtype[np.generic]) -> str:
    """Return a value that is off where a condition holds."""
    other = draft.op("Mul", value, np.array(by, kind))
    return draft.op("Where", condition, other, value)


def _row_of(draft: Draft, value: str, axis: int, place: str) -> str:
    """Return whether an element lies at a place of an axis, in the shape of all after it."""
    size = draft.size(value, axis)
    places = draft.op("Range", 0, size, 1)
    at = draft.op("Sub", size, 1) if place == "last" else draft.constant(np.array(0))
    found = draft.op("Greater" if place == "not first" else "Equal", places, at)
    rank = next(
        len(each.type.tensor_type.shape.dim) for each in draft.graph.output if each.name == value
    )
    return draft.op("Unsqueeze", found, [*range(1, rank - axis)]) if rank - axis > 1 else found


def _at_output(axis: int, place: str, by: float) -> Spoil:
    def plant(draft: Draft) -> None:
        name, kind = _real([*draft.graph.output], "a real output")
        rank = len(draft.graph.output[0].type.tensor_type.shape.dim)
        if axis >= rank:
            raise NothingToSpoilError("such an axis")
        draft.after(
            name,
            lambda was: _where(draft, _row_of(draft, was, axis, place), was, by, kind),
        )

    return plant


SPOILS["last row of an output 5 % off"] = _at_output(0, "last", 1.05)
SPOILS["rows but the first 5 % off"] = _at_output(0, "not first", 1.05)
SPOILS["one position 5 % off"] = _at_output(1, "last", 1.05)
SPOILS["output 1 % off"] = _at_output(0, "not first", 1.01)


def _at_input(operator: str, bound: float) -> Spoil:
    def plant(draft: Draft) -> None:
        name, kind = _real([*draft.graph.input], "a real input")
        draft.after(
            name,
            lambda was: _where(
                draft, draft.op(operator, was, np.array(bound, kind)), was, 1.05, kind
            ),
        )

    return plant


SPOILS["negative inputs 5 % off"] = _at_input("Less", 0.0)
SPOILS["inputs below -5 5 % off"] = _at_input("Less", -5.0)
SPOILS["inputs above 20 5 % off"] = _at_input("Greater", 20.0)


def _at_size(axis: int, operator: str, bound: int) -> Spoil:
    def plant(draft: Draft) -> None:
        first = draft.graph.input[0]
        dims = first.type.tensor_type.shape.dim
        if axis >= len(dims) or not dims[axis].dim_param:
            raise NothingToSpoilError("such a size")
        name, kind = _real([*draft.graph.output], "a real output")
        found = draft.op(operator, draft.size(first.name, axis), bound)
        draft.after(name, lambda was: _where(draft, found, was, 1.05, kind))

    return plant


SPOILS["batch above 1"] = _at_size(0, "Greater", 1)
SPOILS["batch above 8"] = _at_size(0, "Greater", 8)
SPOILS["length above 100"] = _at_size(1, "Greater", 100)
SPOILS["length of 1"] = _at_size(1, "Equal", 1)


def _instead(number: float) -> Spoil:
    def plant(draft: Draft) -> None:
        name, kind = _real([*draft.graph.output], "a real output")
        rank = len(draft.graph.output[0].type.tensor_type.shape.dim)

        def change(was: str) -> str:
            found = _row_of(draft, was, 0, "last")
            for axis in range(1, rank):
                found = draft.op("And", found, _row_of(draft, was, axis, "last"))
            return draft.op("Where", found, np.array(number, kind), was)

        draft.after(name, change)

    return plant


SPOILS["NaN in one element"] = _instead(np.nan)
SPOILS["infinity in one element"] = _instead(np.inf)
SPOILS["zero in one element"] = _instead(0.0)


@spoil("another type of an output")
def _retyped(draft: Draft) -> None:
    name, _ = _real([*draft.graph.output], "a real output")
    draft.after(name, lambda was: draft.op("Cast", was, to=TensorProto.DOUBLE))
    for each in draft.graph.output:
        if each.name == name:
            each.type.tensor_type.elem_type = TensorProto.DOUBLE


@spoil("outputs in another order")
def _reordered(draft: Draft) -> None:
    """Let two outputs of one type and shape have each other's names."""
    outputs = [*draft.graph.output]
    for at, one in enumerate(outputs):
        for two in outputs[at + 1 :]:
            if one.type.SerializeToString() == two.type.SerializeToString():
                names = {one.name: two.name, two.name: one.name}
                for node in draft.graph.node:
                    node.output[:] = [names.get(name, name) for name in node.output]
                    node.input[:] = [names.get(name, name) for name in node.input]
                return
    raise NothingToSpoilError("two outputs of one kind")


@spoil("an open size fixed")
def _fixed(draft: Draft) -> None:
    """Let a model take one row only, where the original takes any number."""
    dims = draft.graph.input[0].type.tensor_type.shape.dim
    if not dims or not dims[0].dim_param:
        raise NothingToSpoilError("an open size")
    name, _ = _real([*draft.graph.output], "a real output")
    draft.after(name, lambda was: draft.op("Slice", was, [0], [1], [0]))


@spoil("an integer off by one")
def _integer(draft: Draft) -> None:
    for each in draft.graph.output:
        if each.type.tensor_type.elem_type == TensorProto.INT64:
            draft.after(
                each.name,
                lambda was: draft.op(
                    "Add", was, draft.op("Cast", draft.op("Equal", was, 3), to=TensorProto.INT64)
                ),
            )
            return
    raise NothingToSpoilError("whole numbers")
