"""Timelines of PyTorch's profiler, made by hand as it writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def event(cat: str, name: str, ts: float, dur: float, *, pid: object = 9, tid: object = 9,
          **args: object) -> Event:  # fmt: skip
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}  # fmt: skip


def op(name: str, ts: float, dur: float, *dims: list[int], **more: object) -> Event:
    return event("cpu_op", name, ts, dur, **{"Input Dims": list(dims), **more})


def module(name: str, ts: float, dur: float) -> Event:
    return event("python_function", f"nn.Module: {name}", ts, dur)


def launch(ts: float, correlation: int, *, name: str = "cudaLaunchKernel", dur: float = 2) -> Event:
    return event("cuda_runtime", name, ts, dur, correlation=correlation)


def kernel(name: str, ts: float, dur: float, correlation: int, *, device: int = 0,
           stream: int = 7, cat: str = "kernel", **more: object) -> Event:  # fmt: skip
    return event(cat, name, ts, dur, pid=device, tid=stream, device=device, stream=stream,
                 correlation=correlation, **more)  # fmt: skip


def written(folder: Path, *events: Event, **facts: object) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, **facts, "traceEvents": list(events)}))
    return path
