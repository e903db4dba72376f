"""The command `burnish doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from burnish.cli import options, output
from burnish.cli.progress import shown
from burnish.core.errors import MissingCapabilityError

if TYPE_CHECKING:
    from burnish.engines.probes.findings import DoctorReport


@click.command()
@options.engine_option
@options.json_option
def command(engines: tuple[str, ...], as_json: bool) -> None:
    """Say what works on this machine, by trying it, and how to mend the rest.

    With --engine only those engines are tried, and one that does not work is an error.
    """
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
