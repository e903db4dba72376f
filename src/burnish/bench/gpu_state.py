"""What the GPUs of this machine are doing, as `nvidia-smi` tells it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

from burnish.bench.measure import GpuState
from burnish.process.program import run

Query = Callable[[Sequence[str]], str | None]
"""Runs `nvidia-smi` with arguments; None: it is not there, or did not answer."""

_FIELDS = (
    "name", "driver_version", "clocks.sm", "clocks.max.sm", "temperature.gpu",
    "clocks_throttle_reasons.active",
)  # fmt: skip
_SLOWDOWNS = (
    (0x04, "the power cap"),
    (0x08, "a hardware slowdown"),
    (0x20, "its temperature"),
    (0x40, "its temperature (hardware)"),
    (0x80, "the external power brake"),
)
"""Bits of the driver's reasons that mean a slower run; idle and user-set clocks are not among."""


def ask_driver(arguments: Sequence[str]) -> str | None:
    """Return what `nvidia-smi` says, or None."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    done = run([program, *arguments], time_limit_s=20)
    return done.output if done.ok else None


def gpus(query: Query = ask_driver) -> tuple[GpuState, ...]:
    """Return the state of every GPU; none where there is no driver."""
    text = query([f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits"])
    return tuple(_gpu(line) for line in (text or "").splitlines() if line.count(",") >= 5)


def processes(query: Query = ask_driver) -> int:
    """Return how many processes hold memory on a GPU."""
    text = query(["--query-compute-apps=pid", "--format=csv,noheader"])
    return sum(line.strip().isdigit() for line in (text or "").splitlines())


def _gpu(line: str) -> GpuState:
    name, driver, clock, most, temperature, reasons = (part.strip() for part in line.split(",")[:6])
    return GpuState(
        name=name,
        driver=driver,
        clock_hz=_times(_number(clock), 1e6),
        max_clock_hz=_times(_number(most), 1e6),
        temperature_celsius=_number(temperature),
        slowed_by=_slowed_by(reasons),
    )


def _slowed_by(reasons: str) -> str:
    try:
        bits = int(reasons, 16)
    except ValueError:
        return ""
    return ", ".join(text for bit, text in _SLOWDOWNS if bits & bit)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
