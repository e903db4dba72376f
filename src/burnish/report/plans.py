"""What plans were predicted to need: kernels, intermediate results, traffic, seconds."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report.table import Table, table

_SHOWN = (
    "model", "sizes", "device", "fusion", "kernels", "left", "intermediate results",
    "memory traffic", "predicted",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """One plan: a model at some sizes for one device, fused to one degree."""

    model: str
    sizes: str
    device: str
    fusion: str
    kernels: int
    left_nodes: int
    """With ONNX Runtime, because there are no kernels for them."""
    intermediate_bytes: int
    """Of all tensors that kernels write, outputs included; weights and inputs excluded."""
    traffic_bytes: float
    """Between the memory of single compute units and what they share."""
    predicted_s: float
    planning_s: float
    """What it took to find the plan, nothing compiled."""


def plans_csv(rows: Sequence[PlannedRow]) -> str:
    """Return the plans as CSV, in SI units."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([field.name for field in dataclasses.fields(PlannedRow)])
    writer.writerows(dataclasses.astuple(row) for row in rows)
    return out.getvalue()


def plans_table(rows: Sequence[PlannedRow]) -> Table:
    """Return the plans as a table, one degree of fusion under the other."""
    return table(
        "plans, as predicted",
        _SHOWN,
        [
            (
                row.model,
                row.sizes,
                row.device,
                row.fusion,
                f"{row.kernels:,}",
                f"{row.left_nodes:,}",
                units.size(row.intermediate_bytes),
                units.size(row.traffic_bytes),
                units.seconds(row.predicted_s),
            )
            for row in rows
        ],
        numeric=_SHOWN[4:],
        remark="Predicted from descriptions of the devices, none of which has to be here. Left: "
        "nodes that stay with ONNX Runtime; their time is not in the prediction.",
    )
