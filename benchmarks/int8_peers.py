"""A model in int8 by burnish and by ONNX Runtime's own quantisation: error, size and speed.

    python benchmarks/int8_peers.py MODEL [--folder MADE] [--calls 20] [--sequence 128]

What is made lies in MADE, and is not made again by the next call.
All run in ONNX Runtime with all its optimisations, and the first also as kernels of ours that were
not tuned, on one thread, taking turns; what is compared is processor time, which another guest of
the machine disturbs less than the clock on the wall.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import burnish
from burnish.core.arrays import Array
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds
from burnish.store.stored import StoredModel
from burnish.study.deviation import relative_error

Runtime = Any
"""A session of onnxruntime, which has no types."""


class Reader:
    """Hands the same inputs to ONNX Runtime's calibration."""

    def __init__(self, feeds: tuple[Feeds, ...]) -> None:
        self._left = iter(feeds)

    def get_next(self) -> dict[str, Array] | None:
        """Return the next inputs; None: there are no more."""
        fed = next(self._left, None)
        return None if fed is None else dict(fed.arrays)


def main() -> None:
    """Print a row for each way to int8."""
    compare(__doc__, _made)


def compare(
    description: str | None,
    make: Callable[[Path, tuple[Feeds, ...], Path, dict[str, int]], Iterator[tuple[str, Path]]],
) -> None:
    """Read the command line, make the other forms of a model, and print a row for each."""
    asked = _parser(description).parse_args()
    stored = StoredModel(asked.model, asked.model.stem)
    sizes = {"batch": asked.batch, "sequence": asked.sequence}
    feeds = choose(stored, bindings=sizes, samples=asked.samples)
    with tempfile.TemporaryDirectory() as own:
        folder = asked.folder or Path(own)
        folder.mkdir(parents=True, exist_ok=True)
        made = {"fp32": asked.model, **dict(make(asked.model, feeds, folder, sizes))}
        sessions = {name: session_of(path) for name, path in made.items()}
        ratios = ratios_of(sessions, feeds[0], asked.calls)
        print(f"{'':34} {'size':>9} {'error':>8} {'1 - cosine':>10} {'speed':>7}  quartiles")
        for name, session in sessions.items():
            error, cosine = worst_error(sessions["fp32"], session, feeds)
            low, middle, high = statistics.quantiles(ratios[name], n=4)
            size = sum(file.stat().st_size for file in files_of(made[name])) / 2**20
            print(
                f"{name:34} {size:6.1f} MB {error:8.3%} {1 - cosine:10.1e} {middle:6.2f}×"
                f"  {low:.2f} {high:.2f}"
            )


def _parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("model", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--sequence", type=int, default=128)
    return parser


def _made(
    model: Path, feeds: tuple[Feeds, ...], folder: Path, sizes: dict[str, int]
) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of each model in int8."""
    for name, options in {
        "burnish": {},
        "burnish, calibrated": {"calibrate": "synthetic"},
        "burnish, calibrated and smoothed": {"calibrate": "synthetic", "smooth": 0.5},
    }.items():
        target = folder / f"burnish{len(options)}.onnx"
        if not target.is_file():
            burnish.optimize(
                model, output=target, precision="int8", shape=sizes, budget=0.0, trial=False,
                samples=1, max_error=10.0, **options,
            )  # fmt: skip
        yield name, target
    compiled = folder / "compiled"
    if not compiled.is_dir():
        burnish.compile(
            folder / "burnish0.onnx", output=compiled, shape=sizes, tune=False, threads=1, samples=1
        )
    yield "burnish, compiled", compiled
    yield from _by_onnxruntime(model, feeds, folder)


def _by_onnxruntime(
    model: Path, feeds: tuple[Feeds, ...], folder: Path
) -> Iterator[tuple[str, Path]]:
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared, weights = folder / "prepared.onnx", quantization.QuantType.QInt8
    if not prepared.is_file():
        quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
    for name, per_channel in {"onnxruntime": False, "onnxruntime, per channel": True}.items():
        target = folder / f"ort{per_channel}.onnx"
        if not target.is_file():
            quantization.quantize_dynamic(
                prepared, target, per_channel=per_channel, weight_type=weights
            )
        yield f"{name}, dynamic", target
    target = folder / "static.onnx"
    if not target.is_file():
        quantization.quantize_static(
            prepared, target, Reader(feeds), per_channel=True, weight_type=weights,
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType.QUInt8,
        )  # fmt: skip
    yield "onnxruntime, per channel, static", target


class Compiled:
    """A folder of kernels, called as a session of onnxruntime is."""

    def __init__(self, folder: Path) -> None:
        self._loaded = burnish.load(folder, threads=1)

    def run(self, _: None, arrays: dict[str, Array]) -> list[Array]:
        """Return the outputs in their order."""
        return list(self._loaded.run(arrays).values())


def session_of(path: Path) -> Runtime:
    """Return a model or a folder of kernels, on one thread."""
    import onnxruntime

    if path.is_dir():
        return Compiled(path)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def ratios_of(sessions: dict[str, Runtime], fed: Feeds, calls: int) -> dict[str, list[float]]:
    """Return how many times as fast as the first each is, in processor time, call by call."""
    found: dict[str, list[float]] = {name: [] for name in sessions}
    for call in range(calls + 2):
        took = {}
        for name, session in sessions.items():
            start = time.process_time()
            session.run(None, fed.arrays)
            took[name] = time.process_time() - start
        if call >= 2:
            for name, seconds in took.items():
                found[name].append(took["fp32"] / seconds)
    return found


def worst_error(
    plain: Runtime, other: Runtime,
    feeds: tuple[Feeds, ...],
) -> tuple[float, float]:  # fmt: skip
    """Return the largest relative error and the smallest cosine of an output."""
    errors, cosines = [0.0], [1.0]
    for fed in feeds:
        for wanted, given in zip(
            plain.run(None, fed.arrays), other.run(None, fed.arrays), strict=True
        ):
            errors.append(relative_error(wanted, given))
            a, b = wanted.reshape(-1).astype("f8"), given.reshape(-1).astype("f8")
            cosines.append(float(a @ b / np.sqrt((a @ a) * (b @ b))))
    return max(errors), min(cosines)


def files_of(path: Path) -> list[Path]:
    """Return a model's file and those of its weights, which are named after it."""
    if path.is_dir():
        return [one for one in path.rglob("*") if one.is_file() and one.suffix in (".bin", ".onnx")]
    return [path, *(one for one in path.parent.glob(f"{path.name}*") if one != path)]


if __name__ == "__main__":
    main()
