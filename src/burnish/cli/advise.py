"""The command `burnish advise`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown

if TYPE_CHECKING:
    from burnish.analyze.advise import Advice, AdviseReport


@click.command()
@options.model_argument
@click.option("--engine", default="onnxruntime-cpu", show_default=True, help="Where it will run.")
@options.hw_option
@options.shape_option
@options.data_option
@options.seed_option
@options.padding_option
@options.threads_option
@options.trust_option
@options.store_option
@options.json_option
def command(model: str, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Say what to do next with MODEL, the largest expected gain first.

    Each piece of advice has its predicted gain, how sure that is, the evidence, and the command
    that does it or finds out more.
    """
    from burnish.analyze.advise import SCHEMA
    from burnish.cli.whatif_request import timeline_of
    from burnish.study.advise import advise_on

    with shown() as progress:
        report = advise_on(timeline_of(model, asked), progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report))


def tables(report: AdviseReport) -> list[output.Table | str]:
    """Return the advice as a table, the commands below it where they can be copied."""
    from burnish.core import units

    title = f"{report.label} on {report.engine}: {units.seconds(report.baseline_s)}"
    if report.limit_s is not None:
        title += f", {units.seconds(report.limit_s)} at the limits of {report.device}"
    rows = [_row(number, one) for number, one in enumerate(report.advice, 1)]
    columns = ("", "what", "gain", "how sure", "evidence")
    commands = [f"{number}. {one.command}" for number, one in enumerate(report.advice, 1)]
    return [
        output.Table(title, columns, rows, frozenset({"gain"})),
        *commands,
        *(f"note: {note}" for note in report.notes),
    ]


def _row(number: int, one: Advice) -> tuple[str, ...]:
    from burnish.cli.whatif_tables import gain

    found = gain(one.gain) if one.gain is not None else "measure"
    prefix = "at most " if one.confidence == "bound" else ""
    return (str(number), one.what, prefix + found, one.confidence, one.evidence)
