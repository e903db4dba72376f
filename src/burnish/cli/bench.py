"""The command `burnish bench`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.again import again
from burnish.cli.progress import shown

if TYPE_CHECKING:
    from burnish.bench.measure import BenchReport


@click.command()
@click.argument("models", metavar="MODEL…", nargs=-1, required=True)
@options.engine_option
@options.shape_option
@options.data_option
@options.padding_option
@options.seed_option
@click.option("--threads", type=click.IntRange(min=1),
              help="CPU threads of every engine (default: all usable cores).")  # fmt: skip
@click.option("--precision", metavar="TYPE",
              help="Compute in f32, tf32, f16, bf16 … (default: as the model does).")  # fmt: skip
@click.option("--cuda-graph", is_flag=True, help="Replay a captured CUDA graph.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Fresh processes per subject; three are the fewest for a verdict.")  # fmt: skip
@click.option("--blocks", type=click.IntRange(min=1), default=10, show_default=True,
              help="The most blocks of calls per round.")  # fmt: skip
@options.budget_option(None, "About how long to measure (default: 30 s for each subject).")
@click.option("--baseline", metavar="SUBJECT",
              help="What all others are compared with: a model, an engine, or MODEL@ENGINE "
              "(default: the first).")  # fmt: skip
@click.option("--no-verify", is_flag=True, help="Do not check that all compute the same.")
@options.fallback_option
@options.trust_option
@options.store_option
@options.output_option(required=False, text="Save the report, with every sample, as JSON.")
@options.json_option
def command(target: Path | None, as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (one per option)
    """Measure each MODEL on each engine: how fast, how sure, and whether it is right.

    All subjects get the same inputs and threads, and take turns in fresh processes; each is
    compared with the baseline. Without --engine, every engine that can run the model is used.
    """
    from burnish.bench.measure import SCHEMA
    from burnish.bench.verdict import require_sound
    from burnish.cli.bench_tables import tables
    from burnish.core import files, records

    report = _measured(asked)
    if target is not None:
        files.write_text(target, records.text_of(records.document(report, schema=SCHEMA)))
    output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report))
    require_sound(report)


def _measured(asked: dict[str, Any]) -> BenchReport:
    from burnish.bench import choose
    from burnish.bench.run import bench
    from burnish.bench.subject import BenchOptions
    from burnish.cli.models import resolved
    from burnish.engines.base import EngineOptions
    from burnish.feeds.choose import choose as choose_feeds
    from burnish.process.child import answer_limit_s
    from burnish.study.judge import judge_of

    models = resolved(asked["models"], asked)
    same = {name: asked[name] for name in ("threads", "precision", "cuda_graph", "allow_fallback")}
    engines = options.names(asked["engines"])
    subjects = choose.subjects(models, engines, EngineOptions(**same))
    baseline = choose.baseline(subjects, asked["baseline"])
    plan = BenchOptions(
        rounds=asked["rounds"], blocks=asked["blocks"], baseline=baseline, seed=asked["seed"],
        budget_s=asked["budget"] or 30 * len(subjects),
        limit_s=answer_limit_s(asked["budget"], BenchOptions().limit_s),
    )  # fmt: skip
    made = {name: asked[name] for name in ("data", "seed", "padding")}
    feeds = choose_feeds(models[0], bindings=options.bindings(asked["shape"]), **made)[0]
    rerun = again(click.get_current_context())
    with shown() as progress:
        judge = None if asked["no_verify"] else judge_of(subjects, baseline, feeds)
        report = bench(subjects, feeds, plan, judge=judge, rerun=rerun, progress=progress)
    notes = (*choose.left_out(models, engines, rerun), *report.notes)
    return dataclasses.replace(report, notes=notes)
