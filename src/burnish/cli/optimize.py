"""The command `burnish optimize`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown

if TYPE_CHECKING:
    from burnish.store.stored import StoredModel
    from burnish.study.optimize import OptimizeReport


@click.command()
@options.model_argument
@options.output_option(required=False, text="The ONNX file to write (default for a model in the "
                       "store: its variant <variant>_optimized).")  # fmt: skip
@click.option("--disable", metavar="NAME,…", multiple=True, help="Fusions and steps to leave out.")
@click.option("--only", metavar="NAME,…", multiple=True, help="The only fusions to apply.")
@options.target_option
@options.ops_option
@options.cost_option
@options.check_option
@options.rules_option
@click.option("--keep-functions", is_flag=True, help="Leave model-local functions as they are.")
@click.option("--keep-opset", is_flag=True, help="Never declare a newer opset.")
@click.option("-p", "--precision", type=click.Choice(["fp16"]),
              help="Compute in another type; what stays in fp32 is listed.")  # fmt: skip
@click.option("--keep-io", is_flag=True, help="With -p fp16: inputs and outputs stay fp32.")
@click.option("--keep-fp32", metavar="NAME,…", multiple=True,
              help="With -p fp16: operators and nodes that stay in fp32.")  # fmt: skip
@click.option("--int32-inputs", is_flag=True, help="Take int32 wherever the model takes int64.")
@click.option("--rename-axis", metavar="OLD=NEW,…", multiple=True,
              help="Rename axes of inputs; those of one name are then known to be equally "
                   "long.")  # fmt: skip
@click.option("--verify/--no-verify", default=True, show_default=True,
              help="Write the result only if it computes the same.")  # fmt: skip
@click.option("--samples", type=click.IntRange(min=1), default=3, show_default=True,
              help="Made inputs to verify with, which differ in seed and padding.")  # fmt: skip
@options.budget_option("15s", "How long to verify beyond that; 0: not at all.")
@options.shape_option
@options.data_option
@options.seed_option
@options.padding_option
@click.option("--dump", type=click.Path(path_type=Path), metavar="DIR", callback=options.room,
              help="Write the model as text after every step that changed it.")  # fmt: skip
@options.store_option
@options.json_option
def command(model: str, target: Path | None, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Rewrite MODEL into a faster one that computes the same.

    The result is compared with the original before it is written; what does not compute the
    same is not written.
    """
    from burnish.cli.optimize_tables import tables
    from burnish.cli.rewriting import chosen_conversion, variant_suffix
    from burnish.core import files, settings
    from burnish.store import layout, onnx_files
    from burnish.study.optimize import SCHEMA, RejectedError
    from burnish.study.variant import share_data_sets, target_of

    stored = layout.resolve(model, asked["store"] or settings.read().store)
    conversion = chosen_conversion(asked)
    place = target or target_of(stored, variant_suffix(conversion))
    files.check_file(place, None if target else onnx_files.OWN)
    try:
        report = _optimized(stored, place, asked)
    except RejectedError as error:
        report = error.report
        output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report))
        raise
    if target is None and not conversion.changes_types:
        share_data_sets(stored, place)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report))


def _optimized(model: StoredModel, target: Path, asked: dict[str, Any]) -> OptimizeReport:
    from burnish.cli.rewriting import chosen_options, chosen_trial
    from burnish.parity.request import VerifyRequest
    from burnish.study.optimize import optimize_file

    same = {name: asked[name] for name in ("samples", "seed", "padding", "data")}
    shapes = tuple(options.bindings((shape,)) for shape in asked["shape"])
    request = None
    if asked["verify"]:
        request = VerifyRequest(model, shapes=shapes, budget_s=asked["budget"], **same)
    trial = chosen_trial(asked)
    with shown() as progress:
        return optimize_file(
            model, target, chosen_options(asked), request=request, trial=trial, progress=progress
        )
