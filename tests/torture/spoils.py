"""Errors that can be planted in any model, whatever it is: a scoreboard over models and types.

Each spoils a copy in place, or raises `NothingToSpoilError` where a model has nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.draft import Draft

Spoil = Callable[[Draft], None]
Found = TypeVar("Found")

_PRODUCTS = ("MatMul", "Gemm", "Conv", "LSTM")


class NothingToSpoilError(Exception):
    """A model has nothing of what an error is about."""


SPOILS: dict[str, Spoil] = {}
"""By what is wrong."""


def spoil(name: str) -> Callable[[Spoil], Spoil]:
    """Return what keeps a function as an error of this name."""

    def kept(function: Spoil) -> Spoil:
        SPOILS[name] = function
        return function

    return kept


def spoilt(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Return a copy with one error."""
    draft = Draft(model)
    SPOILS[name](draft)
    return draft.finish()


# what is in a model


def _held(draft: Draft, name: str) -> Array | None:
    """Return what a constant holds; None: it is none."""
    try:
        return draft.array(name)
    except (StopIteration, LookupError):
        return None


def _is_real(array: Array | None) -> bool:
    return array is not None and (array.dtype.kind == "f" or array.dtype.name == "bfloat16")


def _one(found: list[Found], what: str) -> Found:
    """Return the middle one."""
    if not found:
        raise NothingToSpoilError(what)
    return found[len(found) // 2]


def _weights(draft: Draft) -> Iterator[str]:
    """Yield the names of weights of products; where bytes are multiplied, of their steps."""
    makers = {name: node for node in draft.graph.node for name in node.output}
    for node in draft.graph.node:
        if node.op_type == "MatMulIntegerToFloat":
            yield node.input[3]
        for name in node.input[1:2] if node.op_type in _PRODUCTS else ():
            while (maker := makers.get(name)) is not None and maker.op_type in (
                "Transpose",
                "Cast",
            ):
                name = maker.input[0]
            if maker is not None and maker.op_type == "DequantizeLinear":
                if _held(draft, maker.input[0]) is not None:
                    yield maker.input[1]
            elif _is_real(array := _held(draft, name)) and array is not None and array.ndim > 1:
                yield name


def _matrix(draft: Draft) -> str:
    found = [name for name in _weights(draft) if np.ndim(draft.array(name)) > 1]
    return _one(found, "weights")


def _biases(draft: Draft) -> Iterator[str]:
    for node in draft.graph.node:
        names = {"Add": node.input[:2], "Conv": node.input[2:3], "Gemm": node.input[2:3]}
        for name in names.get(node.op_type, ()):
            array = _held(draft, name)
            if _is_real(array) and array is not None and array.size > 1 and np.any(array):
                yield name


def _scaled(by: float) -> Spoil:
    def scale(draft: Draft) -> None:
        name = _one([*_weights(draft)], "weights")
        draft.change(name, lambda array: (array.astype(np.float64) * by).astype(array.dtype))

    return scale


for _percent in (1, 2, 5, 10):
    SPOILS[f"weight {_percent} % off"] = _scaled(1 + _percent / 100)


@spoil("weights swapped")
def _swapped(draft: Draft) -> None:
    names = [*_weights(draft)]
    shapes = [draft.array(name).shape for name in names]
    for at, name in enumerate(names):
        for other in range(at + 1, len(names)):
            one, two = draft.array(name), draft.array(names[other])
            if shapes[at] == shapes[other] and (one != two).any():
                draft.put(name, two)
                draft.put(names[other], one)
                return
    raise NothingToSpoilError("two weights of one shape")


@spoil("gamma and beta swapped")
def _turned(draft: Draft) -> None:
    nodes = [n for n in draft.graph.node if n.op_type.endswith("LayerNormalization")
             or n.op_type == "BatchNormalization"]  # fmt: skip
    node = _one([n for n in nodes if len(n.input) > 2], "a norm")
    node.input[1], node.input[2] = node.input[2], node.input[1]


@spoil("bias dropped")
def _unbiased(draft: Draft) -> None:
    draft.change(_one([*_biases(draft)], "a bias"), np.zeros_like)


@spoil("square weight transposed")
def _transposed(draft: Draft) -> None:
    squares = [
        name for name in _weights(draft)
        if (shape := draft.array(name).shape)[:1] == shape[1:2] and shape
    ]  # fmt: skip
    draft.change(_one(squares, "a square weight"), lambda array: np.swapaxes(array, 0, 1))


@spoil("weight rolled by one")
def _rolled(draft: Draft) -> None:
    draft.change(_matrix(draft), lambda array: np.roll(array, 1, -1))


@spoil("channel of zeros")
def _silent(draft: Draft) -> None:
    def change(array: Array) -> None:
        array[(0,) if array.ndim > 2 else (..., 0)] = 0

    draft.change(_matrix(draft), change)


@spoil("a quarter of channels zero")
def _headless(draft: Draft) -> None:
    def change(array: Array) -> None:
        array[..., : max(array.shape[-1] // 4, 1)] = 0

    draft.change(_matrix(draft), change)


@spoil("one element of a weight off by half")
def _one_element(draft: Draft) -> None:
    def change(array: Array) -> None:
        at = np.unravel_index(int(np.abs(array.astype(np.float64)).argmax()), array.shape)
        array[at] = array[at] * array.dtype.type(0.5)

    draft.change(_one([*_weights(draft)], "weights"), change)


@spoil("epsilon 10 times")
def _epsilon(draft: Draft) -> None:
    for node in draft.graph.node:
        for each in node.attribute:
            if each.name == "epsilon":
                draft.set(node, epsilon=each.f * 10)
                return
    raise NothingToSpoilError("an epsilon")


@spoil("GELU by tanh")
def _tanh(draft: Draft) -> None:
    nodes = [n for n in draft.graph.node if n.op_type in ("Gelu", "Erf")]
    node = _one(nodes, "a GELU by erf")
    if node.op_type == "Gelu":
        if any(each.s == b"tanh" for each in node.attribute):
            raise NothingToSpoilError("a GELU by erf")
        draft.set(node, approximate="tanh")
        return
    given = node.input[0]
    kind = _type_of_constants(draft)
    cube = draft.op("Mul", draft.op("Mul", given, given), given)
    inner = draft.op("Add", given, draft.op("Mul", cube, np.array(0.08943, kind)))
    draft.replace(node, "Tanh", draft.op("Mul", inner, np.array(2 / np.pi**0.5, kind)))


def _type_of_constants(draft: Draft) -> np.dtype[np.generic]:
    return _one([a.dtype for n in _weights(draft) for a in (draft.array(n),)], "weights")


@spoil("missing scale")
def _unscaled(draft: Draft) -> None:
    found = [
        name
        for node in draft.graph.node
        if node.op_type in ("Mul", "Div")
        for name in node.input
        if _is_real(array := _held(draft, name)) and array is not None and array.size == 1
        and 0 < abs(float(array.reshape(-1)[0])) < 100 and float(array.reshape(-1)[0]) != 1
    ]  # fmt: skip
    draft.change(_one(found, "a scale"), np.ones_like)


@spoil("softmax over another axis")
def _softmax(draft: Draft) -> None:
    draft.set(_one([n for n in draft.graph.node if n.op_type == "Softmax"], "Softmax"), axis=-2)


def _mask(draft: Draft) -> str:
    names = [each.name for each in draft.graph.input if "mask" in each.name]
    return _one(names, "a mask")


@spoil("mask ignored")
def _unmasked(draft: Draft) -> None:
    draft.after(_mask(draft), lambda was: draft.op("Add", draft.op("Mul", was, 0), 1))


@spoil("mask inverted")
def _inverted(draft: Draft) -> None:
    draft.after(_mask(draft), lambda was: draft.op("Sub", 1, was))


@spoil("slice off by one")
def _sliced(draft: Draft) -> None:
    """Let a slice of a value that is not the last begin and end one later or earlier."""
    for node in draft.graph.node:
        if node.op_type != "Slice":
            continue
        start, end = (_held(draft, name) for name in node.input[1:3])
        if start is None or end is None or int(start.max()) < 1 or int(end.max()) > 1 << 20:
            continue
        node.input[1], node.input[2] = draft.constant(start - 1), draft.constant(end - 1)
        return
    raise NothingToSpoilError("a slice within a value")


@spoil("pads shifted by one")
def _padded(draft: Draft) -> None:
    for node in draft.graph.node:
        for each in node.attribute:
            if each.name == "pads" and len(each.ints) == 4 and min(each.ints) > 0:
                pads = [each.ints[0] - 1, *each.ints[1:2], each.ints[2] + 1, each.ints[3]]
                draft.set(node, pads=pads)
                return
    raise NothingToSpoilError("pads")


@spoil("index off by one")
def _indexed(draft: Draft) -> None:
    """Let the first table be read a row further on."""
    for node in draft.graph.node:
        if node.op_type == "Gather" and _is_real(table := _held(draft, node.input[0])):
            draft.change(node.input[0], lambda array: np.roll(array, 1, 0))
            assert table is not None
            return
    raise NothingToSpoilError("a table")
