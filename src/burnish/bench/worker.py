"""The worker process: opens one model on one engine and times it on command.

Run as `python -m burnish.bench.worker REPLY_FD`. Commands come as JSON lines on standard input;
answers leave as JSON lines through REPLY_FD, a pipe that no library knows about, so that nothing
an engine prints can be taken for an answer.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from burnish.bench import feed_file, timing
from burnish.core import records
from burnish.core.errors import BurnishError
from burnish.engines.base import ENGINES, EngineOptions, Session
from burnish.store.stored import StoredModel

Message = dict[str, Any]
"""One JSON object."""


class Bench:
    """One session and its prepared call; each method answers one command."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._session: Session | None = None
        self._call: timing.Call | None = None
        self._feeds: dict[str, Any] = {}

    def open(self, request: Message) -> Message:
        """Open the model, call it once, then until it is steady."""
        clock = time.perf_counter_ns
        model = records.decode(StoredModel, request["model"])
        options = EngineOptions(**request["options"])
        self._feeds = feed_file.read(Path(request["feeds"]))
        engine = ENGINES[request["engine"]]
        start = clock()
        session = engine.open(model, options)
        self._session = self._stack.enter_context(session)
        load_s = (clock() - start) / 1e9
        start = clock()
        session.run(self._feeds)
        first_call_s = (clock() - start) / 1e9
        self._call = session.prepare(self._feeds)
        _silence_collector()
        warmup = timing.warm_up(self._call, clock, timing.WarmupLimit(**request["limit"]))
        return {
            "load_s": load_s,
            "first_call_s": first_call_s,
            "warmup_calls": warmup.calls,
            "warmup_s": warmup.seconds,
            "converged": warmup.converged,
            "call_s": warmup.call_s,
            "placement": records.encode(session.placement),
        }

    def ready(self, _: Message) -> Message:
        """Import what every engine needs: what follows is the engine's own time."""
        ENGINES.names()
        return {}

    def block(self, request: Message) -> Message:
        """Time a block of calls."""
        assert self._call is not None, "open comes first"
        samples = timing.sample_block(
            self._call,
            calls=request["calls"],
            settle_s=request["settle_s"],
            clock=time.perf_counter_ns,
        )
        return {"samples_s": samples}

    def memory(self, _: Message) -> Message:
        """Tell the most memory this process has held."""
        return {"peak_memory_bytes": peak_memory_bytes()}

    def outputs(self, request: Message) -> Message:
        """Run once and write the outputs to a file."""
        assert self._session is not None, "open comes first"
        feed_file.write(Path(request["path"]), self._session.run(self._feeds))
        return {}


def peak_memory_bytes() -> int:
    """Return the most resident memory this process has held."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def serve(requests: Iterator[str], answer: Callable[[Message], None]) -> None:
    """Answer each request, until there are no more or one has failed."""
    with ExitStack() as stack:
        bench = Bench(stack)
        commands = {
            "ready": bench.ready, "open": bench.open, "block": bench.block,
            "memory": bench.memory, "outputs": bench.outputs,
        }  # fmt: skip
        for line in requests:
            request = json.loads(line)
            try:
                answer(commands[request["command"]](request))
            except BurnishError as error:
                answer({"failure": f"{error.problem} ({error.hint})"})
            except Exception as error:
                answer({"failure": f"{type(error).__name__}: {error}"})
                raise


def _silence_collector() -> None:
    """Keep Python's garbage collector out of the timed calls."""
    gc.collect()
    gc.freeze()
    gc.disable()


def main() -> None:
    """Serve the parent process until it closes its end."""
    replies = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    requests = os.fdopen(os.dup(0), "r")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)

    def answer(message: Message) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    serve(iter(requests.readline, ""), answer)


if __name__ == "__main__":
    main()
