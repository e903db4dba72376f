from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from burnish.core.arrays import Array
from burnish.meaning.evaluate import Evaluator
from burnish.meaning.node import NotEvaluatedError
from burnish.meaning.numbers import Reals
from tile.one_node import by_runtime

STEPS, BATCH, WIDTH, HIDDEN = 5, 3, 4, 2
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def model(op: str, direction: str = "forward", **attributes: object) -> onnx.ModelProto:
    two = 1 + (direction == "bidirectional")
    rng = np.random.default_rng(7)
    weights = [
        rng.standard_normal((two, GATES[op] * HIDDEN, width)).astype(np.float32)
        for width in (WIDTH, HIDDEN)
    ]
    node = helper.make_node(
        op, ["x", "w", "r", "", "lengths", "h"], ["y", "last"], hidden_size=HIDDEN,
        direction=direction, **attributes,
    )  # fmt: skip
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [STEPS, BATCH, WIDTH]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, [BATCH]),
            helper.make_tensor_value_info("h", TensorProto.FLOAT, [two, BATCH, HIDDEN]),
        ],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [STEPS, two, BATCH, HIDDEN]),
            helper.make_tensor_value_info("last", TensorProto.FLOAT, [two, BATCH, HIDDEN]),
        ],
        [onnx.numpy_helper.from_array(weights[place], "wr"[place]) for place in (0, 1)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def feeds(lengths: list[int], directions: int = 1) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    return {
        "x": rng.standard_normal((STEPS, BATCH, WIDTH)).astype(np.float32),
        "lengths": np.array(lengths, np.int32),
        "h": rng.standard_normal((directions, BATCH, HIDDEN)).astype(np.float32),
    }


def evaluated(proto: onnx.ModelProto, fed: dict[str, Array]) -> dict[str, Array]:
    found = Evaluator(ir.serde.deserialize_model(proto)).outputs(fed, Reals())
    return {name: np.asarray(tensor.value) for name, tensor in found.items()}


@pytest.mark.parametrize("lengths", [[5, 5, 5], [5, 2, 1], [1, 3, 4]])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", GATES)
def test_rows_end_where_their_lengths_say(op: str, direction: str, lengths: list[int]) -> None:
    proto = model(op, direction)
    fed = feeds(lengths, 1 + (direction == "bidirectional"))
    found, expected = evaluated(proto, fed), by_runtime(proto, fed)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("attributes", "lengths", "reason"),
    [
        ({"clip": 0.5}, [5, 5, 5], "clip is not known here"),
        ({"activations": ["Relu"]}, [5, 5, 5], "relu are not known here"),
        ({}, [5, 0, 5], "rows without a step have no meaning"),
    ],
)
def test_what_the_reference_leaves_out_is_not_evaluated(
    attributes: dict[str, object], lengths: list[int], reason: str
) -> None:
    with pytest.raises(NotEvaluatedError, match=reason):
        evaluated(model("RNN", **attributes), feeds(lengths))
