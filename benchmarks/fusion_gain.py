"""What fused operators cost against their parts on this machine's CPU, as a cost table.

python benchmarks/fusion_gain.py [--write]

Each operator and its parts are run in turns, in ONNX Runtime at level ALL: the parts are what
the runtime makes of them by itself. With --write, the table that rules ask (cost_tables/cpu.toml)
is replaced.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from burnish.rewrite.costs import NOISE

MS = "com.microsoft"
TABLE = Path(__file__).parents[1] / "src/burnish/rewrite/cost_tables/cpu.toml"
ROUNDS = 60
Shape = tuple[int, ...]
Session = Any
"""`onnxruntime.InferenceSession`: the package has no types."""


class Small:
    """Writes one small model: `m.op("Add", "x", m.weight(8))`; its inputs are `x`, `y`, `z`."""

    def __init__(self, shape: Shape, inputs: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(0)
        self.inputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xyz"[:inputs]
        ]

    def op(self, op_type: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        """Return the output of a new node."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], domain=domain, **attributes))
        return name

    def weight(self, *shape: int) -> str:
        """Return a random constant."""
        return self.constant(self.random.normal(size=shape).astype(np.float32))

    def constant(self, array: object) -> str:
        """Return a constant with these elements."""
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def number(self, value: float) -> str:
        """Return a constant number."""
        return self.constant(np.float32(value))

    def session(self, output: str) -> Session:
        """Return the model, loaded."""
        import onnxruntime

        out = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "small", self.inputs, [out], self.weights)
        imports = [helper.make_opsetid("", 23), helper.make_opsetid(MS, 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=10)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )


Build = Callable[[Small, Shape], str]


@dataclass(frozen=True)
class Pair:
    """A fused operator, and the parts it stands for."""

    domain: str
    operator: str
    shapes: Sequence[Shape]
    inputs: int
    parts: Build
    fused: Build


def _skip_layer_norm_parts(m: Small, shape: Shape) -> str:
    # Sum, not Add: of an Add the runtime makes the fused operator by itself.
    total = m.op("Sum", "x", "y")
    return m.op("LayerNormalization", total, m.weight(shape[-1]), m.weight(shape[-1]))


def _skip_layer_norm(m: Small, shape: Shape) -> str:
    weights = (m.weight(shape[-1]), m.weight(shape[-1]))
    return m.op("SkipLayerNormalization", "x", "y", *weights, domain=MS, epsilon=1e-5)


def _skip_rms_norm_parts(m: Small, shape: Shape) -> str:
    return m.op("SimplifiedLayerNormalization", m.op("Sum", "x", "y"), m.weight(shape[-1]))


def _skip_rms_norm(m: Small, shape: Shape) -> str:
    weight = m.weight(shape[-1])
    return m.op("SkipSimplifiedLayerNormalization", "x", "y", weight, domain=MS, epsilon=1e-5)


def _bias_gelu_parts(m: Small, shape: Shape) -> str:
    return m.op("Gelu", m.op("Add", "x", m.weight(shape[-1])))


def _bias_gelu(m: Small, shape: Shape) -> str:
    return m.op("BiasGelu", "x", m.weight(shape[-1]), domain=MS)


def _silu_parts(m: Small, _shape: Shape) -> str:
    return m.op("Mul", "x", m.op("Sigmoid", "x"))


def _silu(m: Small, _shape: Shape) -> str:
    return m.op("QuickGelu", "x", domain=MS, alpha=1.0)


def _tanh_gelu_parts(m: Small, _shape: Shape) -> str:
    cube = m.op("Mul", m.op("Pow", "x", m.number(3.0)), m.number(0.044715))
    inner = m.op("Tanh", m.op("Mul", m.op("Add", "x", cube), m.number(0.7978845608)))
    return m.op("Mul", m.op("Mul", "x", m.number(0.5)), m.op("Add", inner, m.number(1.0)))


def _tanh_gelu(m: Small, _shape: Shape) -> str:
    return m.op("FastGelu", "x", domain=MS)


HEADS = 12


def _split(m: Small, value: str, shape: Shape) -> str:
    sizes = m.constant(np.array([0, 0, HEADS, shape[-1] // HEADS]))
    return m.op("Transpose", m.op("Reshape", value, sizes), perm=[0, 2, 1, 3])


def _attention_parts(m: Small, shape: Shape) -> str:
    query, key, value = (_split(m, name, shape) for name in "xyz")
    scores = m.op("MatMul", query, m.op("Transpose", key, perm=[0, 1, 3, 2]))
    scaled = m.op("Mul", scores, m.number((shape[-1] // HEADS) ** -0.5))
    mixed = m.op("MatMul", m.op("Softmax", scaled, axis=-1), value)
    joined = m.op("Transpose", mixed, perm=[0, 2, 1, 3])
    return m.op("Reshape", joined, m.constant(np.array([0, 0, shape[-1]])))


def _multi_head(m: Small, _shape: Shape) -> str:
    return m.op("MultiHeadAttention", "x", "y", "z", domain=MS, num_heads=HEADS)


def _standard_attention(m: Small, _shape: Shape) -> str:
    return m.op("Attention", "x", "y", "z", q_num_heads=HEADS, kv_num_heads=HEADS)


ROWS: Sequence[Shape] = ((1, 128, 768), (4, 128, 768), (1, 128, 2048))
WIDE: Sequence[Shape] = ((1, 128, 3072), (4, 128, 3072))
PAIRS = (
    Pair(MS, "SkipLayerNormalization", ROWS, 2, _skip_layer_norm_parts, _skip_layer_norm),
    Pair(MS, "SkipSimplifiedLayerNormalization", ROWS, 2, _skip_rms_norm_parts, _skip_rms_norm),
    Pair(MS, "BiasGelu", WIDE, 1, _bias_gelu_parts, _bias_gelu),
    Pair(MS, "QuickGelu", WIDE, 1, _silu_parts, _silu),
    Pair(MS, "FastGelu", WIDE, 1, _tanh_gelu_parts, _tanh_gelu),
    Pair(MS, "MultiHeadAttention", ROWS[:2], 3, _attention_parts, _multi_head),
    Pair("", "Attention", ROWS[:2], 3, _attention_parts, _standard_attention),
)


def microseconds(pair: Pair, shape: Shape) -> tuple[float, float]:
    """Return the least times of the parts and of the fused operator, run in turns.

    The least, because whatever else runs on the machine only ever adds to a time.
    """
    random = np.random.default_rng(1)
    feeds = {name: random.normal(size=shape).astype(np.float32) for name in "xyz"[: pair.inputs]}
    sessions = []
    for build in (pair.parts, pair.fused):
        small = Small(shape, pair.inputs)
        sessions.append(small.session(build(small, shape)))
    first, second = (session.run(None, feeds)[0] for session in sessions)
    if pair.operator not in {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}:
        np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-3)
    times: list[list[float]] = [[], []]
    for number in range(ROUNDS):
        for index in (0, 1) if number % 2 else (1, 0):
            began = time.perf_counter()
            sessions[index].run(None, feeds)
            times[index].append(1e6 * (time.perf_counter() - began))
    return min(times[0]), min(times[1])


def row_text(pair: Pair, shape: Shape, parts_us: float, fused_us: float) -> str:
    """Return one measurement as TOML."""
    return (
        f'\n[[costs]]\ndomain = "{pair.domain}"\noperator = "{pair.operator}"\ndtype = "f32"\n'
        f"shape = {list(shape)}\nparts_us = {parts_us:.1f}\nfused_us = {fused_us:.1f}\n"
    )


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    text = (
        "# What fused operators cost against their parts on ONNX Runtime's CPU provider.\n"
        "# Written by benchmarks/fusion_gain.py; both sides are run in turns, at level ALL.\n"
        f'target = "cpu"\nruntime = "onnxruntime {version("onnxruntime")}"\n'
        f'device = "{os.cpu_count()} cores, {platform.machine()}"\n'
        f'date = "{dt.datetime.now(dt.UTC):%Y-%m-%d}"\n'
    )
    print(f"{'operator':<48} {'shape':<18} {'parts µs':>9} {'fused µs':>9} {'ratio':>6}")
    for pair in PAIRS:
        for shape in pair.shapes:
            parts_us, fused_us = microseconds(pair, shape)
            ratio = fused_us / parts_us
            verdict = "slower" if ratio >= NOISE else ""
            name = f"{pair.domain}::{pair.operator}" if pair.domain else pair.operator
            times = f"{parts_us:>9.1f} {fused_us:>9.1f} {ratio:>6.2f} {verdict}"
            print(f"{name:<48} {shape!s:<18} {times}")
            text += row_text(pair, shape, parts_us, fused_us)
    if asked.write:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()
