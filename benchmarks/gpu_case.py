"""One case of `gpu_kernels.py`, in a process of its own: prepared, then measured when told to.

    python benchmarks/gpu_case.py vit-s32:64 --out vit.json

Prints `ready` once all is compiled and waits for a line: measuring needs the card for itself,
preparing does not. The file is written after every stage, so that a fault costs what follows only.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from gpu_elsewhere import AUTOTUNED, ELSEWHERE, FARTHEST, FLASH, ORT, TENSORS, Elsewhere, Timer
from gpu_ours import Ours
from gpu_plan import (
    Case,
    Others,
    build,
    compile_all,
    exported,
    floor_s,
    learned,
    memory_of,
    others_of,
    parse_case,
    planned,
    repaired,
    started,
    steps_of,
    told_of,
)
from gpu_timing import baseline, captured, emptied, error_of, interval, memory_beside, races, timed

Tensor = Module = Plan = Graph = Kernel = Any
"""Of torch, and of what is imported only when it is needed."""
Prepared = tuple[Plan, Others, dict[str, Any]]
ABLATION = ("element-wise", "none")
"""Plans that are made beside those asked for where what fusion brings is to be seen."""
PATIENT = 3
"""How far a case stands back behind what PyTorch tunes for minutes."""
CHECKED = 3
"""Replays whose results are compared: kernels that do not wait long enough are wrong at times."""


def study(case: Case, asked: argparse.Namespace, write: Callable[[dict[str, Any]], None]) -> None:
    """Prepare a case, wait, and measure it."""
    result: dict[str, Any] = {"case": case.label}
    modes = modes_of(asked)
    with ExitStack() as ending:
        early: list[Elsewhere] = []
        if not asked.dry:
            early = [
                prepared_elsewhere(mode, case, asked)
                for mode in modes
                if mode in (AUTOTUNED, FLASH)
            ]
            for other in early:
                ending.callback(other.stop)
            # what is tuned for minutes goes first, wherever processors are short
            os.nice(PATIENT)
        studied(case, asked, result, early, write)


def modes_of(asked: argparse.Namespace) -> list[str]:
    """Return the baselines of a case."""
    modes: list[str] = asked.modes.split(",")
    modes += [AUTOTUNED] if asked.case in asked.autotune.split(",") else []
    return modes + ([FLASH] if asked.case in asked.flash.split(",") else [])


def prepared_elsewhere(mode: str, case: Case, asked: argparse.Namespace) -> Elsewhere:
    """Return a baseline of PyTorch's that another process prepares: it needs no export."""
    folder = Path(asked.folder) / case.label
    folder.mkdir(parents=True, exist_ok=True)
    return Elsewhere(asked.case, [mode], folder, asked.ort_site, small=asked.small)


def studied(
    case: Case,
    asked: argparse.Namespace,
    result: dict[str, Any],
    early: Sequence[Elsewhere],
    write: Callable[[dict[str, Any]], None],
) -> None:
    """Do what `study` does, beside baselines that are prepared already."""
    begun = time.monotonic()
    built = build(case, small=asked.small)
    model = exported(built)
    result["export_s"] = time.monotonic() - begun
    told = told_of(asked.known, case)

    @cache
    def plan_of(fusion: str) -> Plan:
        return planned(model, fusion, told if fusion == "full" else {})

    fusions = asked.fusions.split(",")
    fusions += ABLATION if asked.case in asked.ablate.split(",") else ()
    fusions += ("full+late",) if asked.case in asked.late.split(",") else ()
    if asked.dry:
        for name in fusions:
            prepared(plan_of, name, asked, result, told)
        write(result)
        return
    bench = Bench(built, case, asked, result)
    modes = modes_of(asked)
    bench.others += early
    with bench.elsewhere([mode for mode in modes if mode in ORT], model):
        for name in fusions:
            bench.add(name, *prepared(plan_of, name, asked, result, told))
            write(result)
        bench.baselines([mode for mode in modes if mode not in ELSEWHERE])
        write(result)
        wait_and_measure(bench, lambda: write(result))


def wait_and_measure(bench: Bench, write: Callable[[], None]) -> None:
    """Say that all is ready, and measure when told to."""
    bench.wait_for_others()
    write()
    emptied()
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in bench.measured():
        write()


def prepared(
    plan_of: Callable[[str], Plan],
    fusion: str,
    asked: argparse.Namespace,
    result: dict[str, Any],
    known: Mapping[str, Any],
) -> Prepared:
    """Return a plan, other blocks for its groups, and what became of all their kernels."""
    from burnish.codegen.gpu.bounds import plan_breaches

    begun = time.monotonic()
    how, _, waiting = fusion.partition("+")
    plan = started(plan_of(how), waiting) if waiting else plan_of(how)
    told = result[fusion] = {"plan_s": time.monotonic() - begun}
    told["kernels"] = sum(map(len, plan.launches))
    told["predicted_us"] = sum(each.predicted_s or 0 for each in plan.choices) * 1e6
    told["moved_bytes"] = sum(each.predicted_bytes or 0 for each in plan.choices)
    told["steps"] = steps_of(plan)
    if found := plan_breaches(plan):
        raise RuntimeError("\n".join(map(str, found)))
    others: Others = others_of(plan, asked.tune, known) if fusion == "full" and asked.tune else {}
    rest = [launch for each in others.values() for _, _, launches in each for launch in launches]
    begun = time.monotonic()
    own = [launch for each in plan.launches for launch in each]
    folder = Path(asked.folder) / result["case"]
    folder.mkdir(parents=True, exist_ok=True)
    compiled = compile_all([*own, *rest], folder, asked.processes)
    plan = repaired(plan, compiled, folder)
    told["compile_s"] = time.monotonic() - begun
    told["floor_us"] = floor_s(plan) * 1e6
    told["compiled"] = list(compiled.values())
    return plan, others, compiled


class Bench:
    """Plans and PyTorch over one set of inputs, ready to be timed in turns."""

    def __init__(
        self, built: Module, case: Case, asked: argparse.Namespace, result: dict[str, Any]
    ) -> None:
        import torch

        torch.backends.cudnn.allow_tf32 = False
        self.inputs = {name: tensor.cuda() for name, tensor in built.inputs.items()}
        self.given = tuple(self.inputs.values())
        self.module = built.module.cuda()
        self.result, self.asked = result, asked
        self.folder = Path(asked.folder) / case.label
        self.folder.mkdir(parents=True, exist_ok=True)
        with torch.no_grad():
            self.half = tuple(self.module(*self.given))
            wide = tuple(t.float() if t.is_floating_point() else t for t in self.given)
            self.exact = tuple(copy.deepcopy(self.module).float()(*wide))
        emptied()
        result["eager_error"] = error_of(self.half, self.exact)
        result["baseline_s"], result["baseline_bytes"], result["failing"] = {}, {}, {}
        self.timers: dict[str, Timer] = {}
        self.others: list[Elsewhere] = []
        self.theirs: dict[str, Callable[[], object]] = {}
        self.plans: dict[str, tuple[Plan, Others, Ours]] = {}

    def add(self, name: str, plan: Plan, others: Others, compiled: dict[str, Any]) -> None:
        """Run a plan once, compare it with f32, and keep a graph of it."""
        ours = Ours(plan, self.inputs, self.folder, compiled)
        error = error_of(ours.one_by_one(), self.exact)
        self.result[name]["memory_bytes"] = memory_of(plan)
        self.timers[name] = self._replayed(name, ours, error)
        self.plans[name] = plan, others, ours

    def _replayed(self, name: str, ours: Ours, error: float) -> Timer:
        """Return what replays a graph; each replay must give what kernels one by one gave."""
        graph = captured(ours)
        for _ in range(CHECKED):
            ours.forget()
            graph.replay()
            error = max(error, error_of(ours.found(), self.exact))
        self.result[name]["error"] = error
        return partial(timed, graph)

    @contextmanager
    def elsewhere(self, modes: Sequence[str], model: Graph) -> Iterator[None]:
        """Let another process prepare ONNX Runtime meanwhile; it ends with this."""
        own: list[Elsewhere] = []
        if modes:
            try:
                self._write_for_onnxruntime(model)
                place, small = self.asked.ort_site, self.asked.small
                own = [Elsewhere(self.asked.case, modes, self.folder, place, small=small)]
            except Exception as error:
                self.result["failing"] |= dict.fromkeys(modes, str(error)[-300:])
        self.others += own
        try:
            yield
        finally:
            for other in own:
                other.stop()

    def _write_for_onnxruntime(self, model: Graph) -> None:
        """Write a model as it was exported and as burnish rewrites it, inputs and results."""
        import onnx_ir as ir
        import torch

        from burnish.rewrite.options import OptimizeOptions
        from burnish.rewrite.pipeline import optimize
        from burnish.rewrite.static import static

        rewritten = optimize(static(model.clone(), {}), OptimizeOptions(target="cuda")).model
        for mode, found in (("ort", model), ("ort-rewritten", rewritten)):
            ir.save(found, self.folder / ORT[mode])
        inputs = {name: tensor.cpu() for name, tensor in self.inputs.items()}
        outputs, exact = (tuple(t.cpu() for t in each) for each in (self.half, self.exact))
        known = {"inputs": inputs, "outputs": outputs, "exact": exact}
        torch.save(known, self.folder / TENSORS)

    def wait_for_others(self) -> None:
        """Take the baselines of other processes in; one that fails or computes wrong is told."""
        for other in self.others:
            for mode, said in other.ready(self.asked.until or time.time() + 600).items():
                error = said.get("error", 0.0)
                self.result.setdefault("baseline_error", {})[mode] = error
                if "failed" in said or not error < FARTHEST:
                    why = said.get("failed", f"its results are {error:.1e} off")
                    self.result["failing"][mode] = why
                    continue
                self.timers[mode] = partial(other.timed, mode)
                self.result["baseline_s"][mode] = said["seconds"]
                self.result["baseline_bytes"][mode] = said.get("memory_bytes")

    def baselines(self, modes: Sequence[str]) -> None:
        """Compile PyTorch in each mode; one that fails is told and left out."""
        images = any(each.dim() == 4 for each in self.given)
        for mode in modes:
            if mode.endswith("+channels-last") and not images:
                continue
            begun = time.monotonic()
            try:
                self.theirs[mode] = baseline(self.module, self.given, mode)
            except Exception as error:
                self.result["failing"][mode] = str(error)[-300:]
                continue
            self.result["baseline_s"][mode] = time.monotonic() - begun

    def measured(self) -> Iterator[None]:
        """Measure, stage by stage: what was predicted, its kernels, other blocks for them."""
        self._capture_theirs()
        self._race()
        yield
        if "full" not in self.plans:
            return
        plan, others, ours = self.plans["full"]
        self.result["kernel_us"] = ours.kernel_times()
        self.result["known"] = learned(plan, self.result["kernel_us"], ())
        yield
        if others:
            self.result["tried"] = ours.tuned(plan, others)
            self.result["known"] = learned(plan, self.result["kernel_us"], self.result["tried"])
            self.result["tuned"] = {}
            error = error_of(ours.one_by_one(), self.exact)
            self.timers["tuned"] = self._replayed("tuned", ours, error)
            self._race()
            yield

    def _capture_theirs(self) -> None:
        """Keep graphs of PyTorch: cuDNN chooses by time, so only now that the card is quiet."""
        import torch

        torch.backends.cudnn.benchmark = True
        weights = sum(e.nbytes for e in (*self.module.parameters(), *self.module.buffers()))
        # eager last: it is the one that may not be captured, and leaves its stream behind then
        for mode, run in reversed(self.theirs.items()):
            try:
                memory = memory_beside(run) + weights
                self.timers[mode] = partial(timed, captured(run))
            except Exception as error:
                # what a module makes on the host while it runs cannot be captured, for example
                torch.cuda.set_stream(torch.cuda.default_stream())
                self.result["failing"][mode] = str(error)[-300:]
                del self.result["baseline_s"][mode]
                continue
            self.result["baseline_bytes"][mode] = memory

    def _race(self) -> None:
        rounds = races(self.timers)
        for name in [name for name, each in rounds.items() if math.inf in each]:
            self.result["failing"][name] = "it did not answer while it was timed"
            self.result["baseline_s"].pop(name, None)
            del rounds[name], self.timers[name]
        self.result["rounds_ms"] = rounds
        middle = {name: statistics.median(each) for name, each in rounds.items()}
        theirs = {name: ms for name, ms in middle.items() if name in self.result["baseline_s"]}
        ours = {name: ms for name, ms in middle.items() if name not in theirs}
        self.result["ms"] = middle
        if theirs and ours:
            best, mine = min(theirs, key=theirs.__getitem__), min(ours, key=ours.__getitem__)
            self.result["best"], self.result["ours"] = best, mine
            self.result["speedup"] = interval(rounds[best], rounds[mine])


def main() -> None:
    """Study the case; what fails is written too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case")
    parser.add_argument("--out", required=True)
    parser.add_argument("--modes", default="eager,default")
    parser.add_argument("--fusions", default="full", help="full, element-wise, none")
    parser.add_argument("--tune", type=int, default=0, help="other blocks to time for a group")
    parser.add_argument("--known", default="", help="what is known of groups, as JSON")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--dry", action="store_true", help="run nothing: no card is needed")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--ablate", default="", help="cases that are run less fused, too")
    parser.add_argument("--late", default="", help="cases whose kernels also wait for each other")
    parser.add_argument("--autotune", default="", help="cases that PyTorch tunes for minutes, too")
    parser.add_argument("--flash", default="", help="cases whose attention is PyTorch's own, too")
    parser.add_argument("--ort-site", default="/tmp/ort_site", help="where onnxruntime-gpu is")
    parser.add_argument("--until", type=float, default=0.0, help="when others must be ready")
    parser.add_argument("--folder", default="/tmp/burnish_gpu_kernels")
    asked = parser.parse_args()
    case = parse_case(asked.case)
    kept: dict[str, Any] = {"case": case.label}

    def write(result: dict[str, Any]) -> None:
        kept.update(result)
        Path(asked.out).write_text(json.dumps(kept, default=str))

    try:
        study(case, asked, write)
    except Exception as error:
        write({"failed": f"{type(error).__name__}: {error}"[-800:]})
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    main()
