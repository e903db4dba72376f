"""Products of bytes by kernels of ours and by ONNX Runtime's MatMulInteger: bits and speed.

    python benchmarks/int8_products.py [--blocks 25] [--calls 10]

Both run on one thread and take turns, a block of calls each; what is compared is processor time.
Sums must have the same bits as NumPy's, or nothing is timed.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import burnish

SHAPES = ((128, 768, 768), (128, 768, 3072), (128, 3072, 768), (128, 768, 2304), (1, 768, 768))
"""Rows, terms and columns: those of BERT-base, and of one token."""


def main() -> None:
    """Print a row for each shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=25)
    parser.add_argument("--calls", type=int, default=10)
    asked = parser.parse_args()
    print("rows × terms × columns   onnxruntime      ours   ratio")
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            theirs, ours = _medians(shape, Path(folder), asked.blocks, asked.calls)
        said = " × ".join(map(str, shape))
        print(f"{said:22} {theirs * 1e3:9.3f} ms {ours * 1e3:6.3f} ms {theirs / ours:7.2f}")


def _medians(
    shape: tuple[int, int, int], folder: Path, blocks: int, calls: int
) -> tuple[float, float]:
    """Return the seconds of one call of each, after seeing that both are right."""
    import onnxruntime

    rows, terms, columns = shape
    random = np.random.default_rng(0)
    weights = random.integers(-128, 128, (terms, columns), dtype=np.int8)
    fed = {"x": random.integers(0, 256, (rows, terms), dtype=np.uint8), "zero": np.uint8(117)}
    path = _model(shape, weights, folder / "product.onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    burnish.compile(path, output=folder / "compiled", tune=False, threads=1, samples=1)
    with burnish.load(folder / "compiled", threads=1) as loaded:
        arrays = {name: np.asarray(array) for name, array in fed.items()}
        prepared = loaded.executable(arrays).prepare(arrays)
        wanted = (arrays["x"].astype(np.int32) - 117) @ weights.astype(np.int32)
        for found in (session.run(None, arrays)[0], loaded.run(arrays)["y"]):
            np.testing.assert_array_equal(found, wanted)
        taken = [
            [_seconds(run, calls) for run in (lambda: session.run(None, arrays), prepared)]
            for _ in range(blocks)
        ]
    theirs, ours = zip(*taken, strict=True)
    return statistics.median(theirs), statistics.median(ours)


def _seconds(run: Callable[[], object], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def _model(shape: tuple[int, int, int], weights: np.ndarray, path: Path) -> Path:
    rows, terms, columns = shape
    node = helper.make_node("MatMulInteger", ["x", "w", "zero"], ["y"])
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.UINT8, [rows, terms]),
        helper.make_tensor_value_info("zero", TensorProto.UINT8, []),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.INT32, [rows, columns])
    held = [numpy_helper.from_array(weights, "w")]
    graph = helper.make_graph([node], "product", inputs, [output], held)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


if __name__ == "__main__":
    main()
