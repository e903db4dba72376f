"""A child that loads and runs compiled folders, one after the other, and says what became of each.

Every tensor lies between pages that nobody may touch, so that leaving it is seen.
"""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np


def serve() -> None:
    """Load and run each folder that is named on stdin; say what became of it."""
    from burnish.core.errors import BurnishError
    from burnish.runtime import executable
    from burnish.runtime.load import load

    answers = os.fdopen(os.dup(1), "w", buffering=1)
    _guard(executable)
    for line in sys.stdin:
        folder = Path(line.rstrip("\n"))
        try:
            with load(folder, threads=2) as model:
                for inputs in sorted(folder.parent.glob(f"{folder.name}.*.npz")):
                    with np.load(inputs) as given:
                        model.run(dict(given))
            outcome = "ran"
        except BurnishError as error:
            outcome = f"refused: {error.problem!r}"
        except Exception as error:
            outcome = f"traceback: {type(error).__name__} {error!r:.300}"
        answers.write(outcome.replace("\n", " ") + "\n")


def _guard(executable: Any) -> None:  # noqa: ANN401
    """Let every tensor end where a page begins that nobody may touch."""
    from burnish.codegen.cpu.trials.guarded import _FORBIDDEN, _protect
    from burnish.runtime import output_memory
    from burnish.runtime.cpu import thread_pool

    def guarded(size: int, alignment: int = 64) -> Any:  # noqa: ANN401
        page = mmap.PAGESIZE
        room = -(-size // alignment) * alignment
        inner = -(-max(room, 1) // page) * page
        try:
            memory = np.frombuffer(mmap.mmap(-1, inner + 2 * page), np.uint8)
        except OSError as error:
            raise MemoryError from error
        for edge in (0, page + inner):
            _protect(memory.ctypes.data + edge, page, _FORBIDDEN)
        start = page + inner - room
        return memory[start : start + size]

    def copied(array: Any) -> Any:  # noqa: ANN401
        dense = np.ascontiguousarray(array)
        block = guarded(dense.nbytes + executable.SLACK_BYTES)[: dense.nbytes]
        block[:] = dense.reshape(-1).view(np.uint8)
        return block.view(dense.dtype).reshape(dense.shape)

    for module in (executable, output_memory, thread_pool):
        module.aligned_bytes = guarded
    executable.readable_beyond = copied


if __name__ == "__main__":
    serve()
