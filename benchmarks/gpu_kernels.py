"""Emitted Triton kernels for zoo models on a GPU, against PyTorch in CUDA graphs, interleaved.

    python benchmarks/gpu_kernels.py --cases nerf-mlp,vit-s32:1,vit-s32:64 [--out FOLDER]

Needs an NVIDIA GPU, torch and triton. Each case is exported, lowered, grouped and emitted; kernels
are compiled in parallel processes, run in sequence over torch tensors, compared with fp32 eager
(beside eager fp16's own error), captured in a CUDA graph and timed in turns with the baselines.
One JSON per case: errors, medians, what every kernel was predicted to take and took. `--dry` stops
before anything is run, and needs no GPU.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Tensor = Module = Plan = Graph = Any
"""Of torch, and of what is imported only when it is needed."""
SEQUENCES = {"nerf-mlp": 2_073_600, "bert-base": 128, "conformer": 512}
"""Points, tokens and frames of the published sizes."""
ROUNDS, CALLS = 12, 6
DEVICE = "nvidia-h200"


@dataclass(frozen=True)
class Case:
    """A model and a batch."""

    name: str
    batch: int

    @property
    def label(self) -> str:
        """Return how the case is called in files."""
        return f"{self.name}_b{self.batch}"


def parse_case(text: str) -> Case:
    """Return the case that `model:batch` names."""
    name, _, batch = text.partition(":")
    return Case(name, int(batch or 1))


def build(case: Case, *, small: bool) -> Module:
    """Return the zoo's model in fp16."""
    from burnish.zoo.entry import MODELS, NetworkOptions

    options = NetworkOptions(
        batch=case.batch, sequence=None if small else SEQUENCES.get(case.name),
        precision="fp16", small=small, attention="eager" if case.name == "swin-t" else "sdpa",
    )  # fmt: skip
    return MODELS[case.name].build(options)


def exported(built: Module) -> Graph:
    """Return the model as an ONNX graph with fixed sizes."""
    import torch

    from burnish.zoo.exporting.graph import tidied

    program = torch.onnx.export(
        built.module, tuple(built.inputs.values()), dynamo=True, opset_version=20, verbose=False,
        input_names=list(built.inputs), output_names=list(built.output_names),
    )  # fmt: skip
    return tidied(program.model)


def planned(model: Graph, fusion: str) -> Plan:
    """Return the launches of a model."""
    from burnish.codegen.gpu.choose import GpuPredicted
    from burnish.codegen.gpu.kernel import GpuTarget
    from burnish.codegen.gpu.layout import orders_of
    from burnish.codegen.gpu.sequence import sequenced, simplified
    from burnish.hw.spec import load

    graph = simplified(model)
    target = GpuTarget(orders=orders_of(graph), approximate=True)
    return sequenced(graph, GpuPredicted(load(DEVICE), target, fusion), target)


def compile_one(job: tuple[Any, str]) -> dict[str, Any]:
    """Compile one kernel into Triton's cache; runs in a process of its own."""
    from burnish.codegen.gpu.ahead import fitted

    launch, folder = job
    begun = time.monotonic()
    try:
        fits, made = fitted(launch, 90, Path(folder))
    except Exception as error:  # every failure is told
        return {"name": launch.name, "error": str(error)[-500:]}
    return {
        "name": launch.name, "registers": made.registers, "stack": made.stack_bytes,
        "shared": made.shared_bytes, "stages": fits.stages, "seconds": time.monotonic() - begun,
    }  # fmt: skip


def compile_all(plan: Plan, folder: Path, processes: int) -> list[dict[str, Any]]:
    """Compile every kernel once."""
    unique = {launch.name: launch for each in plan.launches for launch in each}
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(compile_one, [(each, str(folder)) for each in unique.values()]))


class Ours:
    """The launches of a plan over CUDA tensors."""

    def __init__(
        self, plan: Plan, inputs: dict[str, Tensor], folder: Path, stages: dict[str, int]
    ) -> None:

        from burnish.codegen.gpu.running import allocated

        self._folder = folder
        self.launches = [
            dataclasses.replace(launch, stages=stages.get(launch.name, launch.stages))
            for each in plan.launches
            for launch in each
        ]
        self.tensors = allocated(plan, "cuda")
        for name, tensor in inputs.items():
            if name in self.tensors:
                self.tensors[name] = tensor.contiguous()
        self.outputs = plan.graph.outputs

    def __call__(self) -> tuple[Tensor, ...]:
        """Start every launch; return the outputs."""
        from burnish.codegen.gpu.running import start

        for launch in self.launches:
            start(launch, self.tensors, self._folder)
        return tuple(self.tensors[name] for name in self.outputs)

    def one_by_one(self) -> tuple[Tensor, ...]:
        """Start every launch once all before it have ended, so that a fault has a name."""
        import torch

        from burnish.codegen.gpu.running import start

        for number, launch in enumerate(self.launches):
            try:
                start(launch, self.tensors, self._folder)
                torch.cuda.synchronize()
            except Exception as error:
                raise RuntimeError(f"launch {number}, {launch.name}: {error}") from error
        return tuple(self.tensors[name] for name in self.outputs)

    def kernel_times(self) -> dict[str, float]:
        """Return what each kernel takes, ten of its launches in a graph, in microseconds."""
        from burnish.codegen.gpu.running import start

        found: dict[str, float] = {}
        for launch in self.launches:
            if launch.name not in found:
                graph = captured(
                    lambda one=launch: [start(one, self.tensors, self._folder) for _ in range(10)]
                )
                found[launch.name] = timed(graph, 5) / 10 * 1e3
        return found


def captured(run: Callable[[], object]) -> Graph:
    """Return a CUDA graph of what a function starts."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), torch.no_grad():
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        graph.outputs = run()
    return graph


def timed(graph: Graph, calls: int) -> float:
    """Return the median milliseconds of single replays."""
    import torch

    samples = []
    for _ in range(calls):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        samples.append(begin.elapsed_time(end))
    return statistics.median(samples)


def error_of(found: Sequence[Tensor], wanted: Sequence[Tensor]) -> float:
    """Return the largest relative error of any output, by norm."""
    pairs = [(f.float(), w.float()) for f, w in zip(found, wanted, strict=True)]
    return max(float((f - w).norm() / w.norm().clamp_min(1e-12)) for f, w in pairs)


def baselines(module: Module, inputs: tuple[Tensor, ...], modes: list[str]) -> dict[str, Any]:
    """Return a CUDA graph of PyTorch for each mode of compiling, and eager."""
    import torch

    graphs = {}
    for mode in modes:
        try:
            run = module
            if mode != "eager":
                torch._dynamo.reset()
                chosen = None if mode == "default" else mode
                run = torch.compile(module, mode=chosen)
            graphs[mode] = captured(lambda run=run: run(*inputs))
        except Exception as error:  # a baseline that fails is told and left out
            print(f"  {mode} fails: {str(error)[-300:]}", flush=True)
    return graphs


def races(graphs: dict[str, Any]) -> dict[str, float]:
    """Return the median milliseconds of each, in turns."""
    rounds: dict[str, list[float]] = {name: [] for name in graphs}
    for _ in range(ROUNDS):
        for name, graph in graphs.items():
            rounds[name].append(timed(graph, CALLS))
    return {name: statistics.median(found) for name, found in rounds.items()}


def study(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return everything about one case."""
    from burnish.codegen.gpu.bounds import plan_breaches

    result: dict[str, Any] = {"case": case.label}
    begun = time.monotonic()
    built = build(case, small=arguments.small)
    plan = planned(exported(built), arguments.fusion)
    result["plan_s"] = time.monotonic() - begun
    result["kernels"] = sum(map(len, plan.launches))
    result["predicted_us"] = sum(each.predicted_s or 0 for each in plan.choices) * 1e6
    folder = Path(arguments.folder) / case.label
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    result["compiled"] = compile_all(plan, folder, arguments.processes)
    result["compile_s"] = time.monotonic() - begun
    result["steps"] = steps_of(plan)
    print({k: v for k, v in result.items() if k not in ("compiled", "steps")}, flush=True)
    if found := plan_breaches(plan):
        raise RuntimeError("\n".join(map(str, found)))
    if not arguments.dry:
        run_on_device(result, built, plan, folder, arguments)
    return result


def steps_of(plan: Plan) -> list[dict[str, Any]]:
    """Return what each step is, for the record."""
    return [
        {
            "kernels": [launch.name for launch in launches],
            "grid": [launch.grid[0] for launch in launches],
            "nests": [op.output for op in choice.group.ops],
            "settings": dict(choice.schedule.settings),
            "predicted_us": (choice.predicted_s or 0) * 1e6,
        }
        for choice, launches in zip(plan.choices, plan.launches, strict=True)
    ]  # fmt: skip


def run_on_device(
    result: dict[str, Any], built: Module, plan: Plan, folder: Path, arguments: argparse.Namespace
) -> None:
    """Run, compare and time a case; what is found goes into `result`."""
    import torch

    inputs = {name: tensor.cuda() for name, tensor in built.inputs.items()}
    given = tuple(inputs.values())
    module = built.module.cuda()
    with torch.no_grad():
        half = tuple(module(*given))
        wide = tuple(t.float() if t.is_floating_point() else t for t in given)
        exact = tuple(module.float()(*wide))
        module.half()
    stages = {each["name"]: each["stages"] for each in result["compiled"] if "stages" in each}
    ours = Ours(plan, inputs, folder, stages)
    found = ours.one_by_one()
    result["error"], result["eager_error"] = error_of(found, exact), error_of(half, exact)
    print("  error", result["error"], "eager", result["eager_error"], flush=True)
    if not arguments.no_kernel_times:
        result["kernel_us"] = ours.kernel_times()
    graphs = {"ours": captured(ours), **baselines(module, given, arguments.modes.split(","))}
    result["ms"] = races(graphs)
    best = min((ms for name, ms in result["ms"].items() if name != "ours"), default=0.0)
    result["speedup"] = best / result["ms"]["ours"]
    print("  ms", result["ms"], "speedup", round(result["speedup"], 3), flush=True)


def main() -> None:
    """Study the cases one after the other; a case that fails is told and the next one begins."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="nerf-mlp,vit-s32:1,vit-s32:64,bert-base:1,bert-base:64")
    parser.add_argument("--modes", default="eager,default")
    parser.add_argument("--fusion", default="full")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("--no-kernel-times", action="store_true")
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--folder", default="/tmp/burnish_gpu_kernels")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    arguments = parser.parse_args()
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    results = []
    for text in arguments.cases.split(","):
        print(text, flush=True)
        try:
            results.append(study(parse_case(text), arguments))
        except Exception as error:  # told, and the next case begins
            traceback.print_exc()
            results.append({"case": text, "failed": f"{type(error).__name__}: {error}"[-800:]})
        (out / "gpu_kernels.json").write_text(json.dumps(results, indent=1, default=str))


if __name__ == "__main__":
    main()
