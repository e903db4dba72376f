"""The command `burnish distill`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.core import units

if TYPE_CHECKING:
    from burnish.study.distill import DistillReport


@click.command()
@options.model_argument
@click.option("--function", metavar="NAME", help="Cut out calls of functions with this name.")
@click.option("--pattern", metavar="RULE", help="Cut out what this fusion rule finds.")
@click.option("--failing", is_flag=True, help="Cut out where the rule refused, instead.")
@click.option("--max", "most", type=click.IntRange(min=1), default=4, show_default=True,
              help="How many different ones to write.")  # fmt: skip
@options.output_option(required=True, text="The folder to write them into.", of="folder")
@options.shape_option
@options.data_option
@options.seed_option
@options.rules_option
@options.store_option
@options.json_option
def command(model: str, target: Path, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Cut parts of MODEL out as small models, each with recorded inputs and outputs.

    Beside them lies a test that rewrites each and checks that it computes the same.
    """
    from burnish.core import settings
    from burnish.rewrite.user_rules import load
    from burnish.store import layout
    from burnish.study.distill import SCHEMA, DistillRequest, distill

    stored = layout.resolve(model, asked["store"] or settings.read().store)
    same = {key: asked[key] for key in ("function", "pattern", "failing", "most", "seed", "data")}
    rules = tuple(rule for path in asked["rules"] for rule in load(path))
    bindings = options.bindings(asked["shape"])
    report = distill(stored, DistillRequest(target, bindings=bindings, rules=rules, **same))
    output.result(report, schema=SCHEMA, as_json=as_json, shown=_shown(report))


def _shown(report: DistillReport) -> list[output.Table | str]:
    rows = [
        (piece.name, f"{piece.nodes}", f"{piece.copies}", piece.node, piece.reason)
        for piece in report.pieces
    ]
    columns = ("model", "nodes", "copies", "cut out at", "why it was not fused")
    title = f"{len(rows)} different of {units.count(report.found, 'place')} in {report.model}"
    table = output.Table(title, columns, rows, right=frozenset({"nodes", "copies"}))
    return [table, f"try them: pytest {report.test_file}"]
