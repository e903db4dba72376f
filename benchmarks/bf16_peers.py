"""A model as kernels of ours in fp32 and bf16, and in ONNX Runtime: error, size and speed.

    python benchmarks/bf16_peers.py MODEL [--folder MADE] [--calls 20] [--sequence 128]

What is made lies in MADE, and is not made again by the next call. All run on one thread, taking
turns; kernels are not tuned. What is compared is processor time, as in `int8_peers.py`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from int8_peers import files_of, ratios_of, session_of, worst_error

import burnish
from burnish.feeds.choose import choose
from burnish.store.stored import StoredModel


def main() -> None:
    """Print a row for each way to run the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--sequence", type=int, default=128)
    asked = parser.parse_args()
    sizes = {"batch": asked.batch, "sequence": asked.sequence}
    stored = StoredModel(asked.model, asked.model.stem)
    feeds = choose(stored, bindings=sizes, samples=asked.samples)
    with tempfile.TemporaryDirectory() as own:
        made = {"fp32": asked.model, **dict(_made(asked.model, asked.folder or Path(own), sizes))}
        sessions = {name: session_of(path) for name, path in made.items()}
        ratios = ratios_of(sessions, feeds[0], asked.calls)
        print(f"{'':24} {'size':>9} {'error':>8} {'1 - cosine':>10} {'speed':>7}  quartiles")
        for name, session in sessions.items():
            error, cosine = worst_error(sessions["fp32"], session, feeds)
            low, middle, high = statistics.quantiles(ratios[name], n=4)
            size = sum(file.stat().st_size for file in files_of(made[name])) / 2**20
            print(
                f"{name:24} {size:6.1f} MB {error:8.3%} {1 - cosine:10.1e} {middle:6.2f}×"
                f"  {low:.2f} {high:.2f}"
            )


def _made(model: Path, folder: Path, sizes: dict[str, int]) -> Iterator[tuple[str, Path]]:
    """Yield the name and the folder of each compiled form."""
    folder.mkdir(parents=True, exist_ok=True)
    for precision in ("fp32", "bf16"):
        target = folder / precision
        if not target.is_dir():
            burnish.compile(
                model, output=target, shape=sizes, precision=precision, tune=False, threads=1,
                samples=1,
            )  # fmt: skip
        yield f"burnish, {precision}", target


if __name__ == "__main__":
    main()
