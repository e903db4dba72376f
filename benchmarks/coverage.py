"""How much of each architecture is fused: run the shared coverage tool, and print its counts.

python benchmarks/coverage.py WORK [--tool DIR] [--model GLOB] [--way default|cost-off|cuda]

WORK holds what `export.py` of the tool has written. Three ways to optimise are measured: as the
command does by default, with `--cost off`, where also fusions that are slower on this target are
applied, and with `--target cuda` (the tool still runs the result on the CPU, where it can). None
checks each fusion: the tool compares the whole models. Where the tool is not there, nothing is
measured.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

TOOL = Path(__file__).parents[2] / "shared" / "tools" / "coverage"
KINDS = ("attention", "layernorm", "rmsnorm", "groupnorm", "gelu", "silu", "rope", "skip")
WAYS = {"default": "", "cost-off": "--cost off", "cuda": "--target cuda"}
PEERS = ("onnxsim", "onnxslim")
BAD = ("wrong", "invalid", "crash", "drift")

Row = Mapping[str, str]


def measure(tool: Path, work: Path, models: str, ways: Sequence[str]) -> Path:
    """Run the ways over all models; rows that are there already are kept. Return the CSV."""
    command = f"{sys.executable} -m burnish -q optimize {{src}} -o {{dst}} --no-verify --no-trial"
    out = work / "burnish.csv"
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join([*_stand_ins(Path(folder)), os.environ.get("PYTHONPATH", "")])
        for name in ways:
            subprocess.run(
                [
                    sys.executable, str(tool / "measure.py"), str(work), "--model", models,
                    "--out", str(out), "--cli", f"{name}={command} {WAYS[name]}",
                ],
                check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip
    return out


def _stand_ins(folder: Path) -> list[str]:
    """Return a folder with empty modules for peers that are not installed, nor measured here."""
    missing = [name for name in PEERS if importlib.util.find_spec(name) is None]
    for name in missing:
        (folder / f"{name}.py").touch()
    return [str(folder)] if missing else []


def table(rows: Sequence[Row]) -> Iterable[str]:
    """Yield the table: one line for each way and variant, found of expected for each kind."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        eager = " eager" if row["impl"] == "eager" else ""
        groups[row["optimizer"], f"{row['exporter']}{row['opset']}{eager}"].append(row)
    yield "| way | variant | models | " + " | ".join(KINDS) + " | bad | worst relative |"
    yield "|" + " --- |" * (len(KINDS) + 5)
    for (way, variant), found in sorted(groups.items()):
        cells = [_share(found, kind) for kind in KINDS]
        outcomes = Counter(row["outcome"] for row in found)
        bad = ", ".join(f"{outcomes[name]} {name}" for name in BAD if outcomes[name]) or "0"
        line = " | ".join([way, variant, str(len(found)), *cells, bad, _worst(found)])
        yield f"| {line} |"


def _share(rows: Sequence[Row], kind: str) -> str:
    pairs = [(int(row[f"n_{kind}"] or 0), int(row[f"exp_{kind}"] or 0)) for row in rows]
    expected = sum(want for _, want in pairs)
    return f"{sum(min(n, want) for n, want in pairs)}/{expected}" if expected else "-"


def _worst(rows: Sequence[Row]) -> str:
    found = [float(row[key]) for row in rows for key in ("rel_a", "rel_b", "rel_c") if row[key]]
    return f"{max(found):.1e}" if found else "-"


def shortfalls(rows: Sequence[Row]) -> Iterable[str]:
    """Yield what is missing, model by model."""
    for row in rows:
        missing = [
            f"{kind} {row[f'n_{kind}'] or 0}/{row[f'exp_{kind}']}"
            for kind in KINDS
            if int(row[f"exp_{kind}"] or 0) > int(row[f"n_{kind}"] or 0)
        ]
        if missing or row["outcome"] in BAD:
            problem = f" {row['outcome']}: {row['error']}" if row["outcome"] in BAD else ""
            yield f"{row['optimizer']} {row['key']}: {', '.join(missing)}{problem}"


def main() -> int:
    """Measure, print the table and what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--tool", type=Path, default=TOOL)
    parser.add_argument("--model", default="*")
    parser.add_argument("--way", choices=list(WAYS), action="append")
    asked = parser.parse_args()
    if not (asked.tool / "measure.py").is_file():
        print(f"{asked.tool}: not there, nothing is measured", file=sys.stderr)
        return 0
    out = measure(asked.tool, asked.work, asked.model, asked.way or list(WAYS))
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    print("\n".join(table(rows)))
    print()
    print("\n".join(shortfalls(rows)))
    return int(any(row["outcome"] in BAD for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
