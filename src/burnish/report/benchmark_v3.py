"""Measurements in the JSON that PyTorch's benchmark dashboard reads (its schema, version 3)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from burnish.bench.cells import LedgerRow


def text(rows: Iterable[LedgerRow]) -> str:
    """Return one record for each figure of each measurement that has a time and is right.

    Who reads these shows the figures, and not what else is said of them.
    """
    records = [record for row in rows if row.status == "ok" for record in _records(row)]
    return json.dumps(records, indent=1, allow_nan=False) + "\n"


def _records(row: LedgerRow) -> Iterator[dict[str, Any]]:
    figures = {
        "latency_ms": None if row.figures.median_s is None else row.figures.median_s * 1e3,
        "throughput_per_s": row.figures.items_per_s,
        "peak_memory_bytes": row.figures.peak_memory_bytes,
    }
    for name, value in figures.items():
        if value is not None:
            yield {
                "benchmark": {
                    "name": "burnish",
                    "mode": "inference",
                    "dtype": row.precision or "model",
                    "extra_info": {
                        "bindings": dict(row.bindings),
                        "threads": row.threads,
                        "machine": row.machine,
                        "environment": row.environment,
                        "measured_at": row.measured_at,
                        "status": row.status,
                    },
                },
                "model": {"name": row.model, "type": "onnx", "backend": row.engine},
                "metric": {"name": name, "benchmark_values": [value]},
            }
