"""Zoo models as launches of Triton kernels, exported, planned and compiled without a card."""

from __future__ import annotations

import gzip
import json
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

Module = Plan = Graph = Group = Any
"""Of torch, and of what is imported only when it is needed."""
Others = dict[tuple[str, ...], list[tuple[float, Mapping[str, int], Any]]]
"""Other blocks for groups by their kernels: predicted seconds, settings and launches."""
SEQUENCES = {"nerf-mlp": 2_073_600, "bert-base": 128, "conformer": 512}
"""Points, tokens and frames of the published sizes."""
DEVICE = "nvidia-h200"
SHARE = 0.02
"""Of a plan's time that a group must take for other blocks of it to be timed."""
REACHED_FLOPS, REACHED_BYTES = 790e12, 4.3e12
"""What an H200 was seen to do in a second: products of fp16, and bytes copied."""
WORSE = 2.5
"""Times the best prediction that other blocks may be predicted to take."""


@dataclass(frozen=True)
class Case:
    """A model and a batch."""

    name: str
    batch: int
    sequence: int = 0
    """Zero: as it is published."""

    @property
    def label(self) -> str:
        """Return how the case is called in files."""
        return f"{self.name}_b{self.batch}{f's{self.sequence}' if self.sequence else ''}"


def parse_case(text: str) -> Case:
    """Return the case that `model:batch` names, or `model:batch@sequence`."""
    whole, _, sequence = text.partition("@")
    name, _, batch = whole.partition(":")
    return Case(name, int(batch or 1), int(sequence or 0))


def build(case: Case, *, small: bool) -> Module:
    """Return a model in fp16, the zoo's or one that nothing was made on."""
    from gpu_unseen import built, is_unseen

    from burnish.zoo.entry import MODELS, NetworkOptions

    if is_unseen(case.name):
        return built(case.name, case.batch)
    options = NetworkOptions(
        batch=case.batch,
        sequence=None if small else case.sequence or SEQUENCES.get(case.name),
        precision="fp16", small=small, attention="eager" if case.name == "swin-t" else "sdpa",
    )  # fmt: skip
    return MODELS[case.name].build(options)


def exported(built: Module) -> Graph:
    """Return the model as an ONNX graph with fixed sizes.

    What PyTorch's newer exporter has no form for, its older one may have; which one is told.
    """
    import torch

    from burnish.zoo.exporting import torchscript
    from burnish.zoo.exporting.graph import tidied

    try:
        program = torch.onnx.export(
            built.module, tuple(built.inputs.values()), dynamo=True, opset_version=20,
            verbose=False, input_names=list(built.inputs), output_names=list(built.output_names),
        )  # fmt: skip
    except Exception:
        traceback.print_exc()
        print("exported by TorchScript instead", file=sys.stderr)
        return torchscript.export(built, opset=17, shapes=()).model
    return tidied(program.model)


def planned(model: Graph, fusion: str, told: Mapping[str, Any]) -> Plan:
    """Return the launches of a model; `fusion` says how far nests share kernels.

    What is `told` of groups is not searched again: blocks that a card found best, for example.
    """
    from burnish.codegen.gpu.choose import GpuPredicted
    from burnish.codegen.gpu.layout import orders_of
    from burnish.codegen.gpu.remembered import recalled
    from burnish.codegen.gpu.sequence import sequenced, simplified
    from burnish.hw.spec import load

    graph = simplified(model, "none" if fusion == "none" else "element-wise")
    target = target_of(orders_of(graph))
    search = GpuPredicted(load(DEVICE), target, fusion, known=recalled(told))
    return sequenced(graph, search, target)


STARTS = {"late": {"early": False}, "bare": {"fetches": False}}
"""How kernels may be started beside: each when the one before it has ended; without asking for
anything ahead."""


def started(plan: Plan, how: str) -> Plan:
    """Return a plan whose kernels are started in another way, of `STARTS`."""
    from burnish.codegen.gpu.kernel import emit

    target = replace(target_of(plan.orders), **STARTS[how])
    launches = tuple(emit(c.group, c.schedule, plan.graph, target) for c in plan.choices)
    return replace(plan, launches=launches)


def target_of(orders: Any) -> Any:  # noqa: ANN401  (imported only when it is needed)
    """Return what kernels are written for."""
    from burnish.codegen.gpu.kernel import GpuTarget

    return GpuTarget(orders=orders, own_functions=True, rounds_late=True, early=True)


def told_of(file: str, case: Case) -> dict[str, Any]:
    """Return what a file tells of a case's groups; without a file, nothing.

    It has them by case, or is what `gpu_kernels.py` wrote.
    """
    if not file:
        return {}
    text = Path(file).read_bytes()
    found: Any = json.loads(gzip.decompress(text) if file.endswith(".gz") else text)
    if isinstance(found, list):
        found = {each["case"]: each.get("known", {}) for each in found}
    told: dict[str, Any] = found.get(case.label, {})
    return told


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


def compile_all(launches: Sequence[Any], folder: Path, processes: int) -> dict[str, Any]:
    """Compile every kernel once; return what came of each, by name."""
    unique = {launch.name: launch for launch in launches}
    with ProcessPoolExecutor(processes) as pool:
        made = pool.map(compile_one, [(each, str(folder)) for each in unique.values()])
        return {each["name"]: each for each in made}


def others_of(plan: Plan, most: int, told: Mapping[str, Any]) -> Others:
    """Return other blocks of the groups that take long, by the kernels that they would replace.

    Groups of which something is `told` were timed before.
    """
    from burnish.tile.signature import signature

    seconds = weights_of(plan)
    total = sum(seconds.values())
    found: Others = {}
    for choice, launches in zip(plan.choices, plan.launches, strict=True):
        key = names_of(launches)
        if key in found or seconds[key] < SHARE * total:
            continue
        if signature(choice.group, plan.graph) in told:
            continue
        limit = WORSE * (choice.predicted_s or 0.0)
        rest = [each for each in ranked(plan, choice.group) if names_of(each[2]) != key]
        found[key] = [each for each in rest if each[0] < limit][:most]
    return found


def ranked(plan: Plan, group: Group) -> list[tuple[float, Mapping[str, int], Any]]:
    """Return all blocks of a group that have a kernel, the cheapest first."""
    from burnish.codegen.gpu.choose import candidates
    from burnish.tile.connect import NoGroupError

    found = []
    for settings in candidates(group, target_of(plan.orders)):
        try:
            seconds, launches = emitted(plan, group, settings)
        except NoGroupError:
            continue
        found.append((seconds, settings, launches))
    return sorted(found, key=lambda each: each[0])


def emitted(plan: Plan, group: Group, settings: Mapping[str, int]) -> tuple[float, Any]:
    """Return what a group is predicted to take with some blocks, and its launches."""
    from burnish.codegen.gpu.choose import priced
    from burnish.codegen.gpu.kernel import emit
    from burnish.hw.spec import load
    from burnish.tile.schedule import Schedule

    target = target_of(plan.orders)
    schedule = Schedule(group.anchor.shape, settings=settings)
    found = priced(group, schedule, plan.graph, load(DEVICE), target)
    return found.seconds, emit(group, schedule, plan.graph, target)


def names_of(launches: Sequence[Any]) -> tuple[str, ...]:
    """Return the kernels of a group."""
    return tuple(launch.name for launch in launches)


def weights_of(plan: Plan) -> dict[tuple[str, ...], float]:
    """Return the predicted seconds of all groups with the same kernels."""
    found: dict[tuple[str, ...], float] = {}
    for choice, launches in zip(plan.choices, plan.launches, strict=True):
        key = names_of(launches)
        found[key] = found.get(key, 0.0) + (choice.predicted_s or 0.0)
    return found


def steps_of(plan: Plan) -> list[dict[str, Any]]:
    """Return what each step is, for the record."""
    return [
        {
            "kernels": names_of(launches),
            "grid": [launch.grid[0] for launch in launches],
            "nests": [op.output for op in choice.group.ops],
            "settings": dict(choice.schedule.settings),
            "predicted_us": (choice.predicted_s or 0) * 1e6,
        }
        for choice, launches in zip(plan.choices, plan.launches, strict=True)
    ]  # fmt: skip


def floor_s(plan: Plan) -> float:
    """Return what no plan can be faster than: products at the card's rate, every byte once."""
    import math

    from burnish.core.tensors import BITS
    from burnish.tile.vectors import is_sum_of_products

    graph = plan.graph
    flops = sum(
        2.0 * math.prod(op.shape) * math.prod(axis.extent for axis in op.reduced)
        for op in graph.ops
        if is_sum_of_products(op)
    )
    seen = {*graph.inputs, *graph.outputs, *graph.constants}
    moved = sum(graph.tensors[name].size * BITS[graph.tensors[name].dtype] / 8 for name in seen)
    return max(flops / REACHED_FLOPS, moved / REACHED_BYTES)


def repaired(plan: Plan, compiled: dict[str, Any], folder: Path) -> Plan:
    """Return the plan with other blocks for groups whose kernels do not compile, or spill much."""
    from burnish.codegen.gpu.code import MOST_SPILLED_WORDS

    def fits(launches: Sequence[Any]) -> bool:
        for launch in launches:
            if launch.name not in compiled:
                compiled[launch.name] = compile_one((launch, str(folder)))
            told = compiled[launch.name]
            if "error" in told or told["stack"] > 4 * MOST_SPILLED_WORDS:
                return False
        return True

    found, choices = list(plan.launches), list(plan.choices)
    for number, choice in enumerate(plan.choices):
        if fits(found[number]):
            continue
        for seconds, settings, launches in ranked(plan, choice.group):
            if fits(launches):
                found[number] = launches
                schedule = replace(choice.schedule, settings=settings)
                choices[number] = replace(choice, schedule=schedule, predicted_s=seconds)
                break
    return replace(plan, choices=tuple(choices), launches=tuple(found))


def learned(
    plan: Plan, kernel_us: Mapping[str, float], tried: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the fastest blocks of each group as a card told, for the next plan to begin with."""
    from burnish.tile.signature import signature

    found: dict[str, Any] = {}
    for choice, launches in zip(plan.choices, plan.launches, strict=True):
        key = names_of(launches)
        own = sum(kernel_us[name] for name in key), choice.schedule.settings
        rest = [(each["us"], each["settings"]) for each in tried if tuple(each["of"]) == key]
        took_us, settings = min((own, *rest), key=lambda each: each[0])
        told = [list(choice.schedule.tile), dict(settings), took_us / 1e6, choice.predicted_bytes]
        found[signature(choice.group, plan.graph)] = told
    return found


def moved_bytes(plan: Plan, number: int) -> float:
    """Return what programs of a group are predicted to load and store, before any cache."""
    from burnish.codegen.gpu.kernel import written

    choice = plan.choices[number]
    found = written(choice.group, choice.schedule, plan.graph, target_of(plan.orders))
    return sum(
        each.programs
        * (sum(each.tally.loaded_bytes.values()) + sum(each.tally.stored_bytes.values()))
        for each in found
    )


def memory_of(plan: Plan) -> int:
    """Return the bytes of the card that a plan takes in a compiled folder, inputs left out.

    What lies between kernels shares one block of memory; constants have their own.
    """
    from burnish.core.placing import Lifetime, first_fit
    from burnish.core.tensors import BITS
    from burnish.cuda.memory import aligned

    lives: dict[str, Lifetime] = {}
    sizes: dict[str, int] = {}
    constants = 0
    steps = [launch for launches in plan.launches for launch in launches]
    for number, launch in enumerate(steps):
        for name in (*launch.arguments, *launch.scratch):
            kind = plan.graph.tensors.get(name)
            wanted = launch.scratch.get(name) or kind.size * BITS[kind.dtype] // 8
            if name in plan.graph.constants:
                constants += aligned(wanted) if name not in sizes else 0
            elif name not in plan.graph.inputs:
                lives[name] = Lifetime(lives[name].first if name in lives else number, number)
            sizes[name] = aligned(wanted)
    own = {name: sizes[name] for name in lives}
    order = sorted(lives, key=lambda each: (-own[each], lives[each].first, each))
    return first_fit(lives, own, order).bytes + constants
