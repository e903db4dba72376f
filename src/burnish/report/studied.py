"""What a study shows of its measurements: plots, and tables in other tools' columns."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from burnish.bench.figures import figures_in, figures_of
from burnish.bench.measure import GENERATE, BenchReport, Comparison, Measurement, Verdict
from burnish.core import units
from burnish.core.precisions import precision_named
from burnish.report.charts import curves, speed_ups
from burnish.report.matrix import engine_of, is_a_sum, length_of, sizes_of
from burnish.report.overall import model_of, models_of
from burnish.report.verdict import SAYS_NOTHING

_ODD = re.compile(r"[^\w.-]+")
"""What a file's name should not have."""
DETAIL = (
    "engine", "version", "providers", "device", "precision", "optimizer", "io_binding",
    "model_name", "inputs", "threads", "batch_size", "sequence_length", "custom_layer_num",
    "datetime", "test_times", "QPS", "average_latency_ms", "latency_variance",
    "latency_90_percentile", "latency_95_percentile", "latency_99_percentile",
)  # fmt: skip
"""The columns of onnxruntime.transformers' benchmark.py, in its order."""
_HEAD = (
    "model_name", "inputs", "custom_layer_num", "engine", "version", "providers", "device",
    "precision", "optimizer", "io_binding", "threads",
)  # fmt: skip
"""What its summary has before one column for each size."""
_SERIES = {Verdict.FASTER: "good", Verdict.SLOWER: "bad"}
"""How bars look of which a verdict says something."""
_PACKAGES = {"openvino": "openvino", "torch": "torch", "tensorrt": "tensorrt", "burnish": "burnish"}


_Kind = tuple[str, str]
"""What has a colour: an engine, and the type."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing, and the name of the file that it belongs into."""

    name: str
    svg: str


def plots(bench: BenchReport, axes: Sequence[str]) -> tuple[Plot, ...]:
    """Return latency and throughput against each axis, model by model, and the speed-ups.

    An engine has the same colour in all of them. What is wrong is not drawn.
    """
    models = models_of(bench)
    kinds = list(dict.fromkeys(map(_kind, bench.measurements)))
    found = [
        plot
        for axis in axes
        for model in models
        for plot in _of_model(bench, axis, model, kinds, several=len(models) > 1)
    ]
    return tuple(plot for plot in (*found, _speed_ups(bench)) if plot is not None)


def _of_model(
    bench: BenchReport, axis: str, model: str, kinds: Sequence[_Kind], *, several: bool
) -> tuple[Plot | None, Plot | None]:
    """Return one model's drawings; models differ too much in size for one drawing of them all."""
    rows = tuple(one for one in bench.measurements if model_of(bench, one) == model)
    own = dataclasses.replace(bench, measurements=rows)
    name = model if several else ""
    return (
        _against(own, axis, "latency", _latency, units.seconds, name, kinds),
        _against(own, axis, "throughput", _rate, _per_second, name, kinds),
    )


def detail_csv(bench: BenchReport, optimized: Mapping[str, str]) -> str:
    """Return one row per cell in the columns of onnxruntime.transformers' detail file.

    `optimized` says of each model's name by what it was rewritten. What cannot be had is empty.
    """
    rows = [_detail(bench, one, optimized) for one in bench.measurements if _is_a_run(one)]
    return _text(DETAIL, rows)


def result_csv(bench: BenchReport, optimized: Mapping[str, str]) -> str:
    """Return one row per subject with its mean latency in ms at each size, as that tool does."""
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    sizes: dict[str, None] = {}
    for one in filter(_is_a_run, bench.measurements):
        row = _detail(bench, one, optimized)
        size = f"b{row['batch_size']}" + (
            f"_s{row['sequence_length']}" if row["sequence_length"] != "" else ""
        )
        sizes[size] = None
        head = {name: row[name] for name in _HEAD}
        rows.setdefault(tuple(head.values()), head)[size] = row["average_latency_ms"]
    return _text((*_HEAD, *sizes), list(rows.values()))


def fusion_csv(
    counts: Mapping[str, Mapping[str, int]], versions: Mapping[str, str], date: str
) -> str:
    """Return how often each fusion was made in each model."""
    names = tuple(dict.fromkeys(name for found in counts.values() for name in found))
    head = ("model_filename", "datetime", "transformers", "torch", *names)
    rows = [
        {
            "model_filename": model,
            "datetime": date,
            "transformers": versions.get("transformers", ""),
            "torch": versions.get("torch", ""),
            **{name: found.get(name, 0) for name in names},
        }
        for model, found in counts.items()
    ]
    return _text(head, rows)


def _text(head: Sequence[str], rows: Sequence[Mapping[str, object]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, head, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _detail(
    bench: BenchReport, one: Measurement, optimized: Mapping[str, str]
) -> dict[str, object]:
    figures, samples = figures_of(one), one.samples_s
    placed = one.placement
    package = _PACKAGES.get(one.engine.partition("-")[0], "onnxruntime")
    return {
        "engine": engine_of(one),
        "version": bench.machine.versions.get(package, ""),
        "providers": " ".join(placed.nodes_by_provider) if placed else "",
        "device": placed.device if placed else "",
        "precision": precision_named(one.precision or (placed.precision if placed else "")),
        "optimizer": optimized.get(one.model, ""),
        "io_binding": True,
        "model_name": one.model,
        "inputs": "",
        "threads": one.options.get("threads"),
        "batch_size": one.batch,
        "sequence_length": _length(one),
        "custom_layer_num": "",
        "datetime": one.measured_at,
        "test_times": len(samples),
        "QPS": f"{one.items_per_call / statistics.fmean(samples):.2f}",
        "average_latency_ms": f"{1e3 * statistics.fmean(samples):.4f}",
        "latency_variance": f"{1e6 * statistics.pvariance(samples):.4f}",
        "latency_90_percentile": _ms(figures.p90_s),
        "latency_95_percentile": _ms(figures.p95_s),
        "latency_99_percentile": _ms(figures.p99_s),
    }


def _is_a_run(one: Measurement) -> bool:
    """Return whether a row has what that tool measures: single runs, not whole texts."""
    return bool(one.blocks) and not one.bindings.get(GENERATE)


def _ms(value_s: float | None) -> str:
    return "" if value_s is None else f"{1e3 * value_s:.4f}"


def _length(one: Measurement) -> int | str:
    found = (size for name, size in one.bindings.items() if "seq" in name.lower())
    return next(found, "")


def _axis_size(one: Measurement, axis: str) -> int | None:
    if axis == "batch":
        return one.batch
    return length_of(one, past=axis == "past")


def _against(  # noqa: PLR0913, PLR0917  (each is a choice of its own)
    bench: BenchReport,
    axis: str,
    what: str,
    value: Callable[[BenchReport, Measurement], tuple[float, float, float]],
    written: Callable[[float], str],
    model: str,
    kinds: Sequence[_Kind],
) -> Plot | None:
    """Return a drawing of one figure against one size; None: that size does not vary."""
    lines: dict[str, dict[int, curves.CurvePoint]] = {}
    kind_of: dict[str, _Kind] = {}
    for one in bench.measurements:
        size = _axis_size(one, axis)
        if one.blocks and one.status != "wrong" and size is not None:
            label = _apart(one, axis)
            kind_of[label] = _kind(one)
            lines.setdefault(label, {})[size] = curves.CurvePoint(size, *value(bench, one))
    if len({size for points in lines.values() for size in points}) < 2:
        return None
    title = f"{what} against {axis}, medians with 95 % intervals"
    name = "-".join(filter(None, (what, axis, _ODD.sub("-", model))))
    told = f"{model}: {title}" if model else title
    drawn = _coloured(lines, kind_of, kinds)
    return Plot(name, curves.chart(drawn, title=told, axis=axis, written=written))


def _coloured(
    lines: Mapping[str, Mapping[int, curves.CurvePoint]],
    kind_of: Mapping[str, _Kind],
    kinds: Sequence[_Kind],
) -> list[curves.Curve]:
    """Return lines in the colours of what they are; where all are alike, each in one of its own."""
    seen: Counter[_Kind] = Counter()
    drawn = []
    for number, (label, points) in enumerate(lines.items()):
        kind = kind_of[label]
        colour, dash = (kinds.index(kind), seen[kind]) if len(kinds) > 1 else (number, 0)
        seen[kind] += 1
        ordered = tuple(points[size] for size in sorted(points))
        drawn.append(curves.Curve(label, ordered, colour, dash))
    return drawn


def _kind(one: Measurement) -> _Kind:
    return engine_of(one), one.precision


def _apart(one: Measurement, axis: str) -> str:
    """Return what tells a line from others: everything but the size on the axis."""
    sizes = [
        f"{name}={size}"
        for name, size in one.bindings.items()
        if size != _axis_size(one, axis) or (axis == "batch") != ("batch" in name.lower())
        if not is_a_sum(one, name)
    ]
    facts = (one.model or one.subject, engine_of(one), precision_named(one.precision), *sizes)
    return " ".join(filter(None, facts))


def _latency(bench: BenchReport, one: Measurement) -> tuple[float, float, float]:
    found = figures_in(bench, one)
    assert found.median_s is not None
    assert found.low_s is not None
    assert found.high_s is not None
    if found.high_s > SAYS_NOTHING * found.low_s:  # it would press everything else flat
        return found.median_s, found.median_s, found.median_s
    return found.median_s, found.low_s, found.high_s


def _rate(bench: BenchReport, one: Measurement) -> tuple[float, float, float]:
    median, low, high = _latency(bench, one)
    return one.items_per_call / median, one.items_per_call / high, one.items_per_call / low


def _per_second(value: float) -> str:
    return f"{units.significant(value)}/s"


def _speed_ups(bench: BenchReport) -> Plot | None:
    drawn = [
        speed_up for one in bench.comparisons if (speed_up := _speed_up(bench, one)) is not None
    ]
    if not drawn:
        return None
    title = "speed-up over the baseline of the same size and type, with its interval"
    return Plot("speed-up", speed_ups.chart(drawn, title=title))


def _speed_up(bench: BenchReport, one: Comparison) -> speed_ups.SpeedUp | None:
    """Return a bar under the name of its baseline; what is wrong or has no interval has none."""
    if one.ratio is None or one.low is None or one.high is None or one.candidate in bench.wrong:
        return None
    row, first = bench.measurement(one.candidate), bench.measurement(one.baseline)
    facts = (first.model, sizes_of(first), precision_named(first.precision))
    threads = {other.options.get("threads") for other in bench.measurements}
    number = first.options.get("threads")
    told = units.count(number, "thread") if isinstance(number, int) and len(threads) > 1 else ""
    return speed_ups.SpeedUp(
        " ".join(filter(None, ("" if row.model == first.model else row.model, engine_of(row)))),
        one.ratio,
        one.low,
        one.high,
        _SERIES.get(one.verdict, "baseline"),
        group=", ".join(filter(None, (*facts, told))) + f", against {engine_of(first)}",
    )
