"""The command `burnish whatif`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown


@click.command()
@click.argument("target", metavar="MODEL|TRACE")
@click.option("--model", metavar="MODEL", default=None,
              help="The model that a TRACE was recorded of.")  # fmt: skip
@click.option("--scale", multiple=True, metavar="WHAT=FACTOR", help="Make WHAT so much faster.")
@click.option("--set", multiple=True, metavar="WHAT=TIME", help="Let each of WHAT take 20us, 1ms …")
@click.option("--remove", multiple=True, metavar="WHAT,…", help="Leave it out.")
@click.option("--fuse", multiple=True, metavar="WHAT,…", help="Do all of it as one.")
@click.option("--apply", "rules", multiple=True, metavar="RULE",
              help="Do what a fusion rule of burnish optimize would do.")  # fmt: skip
@click.option("--precision", multiple=True, metavar="WHAT=TYPE", help="Compute in i8, f16, bf16 …")
@click.option("--roofline", multiple=True, metavar="WHAT=PART",
              help="Raise it to 80% of the device's limit.")  # fmt: skip
@click.option("--batch", type=click.IntRange(min=1), default=None, help="Another batch size.")
@click.option("--overlap", is_flag=True, help="Let independent work run at the same time.")
@click.option("--cuda-graph", is_flag=True, help="Launch everything at once.")
@click.option("--scenario", "files", multiple=True, type=click.Path(path_type=Path),
              help="Scenarios in TOML or JSON, or a speedups.json of Amdahl4ML.")  # fmt: skip
@click.option(
    "--sweep", is_flag=True, help="The gain of every operator for 1.5×, 2×, its limit, ∞."
)
@click.option("--check", is_flag=True, help="Make the changes where possible, and measure them.")
@click.option("--graph-level", type=click.Choice(["off", "basic", "extended", "all"]),
              default="all", show_default=True,
              help="What the engine itself may rewrite.")  # fmt: skip
@options.hw_option
@click.option("--groups", multiple=True, type=click.Path(path_type=Path),
              help="Kernel groups of your own: TOML, or Amdahl4ML's XML.")  # fmt: skip
@click.option("--trace-out", type=click.Path(path_type=Path), default=None,
              callback=options.writable,
              help="Write the timeline after the first scenario, for ui.perfetto.dev.")  # fmt: skip
@click.option("--engine", default="onnxruntime-cpu", show_default=True)
@options.shape_option
@options.data_option
@options.seed_option
@options.padding_option
@options.threads_option
@options.trust_option
@options.store_option
@options.json_option
def command(target: str, as_json: bool, sweep: bool, check: bool, **asked: Any) -> None:  # noqa: ANN401
    """Say what would happen to the latency if parts of a model were faster, fewer or fused.

    All changes in one command are made together; a file may hold several scenarios. WHAT is a
    node's name, an operator, a glob, or one of op:Softmax, name:…, re:…, kernel:…, layer:…,
    pattern:MatMul>Add, top:3, id:7.
    """
    from burnish.analyze.whatif import SCHEMA
    from burnish.cli.whatif_request import request_of
    from burnish.cli.whatif_tables import tables
    from burnish.study.whatif import require_checked, whatif

    request = request_of(target, asked, sweep=sweep, check=check)
    with shown() as progress:
        report = whatif(request, progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report))
    if check:
        require_checked(report)
