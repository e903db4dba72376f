"""The command `burnish doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from burnish.cli import options, output
from burnish.cli.progress import shown
from burnish.core.errors import MissingCapabilityError, UsageError

if TYPE_CHECKING:
    from burnish.bench.probe import ProbeReport
    from burnish.engines.probes.findings import DoctorReport


@click.command()
@options.engine_option
@click.option("--probe", type=click.Choice(["cpu", "gpu"]), default=None, is_flag=False,
              flag_value="cpu", help="Measure the rates of this machine instead.")  # fmt: skip
@options.output_option(
    required=False,
    text="With --probe: the file to write (default: in the cache, for all commands).",
)
@options.json_option
def command(
    engines: tuple[str, ...], probe: str | None, target: Path | None, as_json: bool
) -> None:
    """Say what works on this machine, by trying it, and how to mend the rest.

    With --engine only those engines are tried, and one that does not work is an error. With
    --probe [cpu|gpu], what the machine can compute and move per second is measured and written
    as a device file, which whatif and advise then judge by.
    """
    if probe is not None:
        _probe(probe, target, as_json=as_json)
        return
    if target is not None:
        raise UsageError("-o says where a probe goes", hint="add --probe")
    from burnish.engines.base import ENGINES
    from burnish.engines.probes.examine import examine
    from burnish.engines.probes.findings import SCHEMA

    asked = tuple(ENGINES[name].name for name in options.names(engines))
    with shown() as progress:
        report = examine(asked, progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=_tables(report))
    for engine in report.broken_engines if asked else ():
        raise MissingCapabilityError(
            f"engine {engine.name} is {engine.status.value}: {engine.detail}", hint=engine.remedy
        )


def _probe(kind: str, target: Path | None, *, as_json: bool) -> None:
    from burnish.bench.probe import SCHEMA, probed
    from burnish.core import settings

    with shown() as progress:
        report = probed(kind, target, settings.read().cache, progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=_probe_tables(report))


def _probe_tables(report: ProbeReport) -> list[output.Table | str]:
    from burnish.core import units

    device = report.device
    rows = [
        (f"products in {t}", f"{r / 1e9:,.1f} GFLOP/s") for t, r in device.peak_flops_per_s.items()
    ]
    rows += [
        (f"copies within {level.name}", f"{level.bandwidth_bytes_per_s / 1e9:,.1f} GB/s")
        for level in device.memory
    ]
    rows.append(("starting one operator", units.seconds(device.launch_overhead_s)))
    return [
        output.Table(device.source, ("what", "rate"), rows, frozenset({"rate"})),
        f"written to {report.path}",
    ]


def _tables(report: DoctorReport) -> list[output.Table]:
    from burnish.engines.probes.findings import Group

    return [
        output.Table(
            title=f"{group.value}s" if group is not Group.PRIVACY else "privacy",
            columns=("what", "status", "version", "detail", "remedy"),
            rows=[
                (row.name, row.status.value, row.version, row.detail, row.remedy)
                for row in report.of(group)
            ],
        )
        for group in Group
        if report.of(group)
    ]
