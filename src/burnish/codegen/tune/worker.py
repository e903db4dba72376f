"""The measuring process: compiles, proves and times kernels for its parent.

Run as `python -m burnish.codegen.tune.worker DESCRIPTOR`, a pipe to the parent. Kernels run here
and nowhere else while they are being tried: one that crashes or hangs takes this process with it.
"""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from burnish.codegen.tune.messages import (
    Compile,
    Forget,
    LoadLibrary,
    Place,
    Prove,
    Refused,
    Request,
    Time,
)

_DEATH_SIGNAL = 1
"""Linux's PR_SET_PDEATHSIG."""


def serve(connection: Connection) -> None:
    """Answer requests until the parent closes its end."""
    from burnish.codegen.tune.workshop import Workshop

    with tempfile.TemporaryDirectory(prefix="burnish-tune-") as folder:
        workshop = Workshop(Path(folder))
        while True:
            try:
                request = connection.recv()
            except EOFError:
                return
            connection.send(_answer(workshop, request))


def _answer(workshop: Any, request: Request) -> object:  # noqa: ANN401  (imported late)
    actions: dict[type, Callable[[Any], object]] = {
        Compile: workshop.compile,
        Place: workshop.place,
        Prove: workshop.prove,
        LoadLibrary: workshop.load_library,
        Time: workshop.time,
        Forget: workshop.forget,
    }
    try:
        return actions[type(request)](request)
    except Exception as error:
        return Refused(f"{type(error).__name__}: {error}")


def end_with_parent() -> None:
    """Have the system end this process when its parent ends, even amid an endless kernel."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def main() -> None:
    """Serve the parent process."""
    end_with_parent()
    connection = Connection(int(sys.argv[1]))
    # Python's garbage collector stays out of the timed runs
    gc.disable()
    serve(connection)


if __name__ == "__main__":
    main()
