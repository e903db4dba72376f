"""Which kernels a change alters, and how their predicted cost moves: `make kernels`.

    python benchmarks/kernels.py [NAME …] [--zoo FOLDER] [--accept]

Every model is planned with predicted schedules for one described machine, two cores with AVX2, so
that the table is the same wherever it is made; nothing is compiled or run. The plans are compared
with `kernels.csv`: kernels are recognised by a hash of their code. `--accept` writes the table
anew. Models of the zoo, in small form, are exported into FOLDER where they are not there yet.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.core import units
from burnish.hw.spec import for_cores, load
from burnish.store import onnx_files
from burnish.tile.machine import machine

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_suffix(".csv")
SIZES: Mapping[str, int] = {"batch": 1, "sequence": 128}
EXAMPLES: Mapping[str, Path] = {
    "bert-mini": ROOT / "examples/bert-mini/torchscript/bert-mini_torchscript.onnx",
    "bert-mini-dynamo": ROOT / "examples/bert-mini/dynamo/bert-mini_dynamo.onnx",
}
ZOO = ("nafnet", "restormer", "bsrn", "nerf-mlp", "mobilenet-v2", "convnext-t", "mobilevit-s")

BLOCKS: Mapping[str, str] = {
    "block-inverted": """(float[1, 16, 28, 28] x) => (float[1, 16, 28, 28] y)
    { a = Conv(x, w_96_16_1_1) b = Clip(a, zero, six) c = Conv<group = 96, pads = [1, 1, 1, 1]>(b,
      w_96_1_3_3) d = Clip(c, zero, six) e = Conv(d, w_16_96_1_1) y = Add(e, x) }""",
    "block-gated": """(float[1, 16, 64, 64] x) => (float[1, 16, 64, 64] y)
    { a = Conv(x, w_32_16_1_1) b = Conv<group = 32, pads = [1, 1, 1, 1]>(a, w_32_1_3_3)
      c, d = Split<axis = 1, num_outputs = 2>(b) e = Mul(c, d) f = GlobalAveragePool(e)
      g = Conv(f, w_16_16_1_1) h = Mul(e, g) i = Conv(h, v_16_16_1_1) y = Add(i, x) }""",
    "block-attention": """(float[1, 64, 128] x) => (float[1, 64, 128] y)
    { n = LayerNormalization(x, w_128, v_128) q = MatMul(n, w_128_128) k = MatMul(n, v_128_128)
      t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) p = Softmax(s) a = MatMul(p, n)
      y = Add(a, x) }""",
}
"""Small models in ONNX text; a name such as `w_96_1_3_3` is a weight of that shape."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel of one model's plan."""

    model: str
    kernel: str
    steps: int
    predicted_s: float
    """Of all its steps together."""
    predicted_bytes: float

    @property
    def key(self) -> tuple[str, str]:
        """Return what recognises the kernel."""
        return self.model, self.kernel


def main() -> None:
    """Compare the models that are asked for with the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--zoo", type=Path)
    parser.add_argument("--accept", action="store_true")
    asked = parser.parse_args()
    known = read(TABLE)
    names = asked.names or [*EXAMPLES, *BLOCKS, *(ZOO if asked.zoo else ())]
    found: list[Row] = []
    for name in names:
        before = [row for row in known if row.model == name]
        found += (rows := planned(name, asked.zoo))
        print("\n".join(compared(name, before, rows)), flush=True)
    if asked.accept:
        kept = [row for row in known if row.model not in names]
        write(TABLE, [*kept, *found])


def planned(name: str, zoo: Path | None = None) -> list[Row]:
    """Return the kernels of a model's plan."""
    here = machine(for_cores(load("x86-avx2"), 2))
    backend = CpuBackend(TARGETS["avx2"], here, "two cores with AVX2")
    loaded = model_of(name, zoo)
    wanted = {
        d for v in loaded.graph.inputs for d in v.shape or () if isinstance(d, ir.SymbolicDim)
    }
    sizes = {str(dim.value): SIZES.get(str(dim.value), 8) for dim in wanted}
    made = plan(prepare(loaded, sizes), PlanOptions(backend, Predicted(backend))).plan
    steps = Counter(step.kernel for step in made.kernel_steps)
    seconds, moved = Counter[str](), Counter[str]()
    for step in made.kernel_steps:
        seconds[step.kernel] += step.predicted_s or 0.0  # type: ignore[assignment]
        moved[step.kernel] += step.predicted_bytes or 0.0  # type: ignore[assignment]
    return [Row(name, each, steps[each], seconds[each], moved[each]) for each in sorted(steps)]


def model_of(name: str, zoo: Path | None) -> ir.Model:
    """Return an example, a block, or a model of the zoo that is exported where need be."""
    if name in BLOCKS:
        return block(name)
    path = EXAMPLES.get(name)
    if path is None:
        if zoo is None:
            raise SystemExit(f"{name} is a model of the zoo: say where to, --zoo FOLDER")
        found = sorted(zoo.glob(f"{name}*/**/*.onnx"))
        if not found:
            words = ["export", name, "--small", "--batch", "1", "-o", str(zoo)]
            subprocess.run([sys.executable, "-m", "burnish", "-q", *words], check=True)
            found = sorted(zoo.glob(f"{name}*/**/*.onnx"))
        path = found[0]
    return onnx_files.read(path)


def block(name: str) -> ir.Model:
    """Return a small model with random weights."""
    text = BLOCKS[name]
    words = dict.fromkeys(word.strip(" ,(){}") for word in text.replace(",", " ").split())
    head = '<ir_version: 10, opset_import: ["": 21]>'
    constants = "<float zero = {0.0}, float six = {6.0}>"
    proto = onnx.parser.parse_model(f"{head} block {text.replace('{', f'{constants} {{', 1)}")
    random = np.random.default_rng(0)
    for word in words:
        kind, _, shape = word.partition("_")
        if kind in ("w", "v") and shape:
            array = random.standard_normal([int(size) for size in shape.split("_")])
            tensor = onnx.numpy_helper.from_array(array.astype(np.float32), word)
            proto.graph.initializer.append(tensor)
    return ir.serde.deserialize_model(proto)


def compared(name: str, before: Iterable[Row], after: Iterable[Row]) -> list[str]:
    """Return what became of a model's kernels, in lines for people."""
    old, new = {row.key: row for row in before}, {row.key: row for row in after}
    sums = [sum(row.predicted_s for row in rows.values()) for rows in (old, new)]
    moved = [sum(row.predicted_bytes for row in rows.values()) for rows in (old, new)]
    costs = " → ".join(units.seconds(total) for total in sums)
    traffic = " → ".join(units.size(total) for total in moved)
    lines = [f"{name}: {len(old)} → {len(new)} kernels, predicted {costs}, traffic {traffic}"]
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key), new.get(key)
        if a is None or b is None:
            word, row = ("gone", a) if b is None else ("new ", b)
            assert row is not None
            lines.append(f"  {word} {row.kernel} ×{row.steps} {units.seconds(row.predicted_s)}")
        elif _rounded(a) != _rounded(b):
            times = f"{units.seconds(a.predicted_s)} → {units.seconds(b.predicted_s)}"
            lines.append(f"  cost {b.kernel} ×{a.steps} → ×{b.steps} {times}")
    return lines


def read(path: Path) -> list[Row]:
    """Return the rows of a table."""
    with path.open(newline="") as stream:
        return [
            Row(r["model"], r["kernel"], int(r["steps"]), float(r["s"]), float(r["bytes"]))
            for r in csv.DictReader(stream)
        ]


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write a table."""
    with path.open("w", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("model", "kernel", "steps", "s", "bytes"))
        table.writerows(_rounded(row) for row in sorted(rows, key=lambda row: row.key))


def _rounded(row: Row) -> tuple[str, str, int, str, str]:
    return (*row.key, row.steps, f"{row.predicted_s:.6g}", f"{row.predicted_bytes:.6g}")


if __name__ == "__main__":
    main()
