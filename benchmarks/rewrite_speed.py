"""How the time of rewriting grows with the graph: CPU seconds and the log-log slope.

python benchmarks/rewrite_speed.py [--largest 50000] [--peers] [--rounds 3]

With --peers, one graph of about 2,400 nodes is also given to ONNX Runtime's Python optimizer
(level 0) and to onnxscript's `optimize_for_ort`, in the same run, and burnish's checks are timed.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx_ir as ir

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from burnish.study.trial import FusionTrial, tried

HIDDEN = 16
NODES_PER_LAYER = 98
STEEPEST = 1.15


class _Encoder:
    """Writes an encoder as an exporter of opset 14 spells it; weights are tiny on purpose."""

    def __init__(self) -> None:
        self.nodes: list[ir.Node] = []
        self.weights: list[ir.Value] = []
        self.random = np.random.default_rng(0)

    def op(self, op_type: str, *inputs: ir.Value, **attributes: object) -> ir.Value:
        number = len(self.nodes)
        node = ir.node(op_type, inputs, attributes=attributes, name=f"{op_type}_{number}")
        node.outputs[0].name = f"v{number}"
        self.nodes.append(node)
        return node.outputs[0]

    def number(self, number: object) -> ir.Value:
        return self.op("Constant", value=ir.tensor(np.asarray(number)))

    def weight(self, *shape: int) -> ir.Value:
        name = f"w{len(self.weights)}"
        tensor = ir.Tensor(self.random.normal(size=shape).astype(np.float32), name=name)
        value = ir.Value(
            name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(shape), const_value=tensor
        )
        self.weights.append(value)
        return value

    def linear(self, x: ir.Value, inner: int, outer: int) -> ir.Value:
        return self.op("Add", self.op("MatMul", x, self.weight(inner, outer)), self.weight(outer))

    def norm(self, x: ir.Value) -> ir.Value:
        mean = self.op("ReduceMean", x, axes=[-1])
        centred = self.op("Sub", x, mean)
        square = self.op("Pow", centred, self.number(np.float32(2)))
        variance = self.op("ReduceMean", square, axes=[-1])
        root = self.op("Sqrt", self.op("Add", variance, self.number(np.float32(1e-5))))
        scaled = self.op("Mul", self.op("Div", centred, root), self.weight(HIDDEN))
        return self.op("Add", scaled, self.weight(HIDDEN))

    def heads(self, x: ir.Value) -> ir.Value:
        sizes = []
        for axis in (0, 1):
            size = self.op("Gather", self.op("Shape", x), self.number(np.int64(axis)), axis=0)
            sizes.append(self.op("Unsqueeze", size, self.number(np.array([0]))))
        fixed = [self.number(np.array([2])), self.number(np.array([HIDDEN // 2]))]
        shape = self.op("Concat", *sizes, *fixed, axis=0)
        return self.op("Transpose", self.op("Reshape", x, shape), perm=[0, 2, 1, 3])

    def attention(self, x: ir.Value) -> ir.Value:
        query, key, value = (self.heads(self.linear(x, HIDDEN, HIDDEN)) for _ in range(3))
        scores = self.op("MatMul", query, self.op("Transpose", key, perm=[0, 1, 3, 2]))
        scaled = self.op("Div", scores, self.number(np.float32(math.sqrt(HIDDEN / 2))))
        mixed = self.op("MatMul", self.op("Softmax", scaled, axis=-1), value)
        joined = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.op("Reshape", joined, self.number(np.array([0, 0, HIDDEN])))

    def gelu(self, x: ir.Value) -> ir.Value:
        curve = self.op("Erf", self.op("Div", x, self.number(np.float32(math.sqrt(2)))))
        bracket = self.op("Add", curve, self.number(np.float32(1)))
        return self.op("Mul", self.op("Mul", x, bracket), self.number(np.float32(0.5)))

    def layer(self, x: ir.Value) -> ir.Value:
        x = self.norm(self.op("Add", self.linear(self.attention(x), HIDDEN, HIDDEN), x))
        wide = self.gelu(self.linear(x, HIDDEN, 2 * HIDDEN))
        return self.norm(self.op("Add", self.linear(wide, 2 * HIDDEN, HIDDEN), x))


def encoder(layers: int) -> ir.Model:
    """Return an encoder with this many layers."""
    build = _Encoder()
    kind = ir.TensorType(ir.DataType.FLOAT)
    x = ir.Value(name="x", type=kind, shape=ir.Shape(["batch", "sequence", HIDDEN]))
    y = x
    for _ in range(layers):
        y = build.layer(y)
    y.type, y.shape = kind, x.shape
    graph = ir.Graph(
        [x], [y], nodes=build.nodes, initializers=build.weights,
        opset_imports={"": 14}, name="encoder",
    )  # fmt: skip
    return ir.Model(graph, ir_version=8)


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of a call, threads included."""
    start = time.process_time()
    call()
    return time.process_time() - start


def growth(largest: int) -> float:
    """Print one row for each size; return the log-log slope."""
    sizes = (300, 600, 1200, 2400, 5000, 10_000, 20_000, 50_000)
    points = []
    optimize(encoder(1))
    print(f"{'nodes':>8} {'after':>8} {'CPU s':>8} {'µs/node':>8}")
    for size in (size for size in sizes if size <= largest):
        model = encoder(max(1, size // NODES_PER_LAYER))
        start = time.process_time()
        result = optimize(model)
        seconds = time.process_time() - start
        nodes = result.report.nodes_before
        points.append((math.log(nodes), math.log(seconds)))
        per_node = 1e6 * seconds / nodes
        print(f"{nodes:>8,} {result.report.nodes_after:>8,} {seconds:>8.3f} {per_node:>8.1f}")
    return float(np.polyfit(*zip(*points, strict=True), 1)[0])


def peers(rounds: int, nodes: int = 2400) -> None:
    """Print the CPU seconds of burnish, with and without checks, and of its peers.

    They take turns, so that all see the same machine; the least of the rounds counts.
    """
    model = encoder(nodes // NODES_PER_LAYER)
    with tempfile.TemporaryDirectory() as folder:
        subjects = _subjects(model, Path(folder) / "model.onnx")
        times: dict[str, list[float]] = {name: [] for name in subjects}
        for _ in range(rounds):
            for name, prepare in subjects.items():
                times[name].append(cpu_seconds(prepare()))
    ours = min(times["burnish, checks off"])
    print(f"\n{len(model.graph):,} nodes, CPU s, the least and the most of {rounds} in turn")
    for name, found in times.items():
        least = min(found)
        print(f"{name:<40} {least:>8.2f} {max(found):>8.2f} {least / ours:>6.1f}x")


def _subjects(model: ir.Model, path: Path) -> dict[str, Callable[[], Callable[[], object]]]:
    """Return what to measure: functions that prepare a call, outside of the time that counts."""
    import onnx
    from onnxruntime.transformers import optimizer
    from onnxscript.rewriter.ort_fusions import optimize_for_ort

    onnx.save(ir.serde.serialize_model(model), path)

    def onnxscript() -> Callable[[], object]:
        own = ir.serde.deserialize_model(onnx.load(path))  # it is changed in place
        return lambda: optimize_for_ort(own)

    return {
        "burnish, checks off": lambda: lambda: optimize(model),
        "burnish, every fusion checked": lambda: (
            lambda: tried(model, OptimizeOptions(), FusionTrial())
        ),
        "onnxruntime.transformers, level 0": lambda: (
            lambda: optimizer.optimize_model(
                str(path), model_type="bert", num_heads=2, hidden_size=HIDDEN, opt_level=0
            )
        ),
        "onnxscript optimize_for_ort": onnxscript,
    }


def main() -> int:
    """Print the sizes, the slope and, if asked for, the peers; fail above the slope allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=20_000)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--rounds", type=int, default=3, help="turns with --peers")
    asked = parser.parse_args()
    slope = growth(asked.largest)
    print(f"log-log slope: {slope:.2f} (at most {STEEPEST})")
    if asked.peers:
        peers(asked.rounds)
    return int(slope > STEEPEST)


if __name__ == "__main__":
    raise SystemExit(main())
