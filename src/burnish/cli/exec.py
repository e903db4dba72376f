"""The command `burnish exec`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output

if TYPE_CHECKING:
    from burnish.study.execute import ExecReport


@click.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--input", "inputs", type=click.Path(path_type=Path), required=True,
              help="Inputs: an .npz, or a test_data_set_N folder.")  # fmt: skip
@options.output_option(required=False, text="Write the outputs into this .npz file.")
@click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True,
              help="Timed runs, of which the median is told.")  # fmt: skip
@options.threads_option
@click.option("--require-signature", "signed_by", type=click.Path(path_type=Path),
              metavar="PUBLIC_KEY",
              help="Run it only if the owner of this key has signed it.")  # fmt: skip
@options.json_option
def command(folder: Path, inputs: Path, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Run a model that `burnish compile` has written to FOLDER.

    A compiled folder is code: run those that you trust.
    """
    from burnish.study.execute import SCHEMA, execute

    report = execute(folder, inputs, **asked)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=_shown(report))


def _shown(report: ExecReport) -> Iterator[output.Table | str]:
    from burnish.core import units

    tensors = [("input", spec) for spec in report.inputs]
    tensors += [("output", spec) for spec in report.outputs]
    rows = [(kind, spec.name, spec.dtype, str(list(spec.shape))) for kind, spec in tensors]
    yield output.Table(str(report.folder), ("what", "tensor", "type", "shape"), rows)
    threads = units.count(report.threads, "thread")
    runs = units.count(report.runs, "run")
    yield f"{units.seconds(report.seconds)} on {threads} (median of {runs})"
    if report.target is not None:
        yield f"written: {report.target}"
