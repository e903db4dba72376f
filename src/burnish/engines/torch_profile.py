"""Record a timeline with PyTorch's profiler."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from burnish.engines.torch_source import TorchModule
from burnish.process.scratch import scratch
from burnish.trace.events import Trace
from burnish.trace.readers import kineto
from burnish.trace.runs import last_runs


def recorded(
    call: Callable[[], Any], *, runs: int, modules_of: TorchModule | None, on_gpu: bool
) -> Trace:
    """Return a timeline of `runs` calls, each of which blocks until its result is complete.

    With a module, what its parts do is recorded as theirs, under their paths.
    """
    from torch.profiler import ProfilerActivity, profile, record_function

    # Kineto writes lines of its own to stderr, and asks for this when it is first used.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    with ExitStack() as stack:
        folder = stack.enter_context(scratch("profile"))
        if modules_of is not None:
            stack.enter_context(_told_by_path(modules_of))
        with profile(activities=activities, record_shapes=True) as recording:
            call()  # the profiler's own first steps are slow; outside of all inferences
            for _ in range(runs):
                with record_function(kineto.RUN):
                    call()
        path = folder / "trace.json"
        recording.export_chrome_trace(str(path))
        return last_runs(kineto.read(path), runs)


@contextmanager
def _told_by_path(module: TorchModule) -> Iterator[None]:
    """Let every part of a module mark when it is at work."""
    from torch.profiler import record_function

    handles, marks = [], list[Any]()

    def mark(name: str) -> Callable[..., None]:
        def begin(*_: object) -> None:
            marks.append(record_function(f"{kineto.MODULE}{name}"))
            marks[-1].__enter__()

        return begin

    def end(*_: object) -> None:
        marks.pop().__exit__(None, None, None)

    for name, part in module.named_modules():
        if name:
            handles.append(part.register_forward_pre_hook(mark(name)))
            handles.append(part.register_forward_hook(end))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
