"""Start an export in a process of its own, and turn every way it can fail into an error."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path

from burnish.core import errors
from burnish.core.errors import BurnishError, MissingCapabilityError, ModelError
from burnish.process.child import Child, ChildEndedError, ChildRefusedError, ProcessLimits
from burnish.zoo.exporting.child import ExportAnswer, Order
from burnish.zoo.exporting.last_lines import last_of
from burnish.zoo.exporting.past import Generation
from burnish.zoo.exporting.request import ExportRequest, check
from burnish.zoo.exporting.sources import follows_attention
from burnish.zoo.exporting.stages import ExportOutcome, Failure

TIME_LIMIT_S = 600.0
_CHILD = "burnish.zoo.exporting.child"
_KEEPS_MEMORY: Mapping[str, str] = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(1 << 26),
}
"""Has glibc keep what is freed: each result of PyTorch's operators would be fresh pages else."""
_DOING: Mapping[str, str] = {
    "start": "starting",
    "build": "building the module",
    "run": "running the module in PyTorch",
    "export": "exporting",
    "write": "writing what was exported",
}


def launch(
    request: ExportRequest, target: Path, *, time_limit_s: float = TIME_LIMIT_S
) -> tuple[ExportOutcome, Generation | None]:
    """Export into `target` and beside it; the caller removes what a failure leaves there."""
    check(request)
    _require_torch()
    limits = ProcessLimits(time_limit_s, environment=_environment(request))
    exported = _exported(Order(request, target), limits)
    if exported.outcome is None:
        assert exported.failure is not None
        raise _error(exported.failure, request)
    return exported.outcome, exported.generation


def _exported(order: Order, limits: ProcessLimits) -> ExportAnswer:
    try:
        with Child(_CHILD, limits) as child:
            return child.ask("export", order, ExportAnswer)
    except ChildEndedError as error:
        stage = error.stage if error.stage in _DOING else "start"
        how = f"the process {error.how}"
        return ExportAnswer(failure=Failure(stage, how, lines=last_of(error.said)))
    except ChildRefusedError as error:
        return ExportAnswer(failure=Failure("write", str(error)))


def _environment(request: ExportRequest) -> dict[str, str]:
    chosen = any(name.startswith("MALLOC_") for name in os.environ)
    found = {} if chosen else dict(_KEEPS_MEMORY)
    if request.options.precision == "bf16":
        # oneDNN's bf16 kernels for AMX end the process on machines that name AMX but withhold it
        found["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_BF16"
    return found


def _error(failure: Failure, request: ExportRequest) -> BurnishError:
    if failure.hint:
        kind: type[BurnishError] = getattr(errors, failure.kind, ModelError)
        return kind(failure.problem, hint=failure.hint)
    said = "".join(f"\n    {line}" for line in failure.lines if line)
    found = f": {failure.problem}" if failure.problem else ""
    how = f" ({request.exporter}, opset {request.chosen_opset})"
    where = f"failed while {_DOING[failure.stage]}{how if failure.stage == 'export' else ''}"
    return ModelError(f"{where}{found}{said}", hint=_hint(failure, request))


def _hint(failure: Failure, request: ExportRequest) -> str:
    if "no answer within" in failure.problem:
        return f"give it longer with --time-limit, or {_other_ways(request)}"
    if failure.stage in ("build", "run"):
        return "make the module run on its inputs in PyTorch first; nothing was written"
    return _other_ways(request)


def _other_ways(request: ExportRequest) -> str:
    other = "torchscript" if request.exporter == "dynamo" else "dynamo"
    ways = [f"--exporter {other}"]
    if request.options.attention == "sdpa" and follows_attention(request.source):
        ways.append("--attention eager")
    if request.dynamic is not False:
        ways.append("--static")
    return f"try {', '.join(ways)} or another --opset"


def _require_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        raise MissingCapabilityError(
            "exporting needs PyTorch, which is not installed", hint="pip install 'burnish[torch]'"
        )
