"""What plans of `gpu_kernels.py` move, as Nsight Compute counts it, beside what was predicted.

    python benchmarks/gpu_traffic.py [--cases vit-s32:1,nafnet:64] [--at-once 4] [--out FOLDER]

Each case is planned and run in a process that ncu watches; it is let in for one inference, behind
those that warm up. Kernels that `gpu_kernels.py` has compiled are in Triton's cache already. A row
has what goes between multiprocessors and the second cache, where traffic is predicted, and between
that cache and memory. Needs an NVIDIA GPU whose counters may be read, ncu, torch and triton.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from gpu_kernels import ALL
from gpu_ours import Ours
from gpu_plan import (
    build,
    compile_one,
    exported,
    memory_of,
    moved_bytes,
    parse_case,
    planned,
    repaired,
)

from burnish.analyze import traffic
from burnish.analyze.traffic import KernelTraffic

Plan = Any
WARMING = 3
MIB = 2**20
HEAD = (
    "| case | kernels | of the second cache, read + written MiB | predicted MiB |"
    " predicted / counted | of memory, read + written MiB | predicted MiB |\n"
    "|---|--:|--:|--:|--:|--:|--:|"
)


def watched(case: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Return what ncu counts of a case, in a process of its own; a failure is told."""
    label = parse_case(case).label
    out = Path(asked.out)
    log, plan = out / f"{label}.csv", out / f"{label}.plan.json"
    metrics = ",".join((*traffic.METRICS, *traffic.CACHE_METRICS))
    words = [
        shutil.which("ncu") or "ncu", "--csv", "--page", "raw", "--metrics", metrics,
        "--target-processes", "application-only", "--profile-from-start", "off",
        "--cache-control", "none", "--clock-control", "none", "--log-file", str(log), "-f",
        sys.executable, __file__, "--only", case, "--folder", asked.folder, "--out", str(plan),
        *(["--small"] if asked.small else []), *(["--after", asked.after] if asked.after else []),
    ]  # fmt: skip
    try:
        with (out / f"{label}.log").open("w") as said:
            subprocess.run(words, check=True, stdout=said, stderr=said, timeout=asked.limit)
        kernels = traffic.of_ncu(log.read_text(errors="replace"), runs=1)
        return {"case": label, **summed(kernels, json.loads(plan.read_text()))}
    except Exception as error:
        return {"case": label, "failed": f"{type(error).__name__}: {error}"[-300:]}


def summed(kernels: Sequence[KernelTraffic], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a plan moves at both places, and which groups are farthest from predictions."""
    by_name = {one.name: one for one in kernels}
    groups = []
    for group in plan["groups"]:
        found = [by_name[name] for name in group["kernels"] if name in by_name]
        # a kernel that several groups have was counted for all of them
        both = [
            ((one.cache_read_bytes or 0) + (one.cache_written_bytes or 0)) / one.count
            for one in found
        ]
        groups.append({**group, "counted_bytes": sum(both)})
    return {
        "kernels": sum(one.count for one in kernels),
        "memory_read_bytes": sum(one.read_bytes for one in kernels),
        "memory_written_bytes": sum(one.written_bytes for one in kernels),
        "cache_read_bytes": traffic.total(one.cache_read_bytes for one in kernels),
        "cache_written_bytes": traffic.total(one.cache_written_bytes for one in kernels),
        **{key: value for key, value in plan.items() if key != "groups"},
        "groups": groups,
    }


def counted(case: str, asked: argparse.Namespace) -> None:
    """Plan a case, run it, and let ncu in for one inference."""
    import torch

    from burnish.bench.on_card import alone_on

    chosen = parse_case(case)
    built = build(chosen, small=asked.small)
    plan = planned(exported(built), "full", {})
    folder = Path(asked.folder) / f"{chosen.label}_counted"
    folder.mkdir(parents=True, exist_ok=True)
    unique = {launch.name: launch for launches in plan.launches for launch in launches}
    compiled = {name: compile_one((one, str(folder))) for name, one in unique.items()}
    plan = repaired(plan, compiled, folder)
    Path(asked.out).write_text(json.dumps(told(plan)))
    while asked.after and not Path(asked.after).exists():
        time.sleep(0.5)
    inputs = {name: tensor.cuda() for name, tensor in built.inputs.items()}
    ours = Ours(plan, inputs, folder, compiled)
    for _ in range(WARMING):
        ours()
    torch.cuda.synchronize()
    driver: Any = torch.cuda.cudart()
    with alone_on("cuda:0"):
        driver.cudaProfilerStart()
        ours()
        torch.cuda.synchronize()
        driver.cudaProfilerStop()


def told(plan: Plan) -> dict[str, Any]:
    """Return what was predicted of a plan, group by group."""
    groups = [
        {
            "kernels": [launch.name for launch in launches],
            "nests": [op.output for op in choice.group.ops],
            "library": any(launch.library is not None for launch in launches),
            "predicted_bytes": moved_bytes(plan, number),
            "predicted_memory_bytes": choice.predicted_bytes,
        }
        for number, (choice, launches) in enumerate(zip(plan.choices, plan.launches, strict=True))
    ]
    return {
        "groups": groups,
        "predicted_bytes": sum(each["predicted_bytes"] for each in groups),
        "predicted_memory_bytes": sum(each["predicted_memory_bytes"] or 0.0 for each in groups),
        "occupied_bytes": memory_of(plan),
    }


def row(found: Mapping[str, Any]) -> str:
    """Return a line of the table."""
    if "failed" in found:
        return f"| {found['case']} | {found['failed'].splitlines()[-1][-160:]} |"
    mib = {key: f"{v / MIB:,.1f}" for key, v in found.items() if key.endswith("_bytes") and v}
    both = (found["cache_read_bytes"] or 0) + (found["cache_written_bytes"] or 0)
    share = f"{found['predicted_bytes'] / both:.2f}" if both else "–"
    cache = f"{mib.get('cache_read_bytes', '–')} + {mib.get('cache_written_bytes', '–')}"
    memory = f"{mib.get('memory_read_bytes', '0')} + {mib.get('memory_written_bytes', '0')}"
    kernels, predicted = f"{found['kernels']:.0f}", mib.get("predicted_bytes", "–")
    far = mib.get("predicted_memory_bytes", "–")
    return f"| {found['case']} | {kernels} | {cache} | {predicted} | {share} | {memory} | {far} |"


def main() -> None:
    """Count all cases, a few at once; print a row as soon as there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=ALL)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--limit", type=float, default=300, help="seconds for each case")
    parser.add_argument("--after", default="", help="a file that is there when the card is free")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--folder", default="/tmp/burnish_gpu_kernels")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    parser.add_argument("--only", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only:
        counted(asked.only, asked)
        return
    out = Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    print(HEAD, flush=True)
    results = []
    with ThreadPoolExecutor(asked.at_once) as pool:
        for done in as_completed([pool.submit(watched, c, asked) for c in asked.cases.split(",")]):
            results.append(done.result())
            print(row(results[-1]), flush=True)
            (out / "gpu_traffic.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
