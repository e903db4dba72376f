"""The models of `benchmarks/compile.py` compiled on a processor each, then raced on pairs of them.

    python benchmarks/h200/race.py MODELS.tar.xz --results FOLDER --work FOLDER --seconds 500
        [--cpus 0-7] [--only bsrn,vit-s32] [--budget 60]

The models were packed without weights (`benchmarks/weightless.py`). What takes longest is compiled
first; as soon as both processors of a pair have nothing left to compile, the pair races what is
compiled: burnish, ONNX Runtime and OpenVINO in turns with two threads (`burnish bench`). Results
lie as `benchmarks/compile.py --told --folder FOLDER` reads them. Nothing else may run on these
processors; every model that waits has its share of the time that is left.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from compile import CASES, TUNED, Case, compiled, measured
from side_by_side import cpus_of

ENGINES = "onnxruntime-cpu,openvino,burnish"
COMPILED_S = {
    "restormer": 229, "bsrn": 87, "densenet121": 77, "mobilevit-s": 56, "nerf-mlp": 41,
    "swin-t": 40, "conformer": 40, "unet": 35, "segformer_b0": 32, "nafnet": 30,
}  # fmt: skip
"""Seconds that compiling took on the host of an H200 (2026-11-16): who is begun first."""
SLOW = frozenset({"restormer", "bsrn", "nerf-mlp", "conformer"})
"""Models of which a call takes more than 0.3 s: they need more time for as many calls."""
LEAST_S, ENDING_S = 15.0, 12.0
"""What a race needs at least, and what is left for its report."""


class Race:
    """Lanes of two processors that compile, and then race."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.began = time.monotonic()
        self.ends = self.began + asked.seconds
        self.lock = threading.Lock()
        only = [name for name in asked.only.split(",") if name]
        cases = [case for case in CASES if not only or case.model in only]
        self.to_compile = sorted(cases, key=lambda case: -COMPILED_S.get(case.model, 0))
        self.compiling = 0
        self.ready: list[Case] = []
        self.left = len(cases)
        self.lanes = 0
        for folder in (asked.results / "compiled", asked.work / "models"):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def left_s(self) -> float:
        """Return the time until everything must have ended."""
        return self.ends - time.monotonic()

    def run(self) -> bool:
        """Compile and race all models; return whether all were raced."""
        cpus = cpus_of(self.asked.cpus)
        pairs = [cpus[first : first + 2] for first in range(0, len(cpus) - 1, 2)]
        self.lanes = len(pairs)
        self._together(self._lane, [(pair,) for pair in pairs])
        missing = [c.model for c in CASES if self._wanted(c) and not self._raced(c)]
        self._say(f"end; not raced: {', '.join(missing) or 'none'}")
        return not missing

    def _wanted(self, case: Case) -> bool:
        return not self.asked.only or case.model in self.asked.only.split(",")

    def _raced(self, case: Case) -> bool:
        return measured(case, self.asked.results).is_file()

    def _lane(self, pair: list[int]) -> None:
        self._together(self._compiler, [(cpu,) for cpu in pair])
        while (case := self._next_race()) is not None:
            if isinstance(case, float):
                time.sleep(case)
                continue
            self._race(case, pair)
            with self.lock:
                self.left -= 1

    def _together(self, what: object, given: Sequence[tuple[object, ...]]) -> None:
        threads = [threading.Thread(target=what, args=each) for each in given]  # type: ignore[arg-type]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _compiler(self, cpu: int) -> None:
        while True:
            with self.lock:
                if not self.to_compile:
                    return
                case = self.to_compile.pop(0)
                self.compiling += 1
            good = self._compile(case, cpu)
            with self.lock:
                self.compiling -= 1
                if good:
                    self.ready.append(case)
                else:
                    self.left -= 1

    def _next_race(self) -> Case | float | None:
        """Return what a pair races next, how long to wait for it, or None: nothing is left."""
        with self.lock:
            if self.left_s < LEAST_S + ENDING_S:
                return None
            if not self.ready:
                return 0.5 if self.compiling or self.to_compile else None
            slowest = max(self.ready, key=lambda case: case.model in SLOW)
            self.ready.remove(slowest)
            return slowest

    def _compile(self, case: Case, cpu: int) -> bool:
        began = time.monotonic()
        weightless = Path(__file__).parents[1] / "weightless.py"
        models = self.asked.work / "models"
        made = self._said(
            f"{case.model}: made", [cpu], 120,
            str(weightless), "make", str(self.asked.models), str(models), case.model,
        )  # fmt: skip
        if made is None:
            return False
        folder = compiled(case, TUNED, self.asked.work)
        done = self._said(
            f"{case.model}: compiled", [cpu], self.left_s - ENDING_S,
            "-m", "burnish", "compile", str(models / case.model / f"{case.model}.onnx"), "-o",
            str(folder), "--no-tune", "--threads", "2", "--samples", "1", "--json",
        )  # fmt: skip
        if done is None:
            return False
        report = {**json.loads(done), "benchmark_seconds": time.monotonic() - began}
        target = compiled(case, TUNED, self.asked.results).with_suffix(".json")
        target.write_text(json.dumps(report))
        return True

    def _race(self, case: Case, pair: list[int]) -> None:
        with self.lock:
            share_s = self.left_s * self.lanes / max(self.left, 1)
        share_s = max(20.0, share_s * (1.6 if case.model in SLOW else 0.95))
        budget_s = min(share_s, self.asked.budget, self.left_s - ENDING_S)
        self._said(
            f"{case.model}: raced for {budget_s:.0f} s", pair, self.left_s - 3,
            "-m", "burnish", "bench", str(compiled(case, TUNED, self.asked.work)),
            "--engine", ENGINES, "--baseline", "burnish", "--threads", "2", "--rounds", "8",
            "--budget", f"{budget_s:.0f}s", "--again",
            "-o", str(measured(case, self.asked.results)), "--json",
        )  # fmt: skip

    def _said(self, what: str, cpus: list[int], limit_s: float, *command: str) -> str | None:
        """Run Python on some processors; return what it printed, None where it failed."""
        began = time.monotonic()
        own = self.asked.work / f"cpu-{cpus[0]}"
        environment = {
            **os.environ, "BURNISH_CACHE": str(own), "BURNISH_LEDGER": f"{own}.sqlite",
        }  # fmt: skip
        try:
            done = subprocess.run(
                ["taskset", "-c", ",".join(map(str, cpus)), sys.executable, *command],
                env=environment, capture_output=True, text=True, timeout=max(limit_s, 1),
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            self._say(f"{what}: not within {limit_s:.0f} s")
            return None
        took = f"{time.monotonic() - began:.0f} s on {cpus}"
        if done.returncode:
            told = " ".join((done.stderr.strip() or done.stdout)[-600:].split())
            self._say(f"{what}: failed after {took}: {told}")
            return None
        self._say(f"{what} in {took}")
        return done.stdout

    def _say(self, text: str) -> None:
        with self.lock:
            print(f"{time.monotonic() - self.began:6.1f} s  {text}", flush=True)


def options() -> argparse.ArgumentParser:
    """Return what the command line may have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--cpus", default="", help="as taskset names them; default: all")
    parser.add_argument("--only", default="", help="models, separated by commas")
    parser.add_argument("--budget", type=float, default=110.0, help="seconds for a race, at most")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    return int(not Race(options().parse_args(arguments)).run())


if __name__ == "__main__":
    sys.exit(main())
