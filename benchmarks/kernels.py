"""Which kernels a change alters, and how their predicted cost moves: `make kernels`.

    python benchmarks/kernels.py [NAME …] [--zoo FOLDER] [--accept]

Every model is planned with predicted schedules for one described machine, two cores with AVX2, so
that the table is the same wherever it is made; nothing is compiled or run. The plans are compared
with `kernels.csv`: kernels are recognised by a hash of their code. `--accept` writes the table
anew. Models of the zoo, in small form, are exported into FOLDER where they are not there yet.

    python benchmarks/kernels.py [NAME …] [MODEL.onnx …] --measure

Here models are planned for this machine, one thread, compiled and run; `residuals.csv` then holds
how long each kernel took and should have, `docs/residuals.svg` shows it, and the cost model's
median error is printed.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import onnx_ir as ir

from burnish.codegen.cpu.backend import CpuBackend, open_cpu
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.environment import about
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.codegen.write import write as write_folder
from burnish.core import units
from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.hw.spec import for_cores, load
from burnish.report import svg
from burnish.runtime.load import open_folder
from burnish.store import onnx_files
from burnish.store.layout import resolve
from burnish.tile.machine import machine

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_suffix(".csv")
RESIDUALS = Path(__file__).with_name("residuals.csv")
PLOT = ROOT / "docs/residuals.svg"
RUNS = 60
SHORTEST_S = 20e-6
"""Kernels that take less are mostly start-up, and the clock."""
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
    "block-stem": """(float[1, 3, 224, 224] x) => (float[1, 64, 56, 56] y)
    { a = Conv<pads = [3, 3, 3, 3], strides = [2, 2]>(x, w_64_3_7_7) b = Relu(a)
      y = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]>(b) }""",
    "block-bottleneck": """(float[1, 512, 28, 28] x) => (float[1, 1024, 14, 14] y)
    { a = Conv(x, w_256_512_1_1) b = Relu(a) c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(b,
      w_256_256_3_3) d = Relu(c) e = Conv(d, w_1024_256_1_1) f = Conv<strides = [2, 2]>(x,
      v_1024_512_1_1) g = Add(e, f) y = Relu(g) }""",
    "block-residual": """(float[1, 64, 56, 56] x) => (float[1, 64, 56, 56] y)
    { a = Conv<pads = [1, 1, 1, 1]>(x, w_64_64_3_3) b = Relu(a)
      c = Conv<pads = [1, 1, 1, 1]>(b, v_64_64_3_3) y = Add(c, x) }""",
    "block-sequence": """(float[1, 256, 399] x) => (float[1, 256, 99] y)
    { a = Conv<strides = [2]>(x, w_256_256_3) b = Relu(a) y = Conv<strides = [2]>(b, v_256_256_3) }
    """,
    "block-grouped": """(float[1, 128, 56, 56] x) => (float[1, 320, 14, 14] y)
    { a = Conv<group = 8, pads = [1, 1, 1, 1], strides = [2, 2]>(x, w_128_16_3_3) b = Relu(a)
      c = Conv(b, w_320_128_1_1) d = Relu(c) e = Conv<group = 20, pads = [1, 1, 1, 1],
      strides = [2, 2]>(d, w_320_16_3_3) y = Relu(e) }""",
    "block-depth-wise": """(float[1, 24, 56, 56] x) => (float[1, 40, 28, 28] y)
    { a = Conv(x, w_144_24_1_1) b = HardSwish(a) c = Conv<group = 144, pads = [2, 2, 2, 2],
      strides = [2, 2]>(b, w_144_1_5_5) d = HardSwish(c) y = Conv(d, w_40_144_1_1) }""",
    "block-dense": """(float[1, 128, 28, 28] x, float[1, 32, 28, 28] z) => (float[1, 160, 28, 28] y)
    { c = Concat<axis = 1>(x, z) s = Mul(c, w_160_1_1) t = Add(s, v_160_1_1) r = Relu(t)
      a = Conv(r, w_160_160_1_1) y = Relu(a) }""",
    "block-enlarged": """(float[1, 256, 256] x) => (float[1, 256, 64, 64] y)
    { t = Transpose<perm = [0, 2, 1]>(x) r = Reshape(t, image) y = Resize<mode = "linear">(r, ,
      fourfold) }""",
    "block-attention": """(float[1, 64, 128] x) => (float[1, 64, 128] y)
    { n = LayerNormalization(x, w_128, v_128) q = MatMul(n, w_128_128) k = MatMul(n, v_128_128)
      t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) p = Softmax(s) a = MatMul(p, n)
      y = Add(a, x) }""",
}
"""Small models in ONNX text; a name such as `w_96_1_3_3` is a weight of that shape."""


@dataclass(frozen=True, slots=True)
class Residual:
    """How long one kernel of a model took on this machine, and should have."""

    model: str
    kernel: str
    predicted_s: float
    measured_s: float

    @property
    def error(self) -> float:
        """Return the logarithm of measured over predicted."""
        return math.log(self.measured_s / self.predicted_s)


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
    parser.add_argument("--measure", action="store_true")
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.names or [*EXAMPLES, *BLOCKS], asked.zoo)
        return
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
    sizes = {str(dim.value): SIZES.get(str(dim.value), 8) for dim in _open_sizes(loaded)}
    made = plan(prepare(loaded, sizes), PlanOptions(backend, Predicted(backend))).plan
    steps = Counter(step.kernel for step in made.kernel_steps)
    seconds, moved = Counter[str](), Counter[str]()
    for step in made.kernel_steps:
        seconds[step.kernel] += step.predicted_s or 0.0  # type: ignore[assignment]
        moved[step.kernel] += step.predicted_bytes or 0.0  # type: ignore[assignment]
    return [Row(name, each, steps[each], seconds[each], moved[each]) for each in sorted(steps)]


def measure(names: Iterable[str], zoo: Path | None) -> None:
    """Time the kernels of models on this machine, keep that, and print how wrong prices are."""
    names = list(names)
    with RESIDUALS.open(newline="") as stream:
        before = list(csv.reader(stream))[1:]
    found = [each for name in names for each in timed(name, zoo)]
    rows = [
        (each.model, each.kernel, f"{each.predicted_s:.4g}", f"{each.measured_s:.4g}")
        for each in found
    ]
    kept = [tuple(row) for row in before if row[0] not in {each.model for each in found}]
    with RESIDUALS.open("w", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("model", "kernel", "predicted_s", "measured_s"))
        table.writerows(sorted([*kept, *rows]))
    every = [Residual(m, k, float(p), float(s)) for m, k, p, s in sorted([*kept, *rows])]
    PLOT.write_text(drawn(every) + "\n")
    errors = [each.error for each in every]
    middle = statistics.median(map(abs, errors))
    print(f"{len(errors)} kernels, median |log| {middle:.3f}, largest {max(map(abs, errors)):.2f}")


def drawn(residuals: Iterable[Residual]) -> str:
    """Return measured over predicted times as a drawing: a dot for each kernel."""
    left, top, width, height, decade, third = 60.0, 20.0, 620.0, 240.0, 155.0, math.log(3)

    def across(seconds: float) -> float:
        return left + decade * (math.log10(seconds) + 5)

    def down(error: float) -> float:
        return top + height / 2 * (1 - error / math.log(4))

    style = "text{font:12px sans-serif;fill:#777}line{stroke:#999}circle{fill:#2a78b8}"
    shapes = [svg.element("style", style)]
    for error, label in ((third, "3"), (math.log(2), "2"), (0.0, "1"), (-math.log(2), "1/2")):
        y = down(error)
        shapes.append(svg.element("line", x1=left, x2=left + width, y1=y, y2=y, opacity=0.4))
        shapes.append(svg.text(label, x=left - 8, y=y + 4, class_="at", anchor="end"))
    for power, label in enumerate(("10 µs", "100 µs", "1 ms", "10 ms")):
        x = left + decade * power
        shapes.append(svg.text(label, x=x, y=top + height + 18, class_="at", anchor="middle"))
    shapes += [
        svg.element(
            "circle", svg.title(f"{each.model}: {each.kernel}"),
            cx=across(each.measured_s), cy=down(each.error), r=3, opacity=0.6,
        )
        for each in residuals
    ]  # fmt: skip
    said = "measured over predicted time of each kernel, by the time that was measured"
    return svg.document(*shapes, width=700, height=290, label=said)


def timed(name: str, zoo: Path | None) -> list[Residual]:
    """Return the kernels of a model that take long enough to be timed, each once."""
    backend = open_cpu("", 1)
    loaded = model_of(name, zoo)
    sizes = {str(d.value): SIZES.get(str(d.value), 1) for d in _open_sizes(loaded)}
    built = plan(prepare(loaded, sizes), PlanOptions(backend, Predicted(backend)))
    random = np.random.default_rng(0)
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "model.onnx"
        ir.save(loaded, path)
        told = about(resolve(str(path), Path(scratch)), loaded, "fp32", backend.device, ())
        write_folder(Path(scratch) / "compiled", told, [built], backend)
        with open_folder(Path(scratch) / "compiled", threads=1) as model:
            kinds = [(each, built.plan.tensors[each]) for each in built.plan.inputs]
            feeds = {each: _made(kind.dtype, kind.shape, random) for each, kind in kinds}
            runs = model.executable(feeds).step_times(feeds, warmup=3, runs=RUNS)
    steps = built.plan.kernel_steps
    best = {
        step.kernel: (step.predicted_s or 0.0, min(run[place].duration_s for run in runs))
        for place, step in enumerate(steps)
    }
    title = Path(name).stem
    return [Residual(title, k, p, s) for k, (p, s) in best.items() if s > SHORTEST_S and p]


def _made(dtype: str, shape: Iterable[int], random: np.random.Generator) -> Array:
    """Return numbers around zero, or zeros and ones where they are whole."""
    kind, size = array_type(dtype), tuple(shape)
    if dtype.startswith(("f", "bf")):
        return random.standard_normal(size).astype(kind)
    return random.integers(0, 2, size).astype(kind)


def _open_sizes(model: ir.Model) -> set[ir.SymbolicDim]:
    return {d for v in model.graph.inputs for d in v.shape or () if isinstance(d, ir.SymbolicDim)}


def model_of(name: str, zoo: Path | None) -> ir.Model:
    """Return an example, a block, or a model of the zoo that is exported where need be."""
    if name in BLOCKS:
        return block(name)
    path = Path(name) if name.endswith(".onnx") else EXAMPLES.get(name)
    if path is None:
        if zoo is None:
            raise SystemExit(f"{name} is a model of the zoo: say where to, --zoo FOLDER")
        found = sorted(zoo.glob(f"{name}*/**/*.onnx"))
        if not found:
            words = ["export", name, "--small", "--batch", "1", "--store", str(zoo)]
            subprocess.run([sys.executable, "-m", "burnish", "-q", *words], check=True)
            found = sorted(zoo.glob(f"{name}*/**/*.onnx"))
        path = found[0]
    return onnx_files.read(path)


def block(name: str) -> ir.Model:
    """Return a small model with random weights."""
    text = BLOCKS[name]
    words = dict.fromkeys(word.strip(" ,(){}") for word in text.replace(",", " ").split())
    head = '<ir_version: 10, opset_import: ["": 21]>'
    constants = (
        "<float zero = {0.0}, float six = {6.0}, int64[4] image = {1, 256, 16, 16}, "
        "float[4] fourfold = {1.0, 1.0, 4.0, 4.0}>"
    )
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
