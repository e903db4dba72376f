"""The command `burnish compile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown

if TYPE_CHECKING:
    from burnish.study.compile import CompileRequest


@click.command()
@options.model_argument
@options.output_option(required=True, text="The folder to write.", of="folder")
@click.option("--shape", "shape", metavar="NAME=SIZE,…", multiple=True,
              help="Sizes to compile for; several give several plans in one folder.")  # fmt: skip
@click.option("--fusion", type=click.Choice(["none", "element-wise", "full"]), default="full",
              show_default=True, help="How much work one kernel may do.")  # fmt: skip
@click.option("--skip-dot", is_flag=True, help="Leave matrix products to ONNX Runtime.")
@click.option("--tune/--no-tune", default=True, show_default=True,
              help="Time candidates of each kernel, and ONNX Runtime, and keep what is faster; "
              "without: what the cost model predicts.")  # fmt: skip
@click.option("--topk", type=click.IntRange(min=1), default=20, show_default=True,
              help="Candidates of each kernel to time.")  # fmt: skip
@options.budget_option("60s", "How long tuning may take; 0: no limit.")
@options.threads_option
@click.option("--samples", type=click.IntRange(min=1), default=3, show_default=True,
              help="Made inputs for each shape to prove the result with.")  # fmt: skip
@options.seed_option
@click.option("--dump", type=click.Path(path_type=Path), metavar="DIR", callback=options.room,
              help="Write what each step gave, and each kernel with its nodes, tiles, times, "
              "source and assembly.")  # fmt: skip
@click.option("--sign", type=click.Path(path_type=Path), metavar="KEY",
              help="Sign the folder with an Ed25519 key in PEM form.")  # fmt: skip
@options.store_option
@options.json_option
def command(model: str, target: Path, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Compile MODEL into a folder of kernels that runs by itself.

    What kernels do not cover stays with ONNX Runtime, and is listed. The result is compared with
    MODEL before it is written; what does not compute the same is not written.
    """
    from burnish.cli.compile_tables import tables
    from burnish.study.compile import compile_model
    from burnish.study.compile_report import SCHEMA

    with shown() as progress:
        report = compile_model(_request(model, target, asked), progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report))


def _request(model: str, target: Path, asked: dict[str, Any]) -> CompileRequest:
    from burnish.core import settings
    from burnish.store import layout
    from burnish.study.compile import CompileRequest
    from burnish.study.tuning import TuneTerms

    tune = TuneTerms(asked["topk"], asked["budget"] or None) if asked["tune"] else None
    words = [] if asked["fusion"] == "full" else [f"--fusion {asked['fusion']}"]
    words += ["--skip-dot"] if asked["skip_dot"] else []
    words += [] if asked["tune"] else ["--no-tune"]
    words += [f"--threads {asked['threads']}"] if asked["threads"] else []
    return CompileRequest(
        model=layout.resolve(model, asked["store"] or settings.read().store),
        target=target,
        shapes=tuple(options.bindings((shape,)) for shape in asked["shape"]),
        tune=tune,
        dump=asked["dump"],
        sign=asked["sign"],
        words=tuple(words),
        **{name: asked[name] for name in ("fusion", "skip_dot", "threads", "samples", "seed")},
    )
