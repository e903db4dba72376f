"""A model as kernels of ours in fp32 and bf16, and in ONNX Runtime: error, size and speed.

    python benchmarks/bf16_peers.py MODEL [--folder MADE] [--calls 20] [--sequence 128]

What is made lies in MADE, and is not made again by the next call. All run on one thread, taking
turns; kernels are not tuned. What is compared is processor time, as in `int8_peers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from int8_peers import compare

import burnish
from burnish.feeds.feed import Feeds


def _made(
    model: Path, _: tuple[Feeds, ...], folder: Path, sizes: dict[str, int]
) -> Iterator[tuple[str, Path]]:
    """Yield the name and the folder of each compiled form."""
    for precision in ("fp32", "bf16"):
        target = folder / precision
        if not target.is_dir():
            burnish.compile(
                model, output=target, shape=sizes, precision=precision, tune=False, threads=1,
                samples=1,
            )  # fmt: skip
        yield f"burnish, {precision}", target


if __name__ == "__main__":
    compare(__doc__, _made)
