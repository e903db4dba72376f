"""Models of 8 bits against models of 8 bits: what one step explains must not hide what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from burnish.core.arrays import Array
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest, answer
from burnish.store.layout import stored

LAYERS, WIDTH = 16, 128
"""So deep that what falls to the other side of a step moved outputs further than these errors."""


def network(
    change: Callable[[dict[str, Array]], None] = lambda _: None, *, turned: bool = False
) -> onnx.ModelProto:
    """Return products of bytes, one after the other; `turned`: each of the transposed factors."""
    dice = np.random.default_rng(4)
    held: dict[str, Array] = {}
    nodes: list[onnx.NodeProto] = []

    def node(op: str, *inputs: str, **attributes: object) -> str:
        out = f"v{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    x = "x"
    for layer in range(LAYERS):
        weight = dice.normal(0, WIDTH**-0.5, (WIDTH, WIDTH)) * 1.4
        scales = (np.abs(weight).max(0) / 127).astype(np.float32)
        codes = np.rint(weight / scales).astype(np.int8)
        held |= {
            f"step.{layer}": np.float32(0.035), f"zero.{layer}": np.uint8(128),
            f"codes.{layer}": codes.T.copy() if turned else codes, f"scales.{layer}": scales,
            f"bias.{layer}": dice.normal(0, 0.2, WIDTH).astype(np.float32),
        }  # fmt: skip
        terms = (f"step.{layer}", f"zero.{layer}")
        byte = node("QuantizeLinear", x, *terms)
        back = node("DequantizeLinear", byte, *terms)
        axis = 0 if turned else 1
        w = node("DequantizeLinear", f"codes.{layer}", f"scales.{layer}", axis=axis)
        if turned:
            back = node("Transpose", back, perm=[1, 0])
            product = node("Transpose", node("MatMul", w, back), perm=[1, 0])
        else:
            product = node("MatMul", back, w)
        x = node("Tanh", node("Add", product, f"bias.{layer}"))
    change(held)
    graph = helper.make_graph(
        [*nodes, helper.make_node("Identity", [x], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", WIDTH])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def asked(folder: Path, candidate: onnx.ModelProto) -> VerifyReport:
    paths = [folder / name for name in ("reference.onnx", "candidate.onnx")]
    for path, model in zip(paths, (network(), candidate), strict=True):
        onnx.save(model, path)
    return answer(VerifyRequest(stored(paths[0]), stored(paths[1]), samples=2, budget_s=1.0))


def _channel(held: dict[str, Array]) -> None:
    held["scales.1"][-1] *= np.float32(1.05)


def _step(held: dict[str, Array]) -> None:
    held["step.2"] = held["step.2"] * np.float32(1.05)


def _mixed_up(held: dict[str, Array]) -> None:
    scales = held["scales.3"]
    scales[4], scales[5] = scales[5], scales[4]


def _code(held: dict[str, Array]) -> None:
    codes = held["codes.2"]
    codes[3, 4] += 60 if codes[3, 4] < 0 else -60


def _bias(held: dict[str, Array]) -> None:
    held["bias.4"] *= np.float32(1.05)


@pytest.mark.parametrize("change", [_channel, _step, _mixed_up, _code, _bias])
def test_what_is_a_little_wrong_in_a_deep_model_is_found(
    tmp_path: Path, change: Callable[[dict[str, Array]], None]
) -> None:
    assert not asked(tmp_path, network(change)).passed


def _off_by_a_rounding(held: dict[str, Array]) -> None:
    for name, array in held.items():
        if name.startswith(("scales", "bias")):
            held[name] = np.nextafter(array, np.float32(9))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("change", [lambda _: None, _off_by_a_rounding])
def test_what_is_right_is_not_refused(
    tmp_path: Path, change: Callable[[dict[str, Array]], None], turned: bool
) -> None:
    assert asked(tmp_path, network(change, turned=turned)).passed
