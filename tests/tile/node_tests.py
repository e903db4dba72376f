"""ONNX's own node tests, as models that are static and data that is ready to be fed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.lower import cover, lower

CONSTANT_INPUTS: Mapping[str, tuple[int, ...]] = {
    "CenterCropPad": (1,), "ConstantOfShape": (0,), "CumProd": (1,), "CumSum": (1,),
    "Dropout": (1, 2), "Expand": (1,),
    "OneHot": (1,), "Pad": (1, 3), "Range": (0, 1, 2), "ReduceL1": (1,),
    "ReduceL2": (1,), "ReduceLogSum": (1,), "ReduceLogSumExp": (1,), "ReduceMax": (1,),
    "ReduceMean": (1,), "ReduceMin": (1,), "ReduceProd": (1,), "ReduceSum": (1,),
    "ReduceSumSquare": (1,), "Reshape": (1,), "Resize": (1, 2, 3), "ReverseSequence": (1,),
    "ScatterElements": (1,),
    "ScatterND": (1,), "Slice": (1, 2, 3, 4),
    "Split": (1,), "Squeeze": (1,), "Tile": (1,), "TopK": (1,), "Trilu": (1,),
    "Unsqueeze": (1,), "Upsample": (1,),
}  # fmt: skip
"""Inputs by operator and position that decide shapes or loops: their data is part of the model."""

TWO_LAST_PLACES = {"bfloat16": 2**-6, "float16": 2**-9}
"""The least relative tolerance by element type: onnx's own runner has it for bfloat16, where one
unit in the last place is above every test's tolerance; in float16 it is just about that."""

OnnxTest = OnnxData = Any
"""A test case of onnx, and what it feeds: neither has type information."""

Execute = Callable[[TileGraph, Mapping[str, Array]], Mapping[str, Array]]


@dataclass(frozen=True)
class Case:
    """One node test: a model with static shapes, what it is fed, and what must come out."""

    name: str
    model: ir.Model
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    rtol: float
    atol: float
    operator: str
    """The operator that the test is about; of an expanded one the operator that was expanded."""

    @property
    def obstacle(self) -> str | None:
        """Return why the test cannot be run, with the node that is in the way; None: it can."""
        left = cover(self.model.graph, sends=True).left
        return next((f"{name}: {reason}" for name, reason in left.items()), None)


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """Return every node test whose data are dense tensors."""
    return tuple(found for found in _all().values() if isinstance(found, Case))


def unusable() -> dict[str, str]:
    """Return the tests that are no cases at all, with the reason."""
    return {name: reason for name, reason in _all().items() if isinstance(reason, str)}


TRANSFORMS = ("DFT", "STFT")


def run(case: Case, execute: Execute) -> None:
    """Lower all nodes of a case, execute the nests, and compare with what the test expects."""
    graph = lower(list(case.model.graph)).graph
    found = execute(graph, {name: case.inputs[name] for name in graph.inputs})
    for name, expected in case.outputs.items():
        _compare(case, name, np.asarray(found[name]), expected)


def _compare(case: Case, name: str, found: Array, expected: Array) -> None:
    assert found.dtype == expected.dtype, f"{name}: {found.dtype} instead of {expected.dtype}"
    assert found.shape == expected.shape, f"{name}: {found.shape} instead of {expected.shape}"
    if expected.dtype.kind in "fV":
        rtol = max(case.rtol, TWO_LAST_PLACES.get(expected.dtype.name, 0.0))
        atol = case.atol
        if case.operator in TRANSFORMS:
            # what is zero there is a sum of large terms, and as far from zero as those are rounded
            atol = max(atol, float(np.abs(expected).max() * np.finfo(np.float32).eps))
        np.testing.assert_allclose(
            found.astype(np.float64), expected.astype(np.float64), rtol, atol
        )
    else:
        np.testing.assert_array_equal(found, expected)


@lru_cache(maxsize=1)
def _all() -> dict[str, Case | str]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = collect_testcases(None)
    plain = {test.name: _first_operator(test) for test in tests}
    return {test.name: _case(test, plain) for test in tests}


def _case(test: OnnxTest, operators: Mapping[str, str]) -> Case | str:
    proto = test.model
    fed, expected = test.data_sets[0]
    inputs = {value.name: _array(data) for value, data in zip(proto.graph.input, fed, strict=False)}
    outputs = {
        value.name: _array(data) for value, data in zip(proto.graph.output, expected, strict=False)
    }
    for name, array in (*inputs.items(), *outputs.items()):
        if array is None:
            return f"{name!r} is not a dense tensor"
    model = ir.serde.deserialize_model(proto)
    _bind(model, inputs)
    kept = {value.name for value in model.graph.inputs}
    try:
        bound = static(model, {})
    except ModelError as error:
        return error.problem
    return Case(
        test.name, bound, {name: inputs[name] for name in inputs if name in kept},
        outputs, test.rtol, test.atol,
        # an expanded test is named after the plain one
        operators.get(test.name.partition("_expanded")[0], _first_operator(test)),
    )  # fmt: skip


def _array(data: OnnxData) -> Array | None:
    if isinstance(data, onnx.TensorProto):
        return onnx.numpy_helper.to_array(data)
    return np.asarray(data) if isinstance(data, np.ndarray | np.generic) else None


def _first_operator(test: OnnxTest) -> str:
    node = test.model.graph.node[0]
    return f"{node.domain}.{node.op_type}" if node.domain else str(node.op_type)


def _bind(model: ir.Model, data: Mapping[str, Array]) -> None:
    """Give inputs the shapes of their data, and make constants of those that decide shapes."""
    graph = model.graph
    deciding = _deciding(graph)
    for value in list(graph.inputs):
        array = data[value.name]
        value.shape = ir.Shape(array.shape)
        if value in deciding:
            value.const_value = ir.Tensor(array, name=value.name)
            graph.inputs.remove(value)
            graph.register_initializer(value)


def _deciding(graph: ir.Graph) -> set[ir.Value]:
    """Return what the inputs of `CONSTANT_INPUTS` are computed from."""
    waiting = [
        node.inputs[position]
        for node in graph
        for position in CONSTANT_INPUTS.get(node.op_type, ())
        if position < len(node.inputs)
    ]
    found: set[ir.Value] = set()
    while waiting:
        value = waiting.pop()
        if value is None or value in found:
            continue
        found.add(value)
        producer = value.producer()
        if producer is not None and producer.op_type not in ("Shape", "Size"):
            waiting.extend(producer.inputs)
    return found
