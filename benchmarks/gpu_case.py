"""One case of `gpu_kernels.py`, in a process of its own: prepared, then measured when told to.

    python benchmarks/gpu_case.py vit-s32:64 --out vit.json

Prints `ready` once all is compiled and waits for a line: measuring needs the card for itself,
preparing does not. The file is written after every stage, so that a fault costs what follows only.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_plan import (
    Case,
    Others,
    build,
    compile_all,
    emitted,
    exported,
    floor_s,
    learned,
    memory_of,
    names_of,
    others_of,
    parse_case,
    planned,
    repaired,
    steps_of,
    told_of,
)
from gpu_timing import baseline, captured, error_of, interval, memory_beside, races, timed

Tensor = Module = Plan = Graph = Kernel = Any
"""Of torch, and of what is imported only when it is needed."""
Prepared = tuple[Plan, Others, dict[str, Any]]
TIMES = 10
"""Launches of one kernel in a graph that times it."""


class Ours:
    """The launches of a plan over CUDA tensors."""

    def __init__(
        self, plan: Plan, inputs: dict[str, Tensor], folder: Path, compiled: dict[str, Any]
    ) -> None:
        from burnish.codegen.gpu.running import allocated

        self._folder, self._compiled = folder, compiled
        self.steps = [[self._fitted(launch) for launch in each] for each in plan.launches]
        self.tensors = allocated(plan, "cuda")
        for name, tensor in inputs.items():
            if name in self.tensors:
                self.tensors[name] = tensor.contiguous()
        self.outputs = plan.graph.outputs

    def _fitted(self, launch: Kernel) -> Kernel:
        stages = self._compiled.get(launch.name, {}).get("stages", launch.stages)
        return dataclasses.replace(launch, stages=stages)

    def _start(self, launches: Sequence[Any]) -> None:
        from burnish.codegen.gpu.running import start

        for launch in launches:
            start(launch, self.tensors, self._folder)

    def __call__(self) -> tuple[Tensor, ...]:
        """Start every launch; return the outputs."""
        for launches in self.steps:
            self._start(launches)
        return tuple(self.tensors[name] for name in self.outputs)

    def one_by_one(self) -> tuple[Tensor, ...]:
        """Start every launch once all before it have ended, so that a fault has a name."""
        import torch

        for number, launches in enumerate(self.steps):
            for launch in launches:
                try:
                    self._start([launch])
                    torch.cuda.synchronize()
                except Exception as error:
                    raise RuntimeError(f"step {number}, {launch.name}: {error}") from error
        return tuple(self.tensors[name] for name in self.outputs)

    def microseconds(self, launches: Sequence[Any]) -> float:
        """Return what launches take one after the other, many times in a graph."""

        def repeat() -> None:
            for _ in range(TIMES):
                self._start(launches)

        return timed(captured(repeat), 5) / TIMES * 1e3

    def kernel_times(self) -> dict[str, float]:
        """Return what each kernel takes by itself, in microseconds."""
        unique = {launch.name: launch for launches in self.steps for launch in launches}
        return {name: self.microseconds([launch]) for name, launch in unique.items()}

    def tuned(self, plan: Plan, others: Others) -> list[dict[str, Any]]:
        """Take the fastest blocks of each group; return what every candidate took."""
        told, best = [], {}
        for key, rest in others.items():
            own = next((each for each in self.steps if names_of(each) == key), None)
            if own is None:
                continue
            least = chosen = self.microseconds(own)
            for price, settings, launches in rest:
                if any("stages" not in self._compiled[each.name] for each in launches):
                    continue
                took = self.microseconds(self._placed(launches))
                told.append({
                    "of": key, "kernels": names_of(launches), "settings": dict(settings),
                    "predicted_us": price * 1e6, "us": took, "chosen_us": chosen,
                })  # fmt: skip
                if took < least:
                    least, best[key] = took, settings
        for number, choice in enumerate(plan.choices):
            found = best.get(names_of(self.steps[number]))
            if found is not None:
                launches = emitted(plan, choice.group, found)[1]
                self.steps[number] = self._placed(launches)
        return told

    def _placed(self, launches: Sequence[Any]) -> list[Any]:
        """Return launches as they were compiled, with memory for what they hand to each other."""
        from burnish.codegen.gpu.running import scratch_of

        fits = [self._fitted(each) for each in launches]
        for launch in fits:
            for name, tensor in scratch_of(launch, "cuda").items():
                known = self.tensors.get(name)
                if known is None or known.numel() < tensor.numel():
                    self.tensors[name] = tensor
        return fits


def study(case: Case, asked: argparse.Namespace, write: Callable[[dict[str, Any]], None]) -> None:
    """Prepare a case, wait, and measure it."""
    result: dict[str, Any] = {"case": case.label}
    begun = time.monotonic()
    built = build(case, small=asked.small)
    model = exported(built)
    result["export_s"] = time.monotonic() - begun
    told = told_of(asked.known, case)
    plans = {name: prepared(model, name, asked, result, told) for name in asked.fusions.split(",")}
    write(result)
    if asked.dry:
        return
    bench = Bench(built, case, asked, result)
    for name, (plan, others, compiled) in plans.items():
        bench.add(name, plan, others, compiled)
    write(result)
    bench.baselines(asked.modes.split(","))
    write(result)
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in bench.measured():
        write(result)


def prepared(
    model: Graph,
    fusion: str,
    asked: argparse.Namespace,
    result: dict[str, Any],
    known: Mapping[str, Any],
) -> Prepared:
    """Return a plan, other blocks for its groups, and what became of all their kernels."""
    from burnish.codegen.gpu.bounds import plan_breaches

    begun = time.monotonic()
    plan = planned(model, fusion, known if fusion == "full" else {})
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
        with torch.no_grad():
            half = tuple(self.module(*self.given))
            wide = tuple(t.float() if t.is_floating_point() else t for t in self.given)
            self.exact = tuple(self.module.float()(*wide))
            self.module.half()
        result["eager_error"] = error_of(half, self.exact)
        self.graphs: dict[str, Graph] = {}
        self.theirs: dict[str, Callable[[], object]] = {}
        self.plans: dict[str, tuple[Plan, Others, Ours]] = {}

    def add(self, name: str, plan: Plan, others: Others, compiled: dict[str, Any]) -> None:
        """Run a plan once, compare it with f32, and keep a graph of it."""
        ours = Ours(plan, self.inputs, self.folder, compiled)
        self.result[name]["error"] = error_of(ours.one_by_one(), self.exact)
        self.result[name]["memory_bytes"] = memory_of(plan)
        self.graphs[name] = captured(ours)
        self.plans[name] = plan, others, ours

    def baselines(self, modes: Sequence[str]) -> None:
        """Compile PyTorch in each mode; one that fails is told and left out."""
        images = any(each.dim() == 4 for each in self.given)
        self.result["baseline_s"] = {}
        for mode in modes:
            if "+" in mode and not images:
                continue
            begun = time.monotonic()
            try:
                self.theirs[mode] = baseline(self.module, self.given, mode)
            except Exception as error:
                self.result.setdefault("failing", {})[mode] = str(error)[-300:]
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
            self.result["tuned_error"] = error_of(ours.one_by_one(), self.exact)
            self.graphs["tuned"] = captured(ours)
            self._race()
            yield

    def _capture_theirs(self) -> None:
        """Keep graphs of PyTorch: cuDNN chooses by time, so only now that the card is quiet."""
        import torch

        torch.backends.cudnn.benchmark = True
        weights = sum(e.nbytes for e in (*self.module.parameters(), *self.module.buffers()))
        self.result["baseline_bytes"] = {}
        for mode, run in self.theirs.items():
            self.result["baseline_bytes"][mode] = memory_beside(run) + weights
            self.graphs[mode] = captured(run)

    def _race(self) -> None:
        rounds = races(self.graphs)
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
