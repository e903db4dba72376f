"""How much is fused after other optimisers had their hands on a model.

python benchmarks/forms.py WORK [--tool DIR] [--model GLOB,…] [--form NAME,…] [--twice]
                           [--rows FILE]

WORK holds what `export.py` of the shared coverage tool or `benchmarks/architectures.py` wrote.
Each model is taken as it was exported; after onnxsim, onnxslim, and ONNX Runtime's own BASIC and
EXTENDED levels; with every size fixed (`static`); and in half precision (`f16`). It is rewritten in
this process, counted by the tool's own counter, and compared with the export: at two shapes, and
with left padding and holes in the mask. `--twice`
says where rewriting the result again changes anything. What is not installed is left out. With
`--rows` each model's row is kept in a file as soon as it is known, and what stands there is not
measured again; the table is of all rows of the file.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import importlib
import io
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from burnish.core.errors import BurnishError
from burnish.rewrite.leftovers import leftovers
from burnish.rewrite.pipeline import RewriteResult, optimize
from burnish.store import onnx_files

TOOL = Path(__file__).parents[2] / "shared" / "tools" / "coverage"
KINDS = ("attention", "layernorm", "rmsnorm", "groupnorm", "gelu", "silu", "rope")
WRONG = {"f16": 0.05}
"""How far a form may be off from the export; all others:"""
WRONG_ELSE = 1e-4
Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]
Row = dict[str, Any]
Counts = Callable[[onnx.ModelProto], Mapping[str, Any]]


def session(path: Path, level: str = "DISABLE_ALL", to: Path | None = None) -> Any:  # noqa: ANN401
    """Return a session of one thread; with `to`, what it optimised is written there."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = getattr(levels, f"ORT_{level}")
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if to is not None:
        options.optimized_model_filepath = str(to)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _onnxsim(source: Path, to: Path) -> None:
    onnx.save(importlib.import_module("onnxsim").simplify(onnx.load(source))[0], to)


def _onnxslim(source: Path, to: Path) -> None:
    onnx.save(importlib.import_module("onnxslim").slim(str(source)), to)


def _static(source: Path, to: Path) -> None:
    """Fix every size to that of the export's first sample, and forget what follows from none."""
    model = onnx.load(source)
    given = np.load(source.with_suffix(".npz"))
    for value in model.graph.input:
        shape = value.type.tensor_type.shape
        for dim, size in zip(shape.dim, given[f"a:{value.name}"].shape, strict=True):
            dim.ClearField("dim_param")
            dim.dim_value = size
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    onnx.save(model, to)


def _half(source: Path, to: Path) -> None:
    converter = importlib.import_module("onnxruntime.transformers.float16")
    onnx.save(converter.convert_float_to_float16(onnx.load(source), keep_io_types=True), to)


FORMS: Mapping[str, Callable[[Path, Path], object]] = {
    "onnxsim": _onnxsim,
    "onnxslim": _onnxslim,
    "ort-basic": lambda source, to: session(source, "ENABLE_BASIC", to),
    "ort-extended": lambda source, to: session(source, "ENABLE_EXTENDED", to),
    "static": _static,
    "f16": _half,
}


def formed(source: Path, form: str) -> Path | None:
    """Return a model in a form, made once; None: the tool fails on it, or is not there."""
    if form == "exported":
        return source
    path = source.parents[1] / form / source.name
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                FORMS[form](source, path)
        except Exception as error:  # another tool's, of any kind
            print(f"{form} fails on {source.stem}: {str(error)[:80]!r}", file=sys.stderr)
            return None
    return path


def worst(source: Path, form: Path, result: Path) -> float:
    """Return the largest difference from the export, relative to the largest of its values.

    Where the form itself is off, or does not run, that is no fault of the result: then what it
    gives is compared with the form.
    """
    given = np.load(source.with_suffix(".npz"))
    before, between = session(source), session(form)
    try:
        after = session(result)
    except Exception as error:  # whatever keeps it from loading, a result must load
        print(f"{source.stem}: {str(error)[:160]!r}", file=sys.stderr)
        return float("inf")
    found = 0.0
    for feeds, kept in _feeds(given, {value.name for value in before.get_inputs()}):
        runs = [_given(model, feeds) for model in (before, between, after)]
        if not _takes(after, feeds) or runs[0] is None or runs[1] is None:
            continue  # an export, or a form, that fails at a shape says nothing
        if runs[2] is None:
            return float("inf")
        for exported, formed, mine in zip(*runs, strict=True):  # type: ignore[misc]
            where = kept if kept is not None and mine.shape[:2] == kept.shape else ...
            offs = (_apart(mine[where], other[where]) for other in (exported, formed))
            found = max(found, min(offs))
    return found


def _apart(mine: Array, theirs: Array) -> float:
    off = float(np.abs(mine.astype(np.float64) - theirs).max(initial=0.0))
    return off / max(1e-3, float(np.abs(theirs).max(initial=0.0)))


def _given(model: Any, feeds: Arrays) -> list[Any] | None:  # noqa: ANN401
    """Return what a model gives; None: it does not run."""
    try:
        return list(model.run(None, feeds))
    except Exception:  # the runtime's, of any kind
        return None


def _takes(model: Any, feeds: Arrays) -> bool:  # noqa: ANN401
    """Return whether a model has these sizes: one whose sizes are fixed has one set of them."""
    return all(
        not isinstance(size, int) or size == found
        for value in model.get_inputs()
        for size, found in zip(value.shape, feeds[value.name].shape, strict=False)
    )


def _feeds(given: Arrays, names: set[str]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield inputs at both shapes, then with a hole and left padding; and which places count."""
    for tag in "ab":
        yield {key[2:]: given[key] for key in given if key[0] == tag and key[2:] in names}, None
    mask = given.get("a:attention_mask")
    if mask is None or any(key.startswith("a:past") for key in given):
        return
    holes = np.ones_like(mask)
    holes[-1, :3] = holes[0, holes.shape[1] // 2] = 0
    feeds = {key[2:]: given[key] for key in given if key[0] == "a" and key[2:] in names}
    yield feeds | {"attention_mask": holes}, holes.astype(bool)


def reasons(result: RewriteResult) -> Iterable[str]:
    """Yield why attentions stayed, each text once."""
    misses = [
        miss
        for miss in result.report.misses
        if miss.rule in ("attention", "rotary", "gelu", "swish")
    ]
    yield from dict.fromkeys(f"  {miss.rule}: {miss.reason}" for miss in misses[:4])
    left = leftovers(result.model, {miss.node for miss in result.report.misses})
    yield from (f"  {item.reason}" for item in left[:2] if item.op_type == "Softmax")


def main() -> int:
    """Measure, print what is missing, then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--tool", type=Path, default=TOOL)
    parser.add_argument("--model", default="*")
    parser.add_argument("--form", default=",".join(["exported", *FORMS]))
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--rows", type=Path)
    asked = parser.parse_args()
    if not (asked.tool / "counts.py").is_file():
        print(f"{asked.tool}: not there, nothing is measured", file=sys.stderr)
        return 0
    sys.path.insert(0, str(asked.tool))
    count = importlib.import_module("counts").count
    rows = kept(asked.rows)
    done = {(row["model"], row["form"]) for row in rows}
    for told, known in _wanted(asked.work / "models", asked.model.split(",")):
        for form in asked.form.split(","):
            if (told.stem, form) in done:
                continue
            source = told.with_suffix(".onnx")
            rows.append(measured(source, form, known, count, twice=asked.twice))
            if asked.rows:
                with asked.rows.open("a") as file:
                    print(json.dumps(rows[-1]), file=file)
    print("\n".join(table([row for row in rows if "failed" not in row])))
    return int(any(row.get("bad") for row in rows))


def kept(path: Path | None) -> list[Row]:
    """Return the rows of a file, none where there is no file yet."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def _wanted(folder: Path, globs: list[str]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield what is known of each export that equals PyTorch and whose name one glob takes."""
    for told in sorted(folder.glob("*.json")):
        known = json.loads(told.read_text())
        right = known["ok"] and isinstance(known.get("torch_diff"), float)
        if right and any(fnmatch.fnmatch(told.stem, each) for each in globs):
            yield told, known


def measured(
    source: Path, form: str, known: Mapping[str, Any], count: Counts, *, twice: bool
) -> Row:
    """Return a model's row in a form: found and expected of each kind, and whether it is bad."""
    row: Row = {"model": source.stem, "form": form}
    row["export"] = f"{known['exporter']} {known['impl']}"
    path = formed(source, form)
    if path is None:
        return row | {"failed": "the form cannot be made"}
    try:
        result = optimize(onnx_files.read(path))
    except BurnishError as error:  # a form that is no model any more
        print(f"{source.stem} {form}: {str(error)[:160]!r}", file=sys.stderr)
        return row | {"failed": str(error)}
    made = source.parents[1] / f"result.{os.getpid()}.onnx"
    ir.save(result.model, made)
    counts = count(onnx.load(made))["kinds"]
    expected = {kind: known["expected"].get(kind, 0) for kind in KINDS}
    off = worst(source, path, made)
    row |= {kind: [min(counts[kind], number), number] for kind, number in expected.items()}
    row["bad"] = not off <= WRONG.get(form, WRONG_ELSE)
    missing = [f"{k} {counts[k]}/{n}" for k, n in expected.items() if counts[k] < n]
    if missing or row["bad"]:
        print(f"{source.stem} {form}: {', '.join(missing)}; off by {off:.1e}", flush=True)
        print("\n".join(reasons(result)))
    if twice and (again := optimize(onnx_files.read(made)).report).fusions:
        rules = [fusion.rule for fusion in again.fusions]
        print(f"{source.stem} {form}: again {rules}", flush=True)
    made.unlink()
    return row


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table: one line for each form and way of exporting."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["form"], row["export"]].append(row)
    yield "| form | export | models | " + " | ".join(KINDS) + " | bad |"
    yield "|" + " --- |" * (len(KINDS) + 4)
    for (form, export), found in sorted(groups.items()):
        cells = [
            "/".join(str(sum(row[kind][place] for row in found)) for place in (0, 1))
            for kind in KINDS
        ]
        ends = " | ".join([*cells, str(sum(row["bad"] for row in found))])
        yield f"| {form} | {export} | {len(found)} | {ends} |"


if __name__ == "__main__":
    raise SystemExit(main())
