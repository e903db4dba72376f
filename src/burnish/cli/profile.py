"""The command `burnish profile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.progress import shown
from burnish.core.errors import UsageError

if TYPE_CHECKING:
    from burnish.analyze.profile import ProfileReport
    from burnish.core.progress import Progress
    from burnish.study.profiling import ProfileRequest
    from burnish.trace.events import Trace


@click.command()
@click.argument("models", metavar="MODEL|TRACE…", nargs=-1, required=True)
@options.engine_option
@options.shape_option
@options.data_option
@options.seed_option
@options.padding_option
@options.threads_option
@options.fallback_option
@options.trust_option
@options.store_option
@click.option("--trace", type=click.Path(path_type=Path), default=None,
              help="Read this recording of MODEL instead of making one: of ONNX Runtime, PyTorch, "
              "Nsight Systems (SQLite) or TensorRT.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=10, show_default=True,
              help="Inferences to record.")  # fmt: skip
@click.option("--warmup", type=click.IntRange(min=0), default=3, show_default=True,
              help="Inferences to run before these.")  # fmt: skip
@click.option("--by", type=click.Choice(["operator", "node", "layer", "kernel", "ran"]),
              default="operator", show_default=True,
              help="What a row is; `node`: of the model, `ran`: of the engine.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True,
              help="Rows to show; --json always has all.")  # fmt: skip
@click.option("--threshold", metavar="PERCENT", type=click.FloatRange(0, 100), default=0.0,
              help="Show only rows with at least this share of the time.")  # fmt: skip
@click.option("--kernel-time-only", is_flag=True,
              help="Leave out the time in which nothing ran.")  # fmt: skip
@click.option("--groups", type=click.Path(path_type=Path), multiple=True,
              help="Which nodes one kernel performs: TOML, or Amdahl4ML's XML.")  # fmt: skip
@click.option("--trace-out", type=click.Path(path_type=Path), default=None,
              callback=options.writable,
              help="Write the timeline, for ui.perfetto.dev or chrome://tracing.")  # fmt: skip
@options.json_option
def command(models: tuple[str, ...], as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Say where the time goes: by operator, node, layer or kernel.

    A TRACE is looked at as it is: kernels, operators, and modules as layers; a folder of them as
    the ranks of one run, of which the slowest is broken down. With several models,
    engines or traces, the last is set against the first, row by row.
    """
    from burnish.analyze.profile import SCHEMA
    from burnish.cli.profile_tables import Shown, tables
    from burnish.core import files
    from burnish.trace import chrome

    with shown() as progress:
        found, traces = _profiled(models, asked, progress)
    if asked["trace_out"]:
        files.write_text(asked["trace_out"], chrome.text(traces[0]))
    how = Shown(asked["by"], asked["top"], asked["threshold"] / 100, asked["kernel_time_only"])
    output.result(found, schema=SCHEMA, as_json=as_json, shown=tables(found, how))


def _profiled(
    names: tuple[str, ...], asked: dict[str, Any], progress: Progress
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    from burnish.study.profiling import distributed, is_ranks, is_timeline, profiles, timelines

    if len(names) == 1 and is_ranks(names[0]):
        return distributed(Path(names[0]), _request((), asked), progress=progress)
    recorded = [Path(name) for name in names if is_timeline(name)]
    if recorded and len(recorded) < len(names):
        raise UsageError(
            f"{recorded[0]} is a recording, and not all of {', '.join(names)} are",
            hint=f"burnish profile MODEL --trace {recorded[0]}; or recordings alone",
        )
    request = _request(() if recorded else names, asked)
    wanted = len(recorded) or len(request.models) * len(request.engines)
    if asked["trace_out"] and wanted > 1:
        raise UsageError(
            f"--trace-out takes one timeline, and {wanted} were asked for",
            hint="give one MODEL and one --engine",
        )
    if recorded:
        return timelines(recorded, request, progress=progress)
    return profiles(request, progress=progress)


def _request(names: tuple[str, ...], asked: dict[str, Any]) -> ProfileRequest:
    from burnish.cli.models import resolved
    from burnish.core import settings
    from burnish.engines.base import EngineOptions
    from burnish.engines.recording import Repeats
    from burnish.study.profiling import ProfileRequest

    return ProfileRequest(
        models=resolved(names, asked),
        engines=options.names(asked["engines"]) or ("onnxruntime-cpu",),
        trace=asked["trace"],
        groups=asked["groups"],
        engine=EngineOptions(threads=asked["threads"], allow_fallback=asked["allow_fallback"]),
        repeats=Repeats(asked["warmup"], asked["runs"]),
        data=asked["data"],
        bindings=options.bindings(asked["shape"]),
        seed=asked["seed"],
        padding=asked["padding"],
        cache=settings.read().cache,
    )
