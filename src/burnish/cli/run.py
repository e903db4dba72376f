"""The command `burnish run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from burnish.cli import options, output
from burnish.cli.again import again
from burnish.cli.progress import shown
from burnish.core.errors import CheckFailedError

if TYPE_CHECKING:
    from burnish.report.record import RunReport
    from burnish.study.run import RunOptions


@click.command()
@options.model_argument
@options.output_option(
    required=True, text="Folder for report.html, result.json and the model.", of="folder"
)
@options.engine_option
@options.shape_option
@options.data_option
@options.seed_option
@options.padding_option
@options.threads_option
@click.option("--samples", type=click.IntRange(min=1), default=3, show_default=True,
              help="Made inputs to verify with, which differ in seed and padding.")  # fmt: skip
@click.option("--disable", metavar="NAME,…", multiple=True, help="Fusions and steps to leave out.")
@options.target_option
@options.ops_option
@options.cost_option
@options.check_option
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Fresh processes per subject; three are the fewest for a verdict.")  # fmt: skip
@options.budget_option(None, "About how long to measure (default: 20 s for each subject).")
@options.fallback_option
@options.trust_option
@options.store_option
@options.json_option
def command(model: str, target: Path, as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (one per option)
    """Optimise MODEL, prove it, measure it, profile it, and write a report.

    An interrupted run goes on where it stopped when the same command is given again. If only
    engines on GPUs are asked for, the model is rewritten for them.
    """
    from burnish.cli.models import resolved
    from burnish.cli.run_tables import shown_report
    from burnish.report.record import SCHEMA
    from burnish.study.run import run

    (stored,) = resolved([model], asked)
    rerun = again(click.get_current_context())
    with shown() as progress:
        report = run(stored, target, _options(asked), command=rerun, progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=shown_report(report, target))
    _require_sound(report, target)


def _options(asked: dict[str, Any]) -> RunOptions:
    from burnish.bench.subject import BenchOptions
    from burnish.cli.rewriting import chosen_options
    from burnish.engines.base import EngineOptions
    from burnish.study.run import RunOptions

    same = {name: asked[name] for name in ("data", "seed", "padding", "samples")}
    engines = options.names(asked["engines"])
    if _only_on_gpus(engines) and not _given("target_device"):
        asked = {**asked, "target_device": "cuda"}
    return RunOptions(
        engines=engines,
        bindings=options.bindings(asked["shape"]),
        engine=EngineOptions(threads=asked["threads"], allow_fallback=asked["allow_fallback"]),
        optimize=chosen_options(asked),
        check=asked["check"],
        bench=BenchOptions(rounds=asked["rounds"]),
        budget_s=asked["budget"],
        **same,
    )


def _only_on_gpus(engines: tuple[str, ...]) -> bool:
    return bool(engines) and set(engines) <= {"onnxruntime-cuda", "tensorrt"}


def _given(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


def _require_sound(report: RunReport, folder: Path) -> None:
    from burnish.bench.verdict import require_sound
    from burnish.parity.verdict import verdict

    if not report.parity.passed:
        raise CheckFailedError(
            f"the rewritten model was rejected: {verdict(report.parity)}",
            hint=f"see {folder / report.files['report']} for the node and the rule",
        )
    require_sound(report.bench)
