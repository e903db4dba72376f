"""Kernels that are refused because a card computed nonsense with them: are they right by now?

    python benchmarks/gpu_refused.py [--case swin-t:1] [--fresh 10] [--out FILE]

Plans a model with groups that multiply sums of their own kernel, which `choose.priced` refuses,
runs it and compares it with f32, once kernel by kernel and in many replays over tensors that were
overwritten with NaN. Then each such kernel runs alone in fresh processes, over the tensors that it
had: others report of such kernels that they fault in some processes and not in others. One line of
JSON for each finding, written as it comes. Needs an NVIDIA GPU, torch and triton.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from gpu_ours import Ours
from gpu_plan import build, compile_all, exported, parse_case, planned
from gpu_timing import captured, error_of

Tensor = Launch = Any
REPLAYS, STARTS = 200, 30
KEPT = "kept.pickle"


def lifted() -> set[str]:
    """Let groups pass that are refused; return the names of their kernels, which grow."""
    from burnish.codegen.gpu import choose

    plain, names = choose.written, set[str]()

    def written(*given: Any) -> Any:  # noqa: ANN401  (what `written` takes)
        found = plain(*given)
        for each in found:
            if each.tally.multiplied_sums:
                names.add(each.launch.name)
                each.tally.multiplied_sums = 0
        return found

    choose.written = written
    return names


def say(out: Path, **told: object) -> None:
    """Write a finding down."""
    print(json.dumps(told), flush=True)
    with out.open("a") as file:
        file.write(json.dumps(told) + "\n")


def tried(case: str, out: Path, folder: Path) -> None:
    """Run a model with such kernels, and keep what they were given and gave."""
    import torch

    built = build(parse_case(case), small=False)
    names = lifted()
    plan = planned(exported(built), "full", {})
    every = [launch for launches in plan.launches for launch in launches]
    daring = {launch.name: launch for launch in every if launch.name in names}
    say(out, case=case, kernels=len(every), refused=sorted(daring))
    compiled = compile_all(every, folder, 4)
    module = built.module.cuda()
    inputs = {name: tensor.cuda() for name, tensor in built.inputs.items()}
    wide = [t.float() if t.is_floating_point() else t for t in inputs.values()]
    with torch.no_grad():
        exact = tuple(copy.deepcopy(module).float()(*wide))
    ours = Ours(plan, inputs, folder, compiled)
    say(out, error=error_of(ours.one_by_one(), exact))
    kept = {
        name: (launch, {n: ours.tensors[n].cpu() for n in (*launch.arguments, *launch.scratch)})
        for name, launch in daring.items()
    }
    (folder / KEPT).write_bytes(pickle.dumps(kept))
    graph, errors = captured(ours), []
    for _ in range(REPLAYS):
        ours.forget()
        graph.replay()
        errors.append(error_of(ours.found(), exact))
    say(out, replays=len(errors), error_range=[min(errors), max(errors)])


def alone(folder: Path) -> dict[str, Any]:
    """Return how far each kept kernel is from what it gave, or with which one the card faults."""
    import torch

    from burnish.codegen.gpu.running import start

    told: dict[str, Any] = {}
    for name, (launch, tensors) in pickle.loads((folder / KEPT).read_bytes()).items():
        there = {key: tensor.cuda() for key, tensor in tensors.items()}
        last, worst = launch.arguments[-1], 0.0
        wanted = there[last].float().clone()
        try:
            for _ in range(STARTS):
                there[last].fill_(math.nan)
                start(launch, there, folder)
                torch.cuda.synchronize()
                worst = max(worst, error_of([there[last]], [wanted]))
        except Exception as error:
            return {**told, name: str(error)[:200]}
        told[name] = worst
    return told


def main() -> None:
    """Try a model, then its kernels in fresh processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", default="swin-t:1")
    parser.add_argument("--fresh", type=int, default=10, help="processes")
    parser.add_argument("--out", type=Path, default=Path("gpu_refused.jsonl"))
    parser.add_argument("--only", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only:
        say(asked.out, alone=alone(Path(asked.only)))
        return
    with tempfile.TemporaryDirectory() as folder:
        tried(asked.case, asked.out, Path(folder))
        for _ in range(asked.fresh):
            words = [sys.executable, __file__, "--only", folder, "--out", str(asked.out)]
            subprocess.run(words, check=False)


if __name__ == "__main__":
    main()
