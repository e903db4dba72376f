"""Try everything that burnish can use, and say what works."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial

from burnish.core import settings
from burnish.core.errors import BurnishError
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import ENGINES
from burnish.engines.installed import version_of
from burnish.engines.probes import compilers
from burnish.engines.probes.devices import devices
from burnish.engines.probes.exporter_probe import EXPORTERS
from burnish.engines.probes.findings import DoctorReport, FindingKind, ProbeFinding, Status
from burnish.process.child import Child, ChildEndedError, ChildRefusedError, ProcessLimits

TIME_LIMIT_S = 180
"""A cold `torch.compile` on a slow machine needs most of a minute; what takes longer hangs."""
_AT_ONCE = 2
_PROBES = "burnish.engines.probes"

Probe = Callable[[], ProbeFinding]


def examine(engines: Sequence[str] = (), *, progress: Progress = SILENT) -> DoctorReport:
    """Try the engines that are named, and nothing else; without names, try everything."""
    probes: list[Probe] = [
        partial(engine_finding, name, time_limit_s=TIME_LIMIT_S) for name in engines or ENGINES
    ]
    if engines:
        return DoctorReport(_all(probes, progress))
    probes += [partial(exporter_finding, name, time_limit_s=TIME_LIMIT_S) for name in EXPORTERS]
    probes += [partial(compilers.compiler_finding, compiler) for compiler in compilers.COMPILERS]
    probes += [partial(compilers.library_finding, library) for library in compilers.LIBRARIES]
    return DoctorReport((*devices(), *_all(probes, progress), *privacy()))


def engine_finding(name: str, *, time_limit_s: float) -> ProbeFinding:
    """Run a tiny model on an engine in a child process, and return how that went."""
    available = ENGINES[name].availability()
    if not available.ok:
        return ProbeFinding(
            FindingKind.ENGINE, name, Status.MISSING, available.version, available.reason,
            available.remedy,
        )  # fmt: skip
    reason, told = _tried("engine_probe", name, time_limit_s)
    return _finding(FindingKind.ENGINE, name, available.version, reason, told)


def exporter_finding(name: str, *, time_limit_s: float) -> ProbeFinding:
    """Export a tiny module with one of PyTorch's exporters, and return how that went."""
    title = f"torch.onnx {name}"
    version = version_of("torch")
    if version is None:
        return ProbeFinding(
            FindingKind.EXPORTER, title, Status.MISSING, "", "torch is not installed",
            "pip install 'burnish[torch]'",
        )  # fmt: skip
    reason, told = _tried("exporter_probe", name, time_limit_s)
    return _finding(FindingKind.EXPORTER, title, version, reason, told)


def privacy() -> tuple[ProbeFinding, ...]:
    """Return a row for each setting that keeps this process and its children from reporting."""
    return tuple(
        ProbeFinding(FindingKind.PRIVACY, name, Status.WORKS, detail=f"set to {value}")
        if os.environ.get(name) == value
        else ProbeFinding(
            FindingKind.PRIVACY, name, Status.BROKEN, detail="is not set in this process",
            remedy=f"export {name}={value}",
        )
        for name, value in settings.FORCED.items()
    )  # fmt: skip


def _tried(module: str, name: str, time_limit_s: float) -> tuple[str, str]:
    """Return why something does not work, and what it told or the command that shows it."""
    again = f"python -m {_PROBES}.{module} {name}"
    try:
        with Child(f"{_PROBES}.{module}", ProcessLimits(answer_s=time_limit_s)) as child:
            return "", child.ask("probe", name, str)
    except BurnishError as error:
        return f"{error.problem}; {error.hint}", again
    except (ChildRefusedError, ChildEndedError) as error:
        return str(error), again


def _finding(group: FindingKind, name: str, version: str, reason: str, told: str) -> ProbeFinding:
    if reason:
        return ProbeFinding(group, name, Status.BROKEN, version, reason, told)
    return ProbeFinding(group, name, Status.WORKS, version, told)


def _all(probes: Sequence[Probe], progress: Progress) -> tuple[ProbeFinding, ...]:
    """Return all findings in order; a few probes run at once, as most wait for a child."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        futures = [pool.submit(probe) for probe in probes]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                progress.step("examine", done, len(futures), future.result().name)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return tuple(future.result() for future in futures)
