"""How long it takes to bring models of many nodes to fewer bits, in processor time.

    python benchmarks/precision_scale.py 2400 12000 50000

Prints one row for each size and precision; the last column should not grow.
"""

from __future__ import annotations

import gc
import sys
import time

import numpy as np
import onnx_ir as ir

from burnish.rewrite.options import Precision
from burnish.rewrite.precision import convert

WIDTH = 8
SIZES = (2_400, 12_000, 50_000)


def chain(nodes: int) -> ir.Model:
    """Return a network of blocks of a product, a bias, an activation and a residual sum."""
    x = ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape(["n", WIDTH]))
    made: list[ir.Node] = []
    constants: list[ir.Value] = []
    value = x
    for block in range(nodes // 4):
        weight = _constant(f"w{block}", np.eye(WIDTH, dtype=np.float32), constants)
        bias = _constant(f"b{block}", np.ones(WIDTH, np.float32), constants)
        product = _node(made, "MatMul", value, weight)
        value = _node(made, "Add", value, _node(made, "Relu", _node(made, "Add", product, bias)))
    graph = ir.Graph([x], [value], nodes=made, initializers=constants, opset_imports={"": 17})
    return ir.Model(graph, ir_version=10)


def _constant(name: str, array: np.ndarray, constants: list[ir.Value]) -> ir.Value:  # type: ignore[type-arg]
    value = ir.Value(name=name, const_value=ir.Tensor(array, name=name))
    value.type, value.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(array.shape)
    constants.append(value)
    return value


def _node(made: list[ir.Node], op_type: str, *inputs: ir.Value) -> ir.Value:
    node = ir.node(op_type, list(inputs))
    output = node.outputs[0]
    node.name = output.name = f"{op_type}_{len(made)}"
    output.type, output.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(["n", WIDTH])
    made.append(node)
    return output


def main() -> None:
    """Print the table."""
    print("precision   nodes   processor s   µs a node")
    kinds: tuple[tuple[Precision, bool], ...] = (("fp16", False), ("bf16", True), ("int8", False))
    for precision, on_card in kinds:
        for nodes in tuple(map(int, sys.argv[1:])) or SIZES:
            model = chain(nodes)
            gc.collect()
            start = time.process_time()
            convert(model, precision, target="cuda" if on_card else "cpu")
            took = time.process_time() - start
            print(f"{precision:9} {nodes:7,} {took:13.2f} {took / nodes * 1e6:11.1f}")


if __name__ == "__main__":
    main()
