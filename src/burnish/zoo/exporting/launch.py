"""Start an export in a process of its own, and turn every way it can fail into an error."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from burnish.core import errors, records, units
from burnish.core.errors import BurnishError, MissingCapabilityError, ModelError
from burnish.zoo.exporting import past
from burnish.zoo.exporting.last_lines import last_of
from burnish.zoo.exporting.past import Generation
from burnish.zoo.exporting.request import ExportRequest, check
from burnish.zoo.exporting.sources import follows_attention
from burnish.zoo.exporting.stages import Failure, Outcome, last_stage, read_outcome

TIME_LIMIT_S = 600.0
_CHILD = "burnish.zoo.exporting.child"
_DOING: Mapping[str, str] = {
    "start": "starting",
    "build": "building the module",
    "run": "running the module in PyTorch",
    "export": "exporting",
    "write": "writing what was exported",
}


def launch(
    request: ExportRequest, target: Path, *, time_limit_s: float = TIME_LIMIT_S
) -> tuple[Outcome, Generation | None]:
    """Export into `target` and beside it; the caller removes what a failure leaves there."""
    check(request)
    _require_torch()
    with tempfile.TemporaryDirectory(prefix="burnish-export-") as scratch_name:
        scratch = Path(scratch_name)
        asked, log = scratch / "request.json", scratch / "log.txt"
        asked.write_text(records.text_of(records.encode(request)))
        words = [sys.executable, "-P", "-m", _CHILD, str(asked), str(scratch), str(target)]
        with log.open("wb") as talk:
            code = _run(words, talk.fileno(), time_limit_s, _environment(request))
        outcome = read_outcome(scratch)
        if isinstance(outcome, Outcome):
            return outcome, past.read(scratch)
        if outcome is None:
            outcome = _unexplained(code, scratch, log, time_limit_s)
        raise _error(outcome, request)


def _run(
    words: list[str], talk: int, time_limit_s: float, environment: Mapping[str, str]
) -> int | None:
    """Return the exit code of a process; None: it did not end in time."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=talk, stderr=talk, start_new_session=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    try:
        return process.wait(timeout=time_limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _environment(request: ExportRequest) -> dict[str, str]:
    if request.options.precision != "bf16":
        return {}
    # oneDNN's bf16 kernels for AMX end the process on machines that name AMX but withhold it.
    return {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}


def _unexplained(code: int | None, scratch: Path, log: Path, time_limit_s: float) -> Failure:
    """Return what can be said of a process that left no word."""
    if code is None:
        how = f"it was not finished within {units.seconds(time_limit_s)}"
        return Failure(last_stage(scratch), how, lines=last_of(log))
    ended = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    how = f"the process ended {ended}"
    return Failure(last_stage(scratch), how, lines=last_of(log))


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
    if "not finished within" in failure.problem:
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
