"""Measure the memory that `burnish optimize` needs for a model of several gigabytes.

Writes a model of MatMul, Add and erf-GELU blocks with its weights in a data file, runs burnish on
it in a child process, and prints the child's peak resident memory against the model's size.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

HIDDEN, INNER = 2048, 8192
BLOCK_BYTES = 4 * (2 * HIDDEN * INNER + HIDDEN + INNER)
LIMIT = 1.2
"""Peak memory may be this many times the model's size."""

READ_AND_WRITE = """
import sys
from pathlib import Path
from burnish.store import onnx_files
from burnish.store.history import History
source, target = map(Path, sys.argv[1:])
onnx_files.write(onnx_files.read(source), target, history=History("", ()))
"""


@dataclass(frozen=True)
class Measured:
    """What one child process needed."""

    what: str
    model_bytes: int
    peak_bytes: int
    seconds_s: float

    @property
    def ratio(self) -> float:
        """Return peak memory over the model's size."""
        return self.peak_bytes / self.model_bytes

    def __str__(self) -> str:
        sizes = f"{self.model_bytes / 2**30:>12.2f}{self.peak_bytes / 2**30:>12.2f}"
        return f"{self.what:<16}{sizes}{self.ratio:>8.2f}{self.seconds_s:>10.1f}"


def main() -> None:
    """Make the model, run both children, and fail if one needs too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=4.0, help="size of the model")
    gigabytes = parser.parse_args().gigabytes
    with tempfile.TemporaryDirectory(prefix="burnish-large-") as name:
        folder = Path(name)
        source = write_model(folder, blocks=max(1, round(gigabytes * 2**30 / BLOCK_BYTES)))
        print(f"{'what':<16}{'model GiB':>12}{'peak GiB':>12}{'ratio':>8}{'seconds':>10}")
        rows = []
        for what, command in commands(source, folder):
            rows.append(measure(what, command, source))
            print(rows[-1], flush=True)
    if any(row.ratio > LIMIT for row in rows):
        sys.exit(f"more than {LIMIT} times the model's size")


def commands(source: Path, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what is measured; each writes one model, which the next one replaces."""
    target = str(folder / "out" / "model.onnx")
    yield "read and write", [sys.executable, "-c", READ_AND_WRITE, str(source), target]
    optimize = [sys.executable, "-m", "burnish", "-q", "optimize", str(source), "-o", target]
    yield "optimize", [*optimize, "--no-verify"]
    yield "optimize, verify", optimize


def measure(what: str, command: list[str], source: Path) -> Measured:
    """Return the peak memory and the time of a child process."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds_s = time.monotonic() - start
    if status:
        sys.exit(f"{what} failed: {' '.join(command)}")
    model_bytes = sum(file.stat().st_size for file in source.parent.iterdir() if file.is_file())
    return Measured(what, model_bytes, usage.ru_maxrss * 1024, seconds_s)


def write_model(folder: Path, *, blocks: int) -> Path:
    """Write the model and return its path; the weights are never in memory together."""
    source = folder / "source" / "model.onnx"
    source.parent.mkdir()
    weights = []
    with source.with_suffix(".data").open("wb") as stream:
        for block in range(blocks):
            for name, shape in _weights(block).items():
                weights.append(_external(name, shape, stream.tell()))
                for rows in _rows(shape, seed=len(weights)):
                    stream.write(rows)
    x, y = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", HIDDEN])
        for name in ("x0", f"x{blocks}")
    )
    scalars = [
        helper.make_tensor(name, onnx.TensorProto.FLOAT, [], [value])
        for name, value in (("sqrt2", 2**0.5), ("one", 1.0), ("half", 0.5))
    ]
    nodes = [node for block in range(blocks) for node in _block(block)]
    graph = helper.make_graph(nodes, "large", [x], [y], [*weights, *scalars])
    opsets = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=opsets), source)
    return source


def _weights(block: int) -> dict[str, tuple[int, ...]]:
    return {
        f"up{block}": (HIDDEN, INNER),
        f"bias_up{block}": (INNER,),
        f"down{block}": (INNER, HIDDEN),
        f"bias_down{block}": (HIDDEN,),
    }


def _rows(shape: tuple[int, ...], seed: int) -> Iterator[bytes]:
    random = np.random.default_rng(seed)
    row = shape[-1]
    for _ in range(int(np.prod(shape)) // row):
        yield (random.random(row, dtype=np.float32) - np.float32(0.5)).tobytes()


def _external(name: str, shape: tuple[int, ...], offset: int) -> onnx.TensorProto:
    tensor = onnx.TensorProto(name=name, dims=shape, data_type=onnx.TensorProto.FLOAT)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entries = {"location": "model.data", "offset": offset, "length": 4 * int(np.prod(shape))}
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def _block(block: int) -> Iterator[onnx.NodeProto]:
    """Yield x + down(gelu(up(x))), with GELU as PyTorch's exporter spells it."""
    inner = f"inner{block}"
    steps = (
        ("MatMul", (f"x{block}", f"up{block}"), "product"),
        ("Add", (f"{inner}_product", f"bias_up{block}"), "biased"),
        ("Div", (f"{inner}_biased", "sqrt2"), "scaled"),
        ("Erf", (f"{inner}_scaled",), "erf"),
        ("Add", (f"{inner}_erf", "one"), "shifted"),
        ("Mul", (f"{inner}_biased", f"{inner}_shifted"), "gated"),
        ("Mul", (f"{inner}_gated", "half"), "gelu"),
        ("MatMul", (f"{inner}_gelu", f"down{block}"), "down"),
        ("Add", (f"{inner}_down", f"bias_down{block}"), "out"),
    )
    for op_type, inputs, output in steps:
        name = f"block{block}_{output}"
        yield helper.make_node(op_type, inputs, [f"{inner}_{output}"], name=name)
    yield helper.make_node(
        "Add", [f"x{block}", f"{inner}_out"], [f"x{block + 1}"], name=f"r{block}"
    )


if __name__ == "__main__":
    main()
