"""Models with half of their operations cut away: size, error, and speed as ONNX and compiled.

    python benchmarks/pruned.py STORE [--folder MADE] [--calls 15] [--models bert-base,…]

STORE is where `burnish export NAME --exporter torchscript --store STORE` put them. What is made
lies in MADE, and is not made again by the next call; then errors are not told, for only cutting
tells them. Original and pruned run in ONNX Runtime with all its optimisations and as kernels of
ours that were not tuned, each on one thread, taking turns; what is compared is processor time.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import burnish
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds
from burnish.store.stored import StoredModel

Run = Callable[[], Any]
"""One inference."""


@dataclass(frozen=True, slots=True)
class Case:
    """A model of the zoo, at which sizes it runs, and on what it is cut."""

    name: str
    sizes: Mapping[str, int]
    calibration: Mapping[str, int]
    samples: int = 12


CASES = (
    Case("bert-base", {"batch": 1, "sequence": 128}, {"batch": 4, "sequence": 128}),
    Case("vit-s32", {"batch": 1}, {"batch": 16}, samples=9),
    Case("resnet50", {"batch": 1}, {"batch": 1}),
)


@dataclass(slots=True)
class Times:
    """Seconds of processor time of each subject, run by run."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def ratio(self, before: str, after: str) -> str:
        """Return how many times as fast, run by run: the median, and the quartiles."""
        pairs = zip(self.seconds[before], self.seconds[after], strict=True)
        low, middle, high = statistics.quantiles([a / b for a, b in pairs], n=4)
        return f"{middle:.2f}× ({low:.2f} – {high:.2f})"


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--models", default=",".join(case.name for case in CASES))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = asked.folder or Path(own)
        folder.mkdir(parents=True, exist_ok=True)
        print("| model | file | ONNX Runtime | compiled | compiled, against ONNX Runtime | error |")
        print("|---|---|---|---|---|---|")
        for case in (one for one in CASES if one.name in asked.models.split(",")):
            whole = asked.store / case.name / "torchscript" / f"{case.name}_torchscript.onnx"
            small, error = _pruned(case, whole, folder / f"{case.name}_pruned.onnx")
            found = _timed(case, whole, small, folder, asked.calls)
            sizes = " → ".join(f"{path.stat().st_size / 2**20:.1f}" for path in (whole, small))
            print(
                f"| {case.name} | {sizes} MiB | {found.ratio('ort', 'ort pruned')} "
                f"| {found.ratio('own', 'own pruned')} | {found.ratio('ort pruned', 'own pruned')} "
                f"| {error} |",
                flush=True,
            )


def _pruned(case: Case, whole: Path, target: Path) -> tuple[Path, str]:
    """Return the model with half of its operations, and how far it is off."""
    if target.is_file():
        return target, "not measured again"
    report = burnish.prune(
        whole, output=target, keep=0.5, samples=case.samples, shape=dict(case.calibration),
        budget=0.0,
    )  # fmt: skip
    worst = max(report.errors, key=lambda one: one.relative)
    zeroed = worst.relative_unfitted
    alone = "" if zeroed is None else f", {zeroed:.1%} if only zeroed"
    return target, f"{worst.relative:.1%} (cosine {worst.cosine:.3f}{alone})"


def _timed(case: Case, whole: Path, small: Path, folder: Path, calls: int) -> Times:
    """Return what each takes, all taking turns."""
    fed = choose(StoredModel(whole, case.name), bindings=case.sizes, samples=1)[0]
    found = Times()
    with ExitStack() as stack:
        runs = dict(_runs(case, {"": whole, " pruned": small}, fed, folder, stack))
        for call in range(calls + 2):
            for name, run in runs.items():
                start = time.process_time()
                run()
                if call >= 2:
                    found.seconds.setdefault(name, []).append(time.process_time() - start)
    return found


def _runs(
    case: Case, models: Mapping[str, Path], fed: Feeds, folder: Path, stack: ExitStack
) -> Iterator[tuple[str, Run]]:
    import onnxruntime

    for suffix, path in models.items():
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        yield f"ort{suffix}", lambda session=session: session.run(None, fed.arrays)
        compiled = folder / f"{case.name}{suffix.replace(' ', '_')}_compiled"
        if not compiled.is_dir():
            burnish.compile(
                path, output=compiled, shape=dict(case.sizes), tune=False, threads=1, samples=1
            )
        loaded = stack.enter_context(burnish.load(compiled, threads=1))
        yield f"own{suffix}", lambda loaded=loaded: loaded.run(fed.arrays)


if __name__ == "__main__":
    main()
