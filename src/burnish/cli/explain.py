"""The command `burnish explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from burnish.cli import options, output


@click.command()
@options.model_argument
@click.option("--disable", metavar="NAME,…", multiple=True, help="Fusions and steps to leave out.")
@click.option("--only", metavar="NAME,…", multiple=True, help="The only fusions to apply.")
@options.target_option
@options.ops_option
@options.cost_option
@options.check_option
@options.rules_option
@options.store_option
@options.json_option
def command(model: str, store: Path | None, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Say what is fused in MODEL and where, and for every near miss what stood in the way.

    Nothing is written; the last line is the command that does what is told here.
    """
    from burnish.cli.explain_tables import tables
    from burnish.cli.rewriting import chosen_options, chosen_trial
    from burnish.core import settings
    from burnish.store import layout
    from burnish.study.explain import SCHEMA, explain

    stored = layout.resolve(model, store or settings.read().store)
    report = explain(stored, chosen_options(asked), trial=chosen_trial(asked))
    output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report))
