"""Compiled models against the engines a user could have picked, on this machine.

    python benchmarks/compile.py --export         # export only
    python benchmarks/compile.py --prepare        # export and compile (tunes; up to 5 min a model)
    python benchmarks/compile.py                  # measure on a quiet machine, print the tables
    python benchmarks/compile.py --ablation       # and what fusion itself gives
    python benchmarks/compile.py --told --folder FOLDER    # the tables of what is in a folder

Eleven models have the shape of Welder's evaluation at batch 1; thirteen are ordinary networks that
nobody tuned for, three of the zoo and ten of `networks.py`. The compiled model and ONNX Runtime,
OpenVINO and torch.compile take turns in fresh processes with the same threads and inputs (`burnish
bench`); the ratio is the best engine's time over ours, with the 98 % interval over the rounds.
For the ablation it is compiled three times more, untuned: each operator a kernel of its own
(none), element-wise work joined (element-wise), and full; these and the tuned one take turns.
Finished models are kept in FOLDER, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENGINES = ("onnxruntime-cpu", "openvino", "torch-compile")
OURS = "burnish"
TUNED = "tuned"
FUSIONS = ("none", "element-wise", "full")
VARIANT = "compile-bench"
NETWORKS = Path(__file__).with_name("networks.py")
Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A model, what it is exported with, and the ratio over the best engine that is asked for."""

    model: str
    bar: float
    options: tuple[str, ...] = ("--batch", "1")
    is_written: bool = False
    """Whether it is a function of `networks.py`; else it is of the zoo."""

    @property
    def source(self) -> tuple[str, ...]:
        """Return what `burnish export` makes it from."""
        if not self.is_written:
            return (self.model, *self.options)
        return ("--module", f"{NETWORKS}:{self.model}", "--name", self.model)


TUNED_FOR = (
    Case("nafnet", 1.8),
    Case("restormer", 1.6),
    Case("bsrn", 1.3),
    Case("nerf-mlp", 1.2, ("--sequence", "2073600")),
    Case("mobilenet-v2", 1.15),
    Case("convnext-t", 1.2),
    Case("mobilevit-s", 1.1),
    Case("swin-t", 1.1),
    Case("bert-base", 0.98, ("--batch", "1", "--sequence", "128")),
    Case("vit-s32", 0.98),
    Case("conformer", 0.98, ("--batch", "1", "--sequence", "512")),
)
ORDINARY = (
    Case("resnet50", 0.98),
    Case("densenet121", 0.98, is_written=True),
    Case("segformer_b0", 0.98, is_written=True),
    Case("efficientnet_b0", 0.98, is_written=True),
    Case("regnet_y_008", 0.98, is_written=True),
    Case("unet", 0.98, is_written=True),
    Case("mlp_mixer", 0.98, is_written=True),
    Case("edsr", 0.98, is_written=True),
    Case("lstm_tagger", 0.98, is_written=True),
    Case("t5-encoder", 0.98, ("--batch", "1", "--sequence", "128")),
    Case("gpt2", 0.98, ("--batch", "1", "--sequence", "64", "--layers", "6")),
    Case("poolformer_s12", 0.98, is_written=True),
    Case("wavenet", 0.98, is_written=True),
)
SETS = {"tuned for": TUNED_FOR, "ordinary": ORDINARY}
CASES = tuple(case for cases in SETS.values() for case in cases)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prepare or measure the models that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prepare", action="store_true", help="export and compile only")
    parser.add_argument("--export", action="store_true", help="export only")
    parser.add_argument("--told", action="store_true", help="measure nothing, print the tables")
    parser.add_argument("--folder", type=Path, default=Path("out/bench-compile"))
    parser.add_argument("--only", default="", help="models, separated by commas")
    parser.add_argument("--tuning", default="240s", help="budget of tuning the full variant")
    parser.add_argument("--predicted", action="store_true", help="compile as predicted, not tuned")
    parser.add_argument("--engines", default=",".join(ENGINES), help="that ours is raced against")
    parser.add_argument("--budget", type=float, default=25.0, help="seconds for each subject")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--again", action="store_true", help="measure what is measured already")
    parser.add_argument("--ablation", action="store_true", help="measure none and element-wise too")
    asked = parser.parse_args(arguments)
    only = [name for name in asked.only.split(",") if name]
    cases = [case for case in CASES if not only or case.model in only]
    asked.folder.mkdir(parents=True, exist_ok=True)
    for case in cases if not asked.told else ():
        if asked.export:
            export(case, asked)
            continue
        prepare(case, asked)
        if not asked.prepare:
            measure(case, asked)
            if asked.ablation:
                ablate(case, asked)
    if not asked.prepare and not asked.export:
        for name, chosen in SETS.items():
            there = [case for case in chosen if measured(case, asked.folder).is_file()]
            print(f"\n{name}\n\n{table(there, asked)}")
            missing = [case.model for case in chosen if case in cases and case not in there]
            if missing:
                print(f"not measured: {', '.join(missing)}")
        print(ablation([case for case in CASES if ablated(case, asked.folder).is_file()], asked))


def export(case: Case, asked: argparse.Namespace) -> None:
    """Export a model, unless that is done."""
    store = asked.folder / "models"
    if not (store / case.model / VARIANT).is_dir():
        burnish(
            "export", *case.source, "--exporter", "torchscript", "--static",
            "--variant", VARIANT, "--store", str(store),
        )  # fmt: skip


def prepare(case: Case, asked: argparse.Namespace) -> None:
    """Export a model and compile it three times, unless that is done."""
    export(case, asked)
    compile_as(case, TUNED, ["--no-tune"] if asked.predicted else ["--budget", asked.tuning], asked)
    for fusion in FUSIONS if asked.ablation else ():
        compile_as(case, fusion, ["--fusion", fusion, "--no-tune"], asked)


def compile_as(case: Case, variant: str, options: list[str], asked: argparse.Namespace) -> None:
    """Compile a model in one way, unless that is done."""
    folder = compiled(case, variant, asked.folder)
    if folder.is_dir():
        return
    start = time.monotonic()
    report = burnish(
        "compile", f"{case.model}/{VARIANT}", "--store", str(asked.folder / "models"),
        "-o", str(folder), *options, "--json",
    )  # fmt: skip
    report["benchmark_seconds"] = time.monotonic() - start
    folder.with_suffix(".json").write_text(json.dumps(report))


def measure(case: Case, asked: argparse.Namespace) -> None:
    """Let the compiled model and the engines take turns, and keep the report."""
    target = measured(case, asked.folder)
    if target.is_file() and not asked.again:
        return
    burnish(
        "bench", str(compiled(case, TUNED, asked.folder)),
        "--engine", f"{asked.engines},{OURS}", "--baseline", OURS,
        "--rounds", str(asked.rounds),
        "--budget", str(asked.budget * (asked.engines.count(",") + 2)),
        *(("--trust-factory", f"{NETWORKS}:{case.model}") if case.is_written else ()),
        "-o", str(target), "--json", written=target,
    )  # fmt: skip


def ablate(case: Case, asked: argparse.Namespace) -> None:
    """Let all ways of compiling take turns, and keep the report."""
    target = ablated(case, asked.folder)
    if target.is_file() and not asked.again:
        return
    folders = [str(compiled(case, variant, asked.folder)) for variant in (*FUSIONS, TUNED)]
    burnish(
        "bench", *folders, "--engine", OURS, "--baseline", f"{folders[-2]}@burnish",
        "--rounds", str(asked.rounds), "--budget", str(asked.budget * len(folders)),
        "-o", str(target), "--json",
    )  # fmt: skip


def table(cases: list[Case], asked: argparse.Namespace) -> str:
    """Return the results as Markdown."""
    lines = [
        (
            "| model | ours | ONNX Runtime | OpenVINO | torch.compile | best / ours | asked "
            "| peak memory, ours / ORT | compiled in |"
        ),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    reached = []
    for case in cases:
        report = json.loads(measured(case, asked.folder).read_text())
        rows = {_label(each): each for each in report["measurements"]}
        ratios = {_label_of(c["candidate"]): c for c in report["comparisons"]}
        raced = {label: ratios[label] for label in ENGINES if ratios.get(label, {}).get("ratio")}
        cells = [case.model, _time(rows.get(TUNED)), *(_time(rows.get(name)) for name in ENGINES)]
        if raced:
            best = max(raced.values(), key=lambda one: one["ratio"])
            reached.append(1 / best["ratio"])
            cells += [f"**{reached[-1]:.2f}×** {_interval(best)}"]
        else:
            cells += [f"not compared: {_reason(report)}"]
        cells += [f"{case.bar}×", _memory(rows), _seconds(case, asked.folder)]
        lines.append("| " + " | ".join(cells) + " |")
    if not reached:
        return "\n".join([*lines, "", "nothing was compared"])
    mean = math.exp(statistics.fmean(map(math.log, reached)))
    return "\n".join([*lines, "", f"geometric mean over {len(reached)} models: {mean:.2f}×"])


def ablation(cases: list[Case], asked: argparse.Namespace) -> str:
    """Return what fusing and tuning give, as Markdown; times over that of full, untuned."""
    lines = [
        "",
        "| model | none / full | element-wise / full | tuned / full |",
        "|---|---|---|---|",
    ]
    for case in cases:
        report = json.loads(ablated(case, asked.folder).read_text())
        ratios = {_label_of(c["candidate"]): c for c in report["comparisons"]}
        cells = [_fusion(ratios.get(variant)) for variant in ("none", "element-wise", TUNED)]
        lines.append("| " + " | ".join([case.model, *cells]) + " |")
    return "\n".join(lines)


def burnish(*arguments: str, written: Path | None = None) -> Report:
    """Run a command; return its JSON document, if it prints one.

    One that ends with an error is none where it wrote its file all the same: an engine that cannot
    read a model is a row without a time.
    """
    command = [sys.executable, "-m", "burnish", *arguments]
    print("$ burnish", *arguments, file=sys.stderr, flush=True)
    if written is not None:
        written.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and not (written is not None and written.is_file()):
        raise SystemExit(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout)) if "--json" in arguments else {}


def compiled(case: Case, variant: str, folder: Path) -> Path:
    """Return where a model is compiled to."""
    return folder / "compiled" / f"{case.model}-{variant}"


def ablated(case: Case, folder: Path) -> Path:
    """Return where the measurements of its variants are."""
    return folder / f"{case.model}-ablation.json"


def measured(case: Case, folder: Path) -> Path:
    """Return where a model's measurements are."""
    return folder / f"{case.model}.json"


def _label(measurement: Report) -> str:
    return _label_of(measurement["subject"])


def _label_of(subject: str) -> str:
    model, _, engine = subject.rpartition("@")
    if engine != OURS:
        return engine
    name = Path(model).name
    return next((each for each in FUSIONS if name.endswith(f"-{each}")), TUNED)


def _samples(measurement: Report) -> list[float]:
    return [sample for block in measurement["blocks"] for sample in block["samples_s"]]


def _time(measurement: Report | None) -> str:
    samples = _samples(measurement) if measurement else []
    return f"{statistics.median(samples) * 1e3:.1f} ms" if samples else "–"


def _interval(comparison: Report) -> str:
    if not comparison["low"]:
        return "(no interval)"
    return f"({1 / comparison['high']:.2f}–{1 / comparison['low']:.2f})"


def _fusion(comparison: Report | None) -> str:
    if not comparison or not comparison["ratio"]:
        return "–"
    return f"{1 / comparison['ratio']:.2f}× {_interval(comparison)}"


def _memory(rows: dict[str, Report]) -> str:
    peaks = [
        max((launch["peak_memory_bytes"] or 0 for launch in rows[name]["launches"]), default=0)
        for name in (TUNED, "onnxruntime-cpu")
        if name in rows
    ]
    return " / ".join(f"{peak / 2**20:.0f} MiB" for peak in peaks)


def _reason(report: Report) -> str:
    """Return why nothing could be compared, as the rows tell it."""
    told = [row["failure"] for row in report["measurements"] if row["failure"]]
    told += [one["reason"] for one in report["comparisons"] if one["reason"]]
    return " ".join(told)[:160] or "no reason is told"


def _seconds(case: Case, folder: Path) -> str:
    if not compiled(case, TUNED, folder).with_suffix(".json").is_file():
        return "–"
    report = json.loads(compiled(case, TUNED, folder).with_suffix(".json").read_text())
    return f"{report['benchmark_seconds']:.0f} s"


if __name__ == "__main__":
    main()
