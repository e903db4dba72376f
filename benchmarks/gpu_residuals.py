"""How long each kernel of our plans took on a card, and should have: `gpu_residuals.csv`.

    python benchmarks/gpu_residuals.py gpu_kernels.json

Takes what `gpu_kernels.py` wrote, exports its models, writes each group's kernels anew with the
blocks that it had (no plan is searched), prices them, and keeps what prices are made of beside
what was measured. Prices are of kernels between others with constants from memory; each was
measured alone in a graph, with all in the second cache: about 0.25 us less.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gpu_plan import DEVICE, build, exported, parse_case, target_of

TABLE = Path(__file__).with_name("gpu_residuals.csv")
WORK = ("steps", "waits", "waited", "ahead", "turns", "nested", "widest", "held")
"""Of what a program does."""
PARTS = ("product_s", "lane_s", "l2_s", "memory_s", "latency_s")
"""Of a price."""


def rows_of(told: dict[str, Any], graph: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield a line for each kernel of a case that was timed and is written in the same blocks."""
    from burnish.codegen.gpu.choose import priced
    from burnish.codegen.gpu.layout import orders_of
    from burnish.hw.spec import load
    from burnish.tile.connect import grouped, wiring
    from burnish.tile.schedule import Schedule

    target, wires = target_of(orders_of(graph)), wiring(graph)
    number = {op.output: position for position, op in enumerate(graph.ops)}
    count: dict[tuple[str, ...], int] = {}
    for step in told["full"]["steps"]:
        key = tuple(step["kernels"])
        count[key] = count.get(key, 0) + 1
        missing = not {*step["nests"]} <= number.keys() or not {*key} <= told["kernel_us"].keys()
        if count[key] > 1 or missing:
            continue
        group = grouped(wires, [number[name] for name in step["nests"]])
        schedule = Schedule(group.anchor.shape, settings=step["settings"])
        found = priced(group, schedule, graph, load(DEVICE), target)
        for name, each, cost in zip(key, found.launches, found.prices, strict=True):
            yield {
                "case": told["case"], "kernel": name, "same": int(name == each.launch.name),
                "measured_us": round(told["kernel_us"][name], 3),
                "predicted_us": round(cost.seconds * 1e6, 3),
                "library": int(each.launch.library is not None),
                "early": int(each.launch.early), "programs": each.programs,
                "warps": each.launch.warps, "stages": each.launch.stages,
                **{part: f"{getattr(cost, part):.4g}" for part in PARTS},
                "memory_bytes": round(cost.memory_bytes),
                **{name: getattr(each.tally, name) for name in WORK},
            }  # fmt: skip


def summary(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield how far off prices are, by kind of kernel."""
    kinds: dict[str, list[float]] = {}
    for row in rows:
        kind = "library" if row["library"] else row["kernel"].split("_")[0]
        kinds.setdefault(kind, []).append(math.log(row["measured_us"] / row["predicted_us"]))
    for kind, logs in sorted(kinds.items()):
        sizes = [abs(each) for each in logs]
        yield (
            f"{kind}: {len(logs)} kernels, median {statistics.median(logs):+.2f}, "
            f"of sizes {statistics.median(sizes):.2f}, largest {max(sizes):.2f}"
        )


def main() -> None:
    """Write the table anew and say how far off prices are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measured", type=Path)
    parser.add_argument("--out", type=Path, default=TABLE)
    asked = parser.parse_args()
    from burnish.codegen.gpu.sequence import simplified

    rows: list[dict[str, Any]] = []
    for told in json.loads(asked.measured.read_text()):
        if "kernel_us" not in told:
            continue
        name, _, rest = told["case"].rpartition("_b")
        case = parse_case(f"{name}:{rest.replace('s', '@')}")
        rows += rows_of(told, simplified(exported(build(case, small=False))))
    with asked.out.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(*summary(rows), sep="\n")


if __name__ == "__main__":
    main()
