"""The command `burnish profile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown
from burnish.core.errors import UsageError

if TYPE_CHECKING:
    from burnish.analyze.profile import Profile, Repeats
    from burnish.store.stored import StoredModel


@click.command()
@click.argument("models", metavar="MODEL…", nargs=-1, required=True)
@options.engine_option
@options.shape_option
@options.data_option
@options.seed_option
@options.padding_option
@options.threads_option
@options.fallback_option
@options.store_option
@click.option("--runs", type=click.IntRange(min=1), default=10, show_default=True,
              help="Inferences to record.")  # fmt: skip
@click.option("--warmup", type=click.IntRange(min=0), default=3, show_default=True,
              help="Inferences to run before these.")  # fmt: skip
@click.option("--by", type=click.Choice(["operator", "node"]), default="operator",
              show_default=True, help="What a row of the table is.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True,
              help="Rows to show; --json always has all.")  # fmt: skip
@click.option("--trace-out", type=click.Path(path_type=Path), default=None,
              help="Write the timeline, for ui.perfetto.dev or chrome://tracing.")  # fmt: skip
@options.json_option
def command(models: tuple[str, ...], by: str, top: int, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Say where the time goes, by operator or by node.

    With several models or engines, the last is set against the first, row by row.
    """
    from burnish.analyze.profile import SCHEMA, Repeats, report
    from burnish.cli.profile_tables import tables
    from burnish.core import settings
    from burnish.store import layout

    store = asked["store"] or settings.read().store
    engines = options.names(asked["engines"]) or ("onnxruntime-cpu",)
    subjects = [(layout.resolve(model, store), engine) for model in models for engine in engines]
    if asked["trace_out"] and len(subjects) > 1:
        raise UsageError(
            f"--trace-out takes one timeline, and {len(subjects)} were asked for",
            hint="give one MODEL and one --engine",
        )
    repeats = Repeats(asked["warmup"], asked["runs"])
    profiles = []
    with shown() as progress:
        for done, (model, engine) in enumerate(subjects, 1):
            profiles.append(_profile(model, engine, repeats, asked))
            progress.step("profile", done, len(subjects), f"{model.label} on {engine}")
    found = report(tuple(profiles))
    output.result(found, schema=SCHEMA, as_json=as_json, shown=tables(found, by=by, top=top))


def _profile(model: StoredModel, engine: str, repeats: Repeats, asked: dict[str, Any]) -> Profile:
    from burnish.analyze.profile import Subject, profile
    from burnish.core import files
    from burnish.engines.base import ENGINES, EngineOptions
    from burnish.feeds.choose import choose
    from burnish.store import onnx_files
    from burnish.trace import chrome

    feeds, *_ = choose(
        model,
        data=asked["data"],
        bindings=options.bindings(asked["shape"]),
        seed=asked["seed"],
        padding=asked["padding"],
    )
    nodes = frozenset(node.name or "" for node in onnx_files.read(model.onnx).graph.all_nodes())
    wanted = EngineOptions(threads=asked["threads"], allow_fallback=asked["allow_fallback"])
    with ENGINES[engine].open(model, wanted) as session:
        subject = Subject(model.label, engine, nodes)
        found, trace = profile(session, feeds.arrays, subject, repeats=repeats)
    if asked["trace_out"]:
        files.write_text(asked["trace_out"], chrome.text(trace))
    return found
