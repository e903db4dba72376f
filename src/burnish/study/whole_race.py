"""Plans against each other and ONNX Runtime with the whole model: the fastest is kept.

Kernels that were tuned one by one need not make the faster plan: what one of them leaves in the
caches, and in whose, is only seen here.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from burnish.codegen.backend import Backend
from burnish.codegen.pipeline import whole
from burnish.codegen.place import Built, Prepared
from burnish.codegen.write import write
from burnish.core.units import seconds
from burnish.feeds.feed import Feeds
from burnish.process.scratch import scratch
from burnish.runtime.folder import About
from burnish.runtime.load import open_folder

ROUNDS = 9
ROUND_S = 0.25
"""Each round lets all run about this long, one after the other."""
LEAST_GAIN = 0.02
"""A plan must be faster by this share: ONNX Runtime alone is simpler, and starts sooner."""


def raced(
    plans: Mapping[str, Built], prepared: Prepared, about: About, feeds: Feeds, backend: Backend
) -> tuple[Built, str]:
    """Return the fastest plan, or one in which ONNX Runtime runs everything, and why.

    `plans` are named as a sentence calls them ("the tuned plan"). All are timed in turns; between
    the fastest of them and ONNX Runtime, the median of the rounds' ratios decides.
    """
    first = next(iter(plans.values()))
    own = {name: plan for name, plan in plans.items() if plan.plan.kernel_steps}
    if not own:
        why = Counter(r for step in first.plan.ort_steps for r in step.reasons.values())
        most = why.most_common(1)[0][0] if why else "it computes nothing"
        return first, f"ONNX Runtime runs the whole model: {most}"
    ort = whole(prepared, backend, "")
    with scratch("race") as place, ExitStack() as stack:
        calls = []
        for number, each in enumerate((*own.values(), ort)):
            folder = place / str(number)
            write(folder, about, [each], backend)
            loaded = stack.enter_context(open_folder(folder, threads=backend.machine.units))
            calls.append(loaded.prepare(feeds.arrays))
        times = rounds(calls)
    return _judged(dict(zip(own, times, strict=False)), times[-1], own, prepared, backend)


def _judged(
    times: Mapping[str, Sequence[float]],
    ort: Sequence[float],
    plans: Mapping[str, Built],
    prepared: Prepared,
    backend: Backend,
) -> tuple[Built, str]:
    medians = {name: statistics.median(samples) for name, samples in times.items()}
    best = min(medians, key=lambda name: medians[name])
    ratio = statistics.median(b / a for a, b in zip(times[best], ort, strict=True))
    others = [f"{name} {seconds(took)}" for name, took in medians.items() if name != best]
    others.append(f"ONNX Runtime {seconds(statistics.median(ort))}")
    took = f"{best} takes {seconds(medians[best])}, {', '.join(others)}"
    built = plans[best]
    if ratio >= 1 + LEAST_GAIN:
        return built, f"{took}: {ratio:.2f} times as fast as ONNX Runtime"
    reason = f"ONNX Runtime runs the whole model as fast ({took})"
    return whole(prepared, backend, reason), reason


def rounds(
    calls: Sequence[Callable[[], None]], clock: Callable[[], float] = time.perf_counter
) -> list[list[float]]:
    """Return the seconds of one call of each, as the median of each of several rounds."""
    found: list[list[float]] = [[] for _ in calls]
    for number in range(ROUNDS):
        # who goes first alternates: what runs second finds warmer cores and colder caches
        start = number % len(calls)
        for place in (*range(start, len(calls)), *range(start)):
            found[place].append(_median_call(calls[place], clock))
    return found


def _median_call(call: Callable[[], None], clock: Callable[[], float]) -> float:
    call()
    samples: list[float] = []
    began = clock()
    while not samples or clock() - began < ROUND_S:
        start = clock()
        call()
        samples.append(clock() - start)
    return statistics.median(samples)
