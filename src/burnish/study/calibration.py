"""The spans of the values that static quantisation asks for: seen on data, in constant memory.

The first pass sees the ends of each value; the second, where a method wants more than these, counts
its elements in a histogram of fixed size, a few values at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.core.errors import UsageError
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds
from burnish.feeds.load import load
from burnish.parity.exposed import Exposed
from burnish.parity.subject import JUDGE
from burnish.process.scratch import scratch
from burnish.rewrite.options import Method, PrecisionRequest
from burnish.rewrite.precision import calibrated_values
from burnish.rewrite.precision.smooth import Smoothing, smoothed, smoothed_values
from burnish.rewrite.precision.thresholds import Histogram, Span, span_of
from burnish.store import layout, onnx_files
from burnish.store.history import History
from burnish.store.interface import Interface
from burnish.store.stored import StoredModel
from burnish.study.conversion import Seen
from burnish.study.deviation import SYNTHETIC
from burnish.study.ranges import ValueRange, ranges_of

MADE = "synthetic"
"""What is written in place of data where there is none."""
_AT_ONCE = 8
"""How many values one run of the second pass gives out, which bounds the memory it takes."""
_MADE_SAMPLES = 8


class StoredFeeds(Sequence[Feeds]):
    """Inputs of several folders, each read when it is asked for and not kept."""

    def __init__(self, paths: Sequence[Path], interface: Interface) -> None:
        self._paths = tuple(paths)
        self._interface = interface

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._paths)

    @overload
    def __getitem__(self, place: int) -> Feeds: ...
    @overload
    def __getitem__(self, place: slice) -> StoredFeeds: ...
    def __getitem__(self, place: int | slice) -> Feeds | StoredFeeds:
        """Return the inputs at a place, read anew, or some of them."""
        if isinstance(place, slice):
            return StoredFeeds(self._paths[place], self._interface)
        return load(self._paths[place], self._interface)


def calibration_feeds(
    model: StoredModel, asked: str, shapes: Sequence[Mapping[str, int]] = (), *, seed: int = 0
) -> tuple[Sequence[Feeds], str]:
    """Return the inputs to calibrate with, and where they are from; made ones have these sizes."""
    if asked == MADE:
        made = (
            choose(model, bindings=shape, samples=_MADE_SAMPLES, seed=seed)
            for shape in shapes or ({},)
        )
        return tuple(fed for some in made for fed in some), SYNTHETIC
    require_data(asked)
    folder = Path(asked)
    sets = layout.data_sets(folder) if folder.is_dir() else ()
    interface = onnx_files.interface(onnx_files.look(model.onnx))
    return StoredFeeds(sets or (folder,), interface), asked


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
    feeds, source = calibration_feeds(model, numbers.calibrate, numbers.shapes)
    smoothing = None
    if numbers.smooth is not None:
        watched = smoothed_values(rewritten, numbers.keep)
        smoothing = Smoothing(channel_tops(rewritten, watched, feeds), numbers.smooth)
        rewritten = smoothed(rewritten, smoothing, numbers.keep)
    names = calibrated_values(rewritten, numbers.keep)
    found = spans(rewritten, names, feeds, numbers.calibration)
    return Seen(spans=found, smoothing=smoothing, source=source)


def channel_tops(
    model: ir.Model, names: Sequence[str], feeds: Sequence[Feeds]
) -> dict[str, NDArray[np.float32]]:
    """Return the largest magnitude of each channel, the last axis, of each of these values."""
    found: dict[str, NDArray[np.float32]] = {}
    for name, array in values_of(model, names, feeds):
        rows = np.abs(array.reshape(-1, array.shape[-1])).max(axis=0, initial=0.0)
        found[name] = np.maximum(found[name], rows) if name in found else rows
    return found


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
    for name, array in values_of(model, list(found), feeds):
        found[name] = found[name].with_elements(array)
    return found


def values_of(
    model: ir.Model, names: Sequence[str], feeds: Sequence[Feeds]
) -> Iterator[tuple[str, Array]]:
    """Yield each of these values for each of the inputs, few of them at a time."""
    inputs = {value.name or "" for value in model.graph.inputs}
    yield from ((name, fed.arrays[name]) for fed in feeds for name in names if name in inputs)
    inner = [name for name in names if name not in inputs]
    with scratch("calibration") as folder:
        path = folder / "model.onnx"
        onnx_files.write(model, path, history=History("", ()))
        exposed = Exposed(StoredModel(path, "model"), folder)
        for start in range(0, len(inner), _AT_ONCE):
            with (
                exposed.giving(inner[start : start + _AT_ONCE]) as one,
                open_session(JUDGE, one, EngineOptions(graph_level="off", frugal=True)) as session,
            ):
                for fed in feeds:
                    yield from session.run(fed.arrays).items()
