"""What a sceptic would ask about the run: machine, versions, steps."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.bench.measure import MachineState
from burnish.core import units
from burnish.report.record import RunReport
from burnish.report.table import Table, table


def facts(report: RunReport) -> tuple[tuple[str, str], ...]:
    """Return names and values, those that matter most to the numbers first."""
    machine = report.bench.machine
    pairs = (
        ("processor", _processor(machine)),
        ("memory", units.size(machine.memory_bytes) if machine.memory_bytes else ""),
        ("GPU", ", ".join(f"{gpu.name}, driver {gpu.driver}" for gpu in machine.before.gpus)),
        ("clock", _clock(machine)),
        ("system", machine.system),
        ("Python", machine.python),
        ("libraries", _pairs(machine.versions)),
        ("variables", _pairs(machine.environment)),
        ("measured", f"{machine.date}, for {units.seconds(machine.elapsed_s)}"),
        ("seed", str(report.bench.seed)),
        ("inputs", report.bench.inputs_key[:16]),
        ("original", f"{report.original}, sha256 {report.source_key[:16]}"),
        ("burnish", report.burnish_version),
    )
    return tuple((name, value) for name, value in pairs if value)


def step_table(report: RunReport) -> Table:
    """Return how long each step took, and which were taken over from an earlier run."""
    rows = [
        (
            step.name,
            units.seconds(step.seconds_s),
            "taken over from an earlier run" if step.resumed else "",
        )
        for step in report.steps
    ]
    return table("", ("step", "time", ""), rows, numeric=("time",))


def _processor(machine: MachineState) -> str:
    cores = f"{machine.cpu}, {units.count(machine.usable_cores, 'usable core')}"
    quota = machine.quota_cores
    return cores if quota is None else f"{cores}, with a quota of {quota:g}"


def _clock(machine: MachineState) -> str:
    governor = f"governor {machine.governor}" if machine.governor else ""
    turbo = {True: "turbo on", False: "turbo off", None: ""}[machine.turbo]
    return ", ".join(part for part in (governor, turbo) if part)


def _pairs(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(values.items()))
