"""A model that is larger than the card's memory: what fusion saves of the link to the host.

python benchmarks/gpu_larger.py [--model nafnet] [--edge 2048] [--shares 0.2,0.5] [-o larger.json]

The model is compiled twice for the card that is here, with fusion and without. Both run in shares
of the memory that the fused plan needs, by the same rules of what stays and what waits on the host.
Every result is held against that of the plan in full memory (the same bits) and against PyTorch in
f32. Told are the bytes that are moved in each run, counted, with the time of runs on the host's
clock; and what whole operators would move, each written by hand as one kernel. Needs torch, Triton
and an NVIDIA GPU; `--count` only counts, without a card. Fails where results differ, or where more
than half of the operators' transfers are left.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from gpu_plan import exported

Row = dict[str, Any]
Module = Any
ALLOWED = 0.5
"""Of the operators' transfers."""
RUNS = 5
MIB = 2**20


def module_of(name: str, edge: int) -> Module:
    """Return a zoo model in f16 with one square image as its input."""
    import torch

    from burnish.zoo.entry import MODELS, NetworkOptions

    built = MODELS[name].build(NetworkOptions(batch=1, precision="fp16"))
    (input_name,) = built.inputs
    torch.manual_seed(0)
    image = torch.rand(1, 3, edge, edge).half()
    return dataclasses.replace(built, inputs={input_name: image})


def plans_of(built: Module, target: str) -> dict[str, Any]:
    """Return the plan with fusion and the one without."""
    from burnish.codegen.backend import open_backend
    from burnish.codegen.pipeline import PlanOptions, plan, prepare
    from burnish.codegen.schedule import Predicted

    prepared = prepare(exported(built), {})
    backend = open_backend(target, 1)
    return {
        fusion: plan(prepared, PlanOptions(backend, Predicted(backend, fusion), fusion))
        for fusion in ("full", "none")
    }


def written(built: Module, plans: dict[str, Any], folder: Path) -> dict[str, Path]:
    """Return the folders of both plans, whose kernels are compiled by now."""
    from burnish.codegen.backend import open_backend
    from burnish.codegen.write import write
    from burnish.core.tensors import TensorSpec
    from burnish.runtime.folder import About

    backend = open_backend("cuda", 1)
    found = {}
    for fusion, each in plans.items():
        specs = [
            tuple(TensorSpec(n, each.plan.tensors[n].dtype, each.plan.tensors[n].shape) for n in m)
            for m in (each.plan.inputs, each.plan.outputs)
        ]
        about = About("larger", "larger.onnx", "0", *specs, "f16", backend.device, "today")
        write(folder / fusion, about, [each], backend)
        found[fusion] = folder / fusion
    return found


def counted(plans: dict[str, Any], limit: int) -> Row:
    """Return the bytes that are moved inside of a limit: by both plans, and by operators."""
    from burnish.core.residency import residency
    from burnish.runtime.transfers import operators_of, work_of

    works = {
        "fused": work_of(plans["full"].plan),
        "unfused": work_of(plans["none"].plan),
        "operators": operators_of(plans["none"].plan),
    }
    found = {name: residency(work, limit) for name, work in works.items()}
    return {
        "limit_bytes": limit,
        **{f"{name}_bytes": each.moved_bytes for name, each in found.items()},
        "fused_aside": sum(map(len, found["fused"].aside.values())),
    }


def needed_bytes(plans: dict[str, Any]) -> int:
    """Return what the fused plan needs where nothing is moved but inputs and outputs."""
    from burnish.core.residency import residency
    from burnish.runtime.transfers import work_of

    work = work_of(plans["full"].plan)
    found = residency(work, sum(work.sizes.values()))
    return found.bytes + work.bytes_of(tuple(found.kept))


def wanted_of(built: Module) -> np.ndarray:
    """Return what PyTorch gives on the card in f32."""
    import torch

    with torch.inference_mode():
        module = built.module.float().cuda()
        found = module(*(each.float().cuda() for each in built.inputs.values()))
        result = found[0] if isinstance(found, tuple | list) else found
        array: np.ndarray = result.float().cpu().numpy()
    del module, found, result
    torch.cuda.empty_cache()
    return array


def ran(folder: Path, feeds: dict[str, np.ndarray], limit: int | None) -> Row:
    """Return what a folder gives inside of a limit, and how long runs of it take."""
    import burnish

    with burnish.load(folder, threads=1, device_memory_bytes=limit) as model:
        (output,) = model.run(feeds).values()
        run = model.prepare(feeds)
        times = []
        for _ in range(RUNS):
            begun = time.perf_counter()
            run()
            times.append(time.perf_counter() - begun)
    return {"output": output, "seconds": statistics.median(times), "times_s": times}


def measured(built: Module, folders: dict[str, Path], rows: list[Row]) -> None:
    """Add to rows what both plans take inside of their limits, and how far results are apart."""
    from burnish.core.errors import BurnishError

    feeds = {name: each.numpy() for name, each in built.inputs.items()}
    wanted = wanted_of(built)
    whole = {fusion: ran(folder, feeds, None) for fusion, folder in folders.items()}
    for row in rows:
        for fusion, folder in folders.items():
            try:
                found = ran(folder, feeds, row["limit_bytes"])
            except BurnishError as error:  # the other rows may run, and are told
                row["failed"] = f"{fusion}: {error.problem}"
                break
            far = np.linalg.norm(found["output"].astype(np.float64) - wanted)
            row[fusion] = {
                "seconds": found["seconds"],
                "times_s": found["times_s"],
                "whole_s": whole[fusion]["seconds"],
                "same_bits": bool(np.array_equal(found["output"], whole[fusion]["output"])),
                "from_f32": float(far / np.linalg.norm(wanted)),
            }
        print(told(row), flush=True)


def told(row: Row) -> str:
    """Return a row of the table."""
    counts = " | ".join(
        f"{row[name] / MIB:,.0f} MiB"
        for name in ("limit_bytes", "fused_bytes", "operators_bytes", "unfused_bytes")
    )
    if "failed" in row:
        return f"| {counts} | failed: {row['failed']} |"
    line = f"| {counts} | {row['fused_bytes'] / row['operators_bytes']:.2f} |"
    if "full" in row:
        full, none = row["full"], row["none"]
        line += (
            f" {1e3 * full['seconds']:.2f} ms | {1e3 * none['seconds']:.2f} ms |"
            f" {1e3 * full['whole_s']:.2f} ms | {full['same_bits']} | {full['from_f32']:.1e} |"
        )
    return line


def holds(row: Row) -> bool:
    """Say whether transfers are halved, and results what they are with all memory."""
    if "failed" in row:
        return False
    right = all(row[each]["same_bits"] for each in ("full", "none") if each in row)
    near = "full" not in row or row["full"]["from_f32"] < 1e-2
    return right and near and bool(row["fused_bytes"] <= ALLOWED * row["operators_bytes"])


def main() -> int:
    """Compile, count, run; return 1 if a row falls short."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nafnet")
    parser.add_argument("--edge", type=int, default=2048)
    parser.add_argument("--shares", default="0.95,0.75,0.5,0.2")
    parser.add_argument("--folder", type=Path, default=Path("build/larger"))
    parser.add_argument("--count", action="store_true", help="only count, without a card")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    built = module_of(asked.model, asked.edge)
    begun = time.perf_counter()
    plans = plans_of(built, "cuda: sm_90" if asked.count else "cuda")
    needed = needed_bytes(plans)
    print(f"{asked.model} {asked.edge}²: needs {needed / MIB:,.0f} MiB,"
          f" planned in {time.perf_counter() - begun:.0f} s", flush=True)  # fmt: skip
    rows = [counted(plans, int(float(share) * needed)) for share in asked.shares.split(",")]
    print("| limit | moved | operators | unfused plan | of operators' | time | unfused | all memory"
          " | same bits | from f32 |")  # fmt: skip
    print("|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|", flush=True)
    if asked.count:
        print(*map(told, rows), sep="\n")
    else:
        measured(built, written(built, plans, asked.folder), rows)
    if asked.output:
        about = {"model": asked.model, "edge": asked.edge, "needed_bytes": needed}
        asked.output.write_text(json.dumps({**about, "rows": rows}, indent=1))
    return int(not all(map(holds, rows)))


if __name__ == "__main__":
    raise SystemExit(main())
