"""The command `burnish graph`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown

if TYPE_CHECKING:
    from burnish.report.graph.picture import Picture

VIEWS = ("auto", "full", "simple", "modules", "kernels")


@click.command()
@options.model_argument
@click.option("-o", "--output", "targets", type=click.Path(path_type=Path), multiple=True,
              callback=options.writable, required=True,
              help="File to write, several times if wanted: .svg, .html "
              "(interactive), .csv, .md, .json, .model-explorer.json, .node-data.json, "
              ".netron.json, .perfetto.json.")  # fmt: skip
@click.option(
    "--engine", default=None, metavar="NAME", help="Record the times now, on this engine."
)
@click.option("--trace", type=click.Path(path_type=Path), default=None,
              help="Take the times from a trace file.")  # fmt: skip
@click.option("--view", type=click.Choice(VIEWS), default="auto", show_default=True,
              help="Every node; without constants and sizes; by module; by kernel.")  # fmt: skip
@click.option("--left-to-right", is_flag=True, help="Draw from left to right, not top-down.")
@click.option("--scale", metavar="WHAT=FACTOR", multiple=True,
              help="Show also what WHAT being FACTOR times faster gives.")  # fmt: skip
@click.option("--scenario", type=click.Path(path_type=Path), default=None,
              help="Show also what the first scenario of a file gives.")  # fmt: skip
@click.option("--hw", default=None, metavar="DEVICE", help="The device whose limits are drawn.")
@click.option("--groups", multiple=True, type=click.Path(path_type=Path),
              help="Kernel groups of your own: TOML, or Amdahl4ML's XML.")  # fmt: skip
@options.shape_option
@options.data_option
@options.seed_option
@options.padding_option
@options.threads_option
@options.fallback_option
@options.trust_option
@options.store_option
@options.json_option
def command(model: str, targets: tuple[Path, ...], as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Draw MODEL's graph, with the time of its nodes where --engine or --trace tells it.

    Colours say how much of the time a box takes, a blue line is the longest chain if parallel
    branches ran at the same time.
    """
    from burnish.cli.graph_tables import lines
    from burnish.report.exports.by_suffix import Look, writer_for
    from burnish.report.graph.written import SCHEMA
    from burnish.study.draw import draw

    for target in targets:
        writer_for(target)
    with shown() as progress:
        picture = _picture(model, asked)
        progress.step("graph", 1, 2, f"{len(picture.graph.nodes)} nodes")
        report = draw(picture, targets, Look(asked["view"], asked["left_to_right"]))
        progress.step("graph", 2, 2, ", ".join(path.name for path in targets))
    output.result(report, schema=SCHEMA, as_json=as_json, shown=lines(report))


def _picture(model: str, asked: dict[str, Any]) -> Picture:
    from burnish.cli.models import resolved
    from burnish.core import settings
    from burnish.engines.base import EngineOptions
    from burnish.study.picture import change_of, picture
    from burnish.study.timeline import TimelineRequest

    request = TimelineRequest(
        model=resolved([model], asked)[0],
        options=EngineOptions(threads=asked["threads"], allow_fallback=asked["allow_fallback"]),
        bindings=options.bindings(asked["shape"]),
        data=asked["data"],
        seed=asked["seed"],
        padding=asked["padding"],
        hw=asked["hw"],
        cache=settings.read().cache,
        groups=asked["groups"],
    )
    change = change_of(asked["scale"], asked["scenario"])
    return picture(request, engine=asked["engine"], trace=asked["trace"], change=change)
