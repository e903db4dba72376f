"""The command `burnish export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown
from burnish.core.errors import UsageError

if TYPE_CHECKING:
    from burnish.study.export import ExportPlan
    from burnish.zoo.entry import Precision
    from burnish.zoo.exporting.request import ExportRequest


@click.command()
@click.argument("source", metavar="[NAME | FOLDER]", required=False)
@click.option("--module", metavar="SPEC", help="A function that returns (module, inputs) or "
              "(module, inputs, axes): package.module:function or file.py:function.")  # fmt: skip
@click.option("--exporter", type=click.Choice(["dynamo", "torchscript"]), default="dynamo",
              show_default=True, help="Which of PyTorch's two exporters.")  # fmt: skip
@click.option("--opset", type=int, help="ONNX opset (default: 20 for dynamo, 17 for torchscript).")
@click.option("--batch", type=click.IntRange(min=1), help="Batch of the example inputs.")
@click.option("--sequence", type=click.IntRange(min=1),
              help="Tokens, frames or points of the example inputs.")  # fmt: skip
@click.option("--dynamic/--static", default=None,
              help="Sizes open or fixed (default: open where the model says which).")  # fmt: skip
@click.option("-p", "--precision", type=click.Choice(["fp32", "fp16", "bf16", "int8"]),
              default="fp32", show_default=True,
              help="int8: weights and activations quantised after exporting.")  # fmt: skip
@click.option("--attention", type=click.Choice(["sdpa", "eager"]), default="sdpa",
              show_default=True, help="Fused attention, or attention spelled out.")  # fmt: skip
@click.option("--layers", type=click.IntRange(min=1), help="A copy with fewer layers.")
@click.option("--small", is_flag=True, help="A copy with the same structure and tiny sizes.")
@click.option("--past", is_flag=True, help="A decoder that takes and returns keys and values.")
@click.option("--generation/--no-generation", default=True,
              help="With --past: compare 32 generated tokens.")  # fmt: skip
@click.option("--functions/--inline", default=False,
              help="Keep each module as a function of the ONNX model (dynamo only).")  # fmt: skip
@click.option("--optimize", is_flag=True, help="Rewrite it as `burnish optimize` does.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of random weights.")
@click.option("--trust-pickle", is_flag=True,
              help="Load weights that are only there as a pickle, which may run code.")  # fmt: skip
@click.option("--name", help="Name in the store (default: that of the source).")
@click.option("--variant", help="Variant in the store (default: the exporter and what differs).")
@click.option("-o", "--store", type=click.Path(path_type=Path), default=None,
              help="Store to write to (default: $BURNISH_STORE, else ./models).")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(min=1), default=600, show_default=True,
              metavar="SECONDS", help="How long exporting may take.")  # fmt: skip
@options.json_option
def command(as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (one per option)
    """Export a PyTorch model to ONNX, and check that it computes the same.

    NAME is a model of the zoo (`burnish zoo list`), FOLDER one with config.json and safetensors.
    """
    from burnish.cli.export_tables import tables
    from burnish.study.export import export
    from burnish.study.export_report import SCHEMA

    request = _request(asked)
    plan = _plan(asked, request)
    with shown() as progress:
        report = export(request, plan, progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report, plan.store))


def _request(asked: dict[str, Any]) -> ExportRequest:
    from burnish.zoo.entry import BuildOptions
    from burnish.zoo.exporting.name import source_named
    from burnish.zoo.exporting.request import ExportRequest, FactorySource

    if (asked["source"] is None) == (asked["module"] is None):
        raise UsageError(
            "what to export is one NAME, one FOLDER or one --module",
            hint="see what there is: burnish zoo list",
        )
    same = ("layers", "attention", "batch", "sequence", "past", "small", "seed")
    precision: Precision = "fp32" if asked["precision"] == "int8" else asked["precision"]
    return ExportRequest(
        source=FactorySource(asked["module"])
        if asked["module"]
        else source_named(asked["source"], trust_pickle=asked["trust_pickle"]),
        options=BuildOptions(precision=precision, **{name: asked[name] for name in same}),
        exporter=asked["exporter"],
        opset=asked["opset"],
        dynamic=asked["dynamic"],
        functions=asked["functions"],
    )


def _plan(asked: dict[str, Any], request: ExportRequest) -> ExportPlan:
    from burnish.core import settings
    from burnish.study.export import ExportPlan
    from burnish.zoo.exporting.name import default_name, default_variant

    int8, optimize = asked["precision"] == "int8", asked["optimize"]
    return ExportPlan(
        store=asked["store"] or settings.read().store,
        name=asked["name"] or default_name(asked["module"] or asked["source"]),
        variant=asked["variant"] or default_variant(request, int8=int8, optimize=optimize),
        int8=int8,
        optimize=optimize,
        generation=asked["generation"],
        time_limit_s=asked["time_limit"],
    )
