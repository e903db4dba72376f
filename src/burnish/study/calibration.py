"""The spans of the values that static quantisation asks for: seen on data, in constant memory.

The first pass sees the ends of each value; the second, where a method wants more than these, counts
its elements in a histogram of fixed size, a few values at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import UsageError
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds
from burnish.parity.exposed import Exposed
from burnish.parity.subject import JUDGE
from burnish.process.scratch import scratch
from burnish.rewrite.options import Method, PrecisionRequest
from burnish.rewrite.precision import calibrated_values
from burnish.rewrite.precision.thresholds import Histogram, Span, span_of
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.conversion import Seen
from burnish.study.deviation import SYNTHETIC
from burnish.study.ranges import ValueRange, ranges_of

MADE = "synthetic"
"""What is written in place of data where there is none."""
_AT_ONCE = 8
"""How many values one run of the second pass gives out, which bounds the memory it takes."""
_MADE_SAMPLES = 8


def calibration_feeds(
    model: StoredModel, asked: str, *, seed: int = 0
) -> tuple[tuple[Feeds, ...], str]:
    """Return the inputs to calibrate with, and where they are from."""
    if asked == MADE:
        return choose(model, samples=_MADE_SAMPLES, seed=seed), SYNTHETIC
    require_data(asked)
    return choose(model, data=Path(asked)), asked


def require_data(asked: str | None) -> None:
    """Raise where the data that is asked for is not there."""
    if asked not in (None, MADE) and not Path(asked).exists():
        raise UsageError(
            f"--calibrate: there is no data at {asked}",
            hint="name an .npz file or a folder of test_data_set_N, or write --calibrate synthetic",
        )


def calibrated(rewritten: ir.Model, model: StoredModel, numbers: PrecisionRequest) -> Seen:
    """Return the spans of all values that a rewritten model needs to be quantised with data."""
    if numbers.calibrate is None:
        return Seen()
    feeds, source = calibration_feeds(model, numbers.calibrate)
    names = calibrated_values(rewritten, numbers.keep)
    return Seen(spans=spans(rewritten, names, feeds, numbers.calibration), source=source)


def spans(
    model: ir.Model, names: Sequence[str], feeds: Sequence[Feeds], method: Method
) -> dict[str, Span]:
    """Return on which span of each value 8 bits are to be spent."""
    ranges = {
        name: seen for name, seen in ranges_of(model, feeds, names).items() if name in set(names)
    }
    if method == "minmax":
        return {
            name: span_of(Histogram.empty(seen.least, seen.largest), method)
            for name, seen in ranges.items()
        }
    return {
        name: span_of(histogram, method)
        for name, histogram in _histograms(model, ranges, feeds).items()
    }


def _histograms(
    model: ir.Model, ranges: dict[str, ValueRange], feeds: Sequence[Feeds]
) -> dict[str, Histogram]:
    found = {name: Histogram.empty(seen.least, seen.largest) for name, seen in ranges.items()}
    inputs = {value.name or "" for value in model.graph.inputs}
    for fed in feeds:
        for name in inputs & set(found):
            found[name] = found[name].with_elements(fed.arrays[name])
    inner = [name for name in found if name not in inputs]
    with scratch("calibration") as folder:
        path = folder / "model.onnx"
        onnx_files.write(model, path, history=History("", ()))
        exposed = Exposed(StoredModel(path, "model"), folder)
        for start in range(0, len(inner), _AT_ONCE):
            with (
                exposed.giving(inner[start : start + _AT_ONCE]) as one,
                open_session(JUDGE, one, EngineOptions(graph_level="off")) as session,
            ):
                for fed in feeds:
                    for name, array in session.run(fed.arrays).items():
                        found[name] = found[name].with_elements(array)
    return found
