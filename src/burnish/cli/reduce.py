"""The command `burnish reduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown
from burnish.core import units

if TYPE_CHECKING:
    from burnish.study.reduce import ReduceReport


@click.command()
@options.model_argument
@click.option("--against", metavar="OTHER", help="The model that does not compute the same.")
@click.option("--engine", default="onnxruntime-cpu", show_default=True,
              help="The engine in question; `burnish doctor` lists them.")  # fmt: skip
@options.output_option(required=True, text="The folder to write the part into.", of="folder")
@options.shape_option
@options.data_option
@options.seed_option
@options.trust_option
@options.store_option
@options.json_option
def command(model: str, target: Path, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Shrink MODEL to the smallest part at which another model, or an engine, differs from it.

    The part is written with the inputs that show the difference.
    """
    from burnish.cli.models import resolved
    from burnish.study.reduce import SCHEMA, ReduceRequest, reduce

    stored, *others = resolved([name for name in (model, asked["against"]) if name], asked)
    request = ReduceRequest(
        folder=target,
        candidate=others[0] if others else None,
        engine=asked["engine"],
        bindings=options.bindings(asked["shape"]),
        seed=asked["seed"],
        data=asked["data"],
    )
    with shown() as progress:
        report = reduce(stored, request, progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=_shown(report))


def _shown(report: ReduceReport) -> list[output.Table | str]:
    before = units.count(report.nodes_before, "node")
    operators = ", ".join(report.operators)
    return [
        f"{before} reduced to {report.nodes_after:,}; of the candidate: {operators}",
        f"{report.diff.name} differs: {report.diff.reason}",
        f"see it again: {report.command}",
    ]
