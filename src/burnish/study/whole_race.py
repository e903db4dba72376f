"""A plan against the library with the whole model: what is not faster is not kept."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from burnish.codegen.build import whole
from burnish.codegen.built import Built
from burnish.codegen.compiler import Prepared, with_origins
from burnish.codegen.cpu.compile import compile_module
from burnish.codegen.cpu.target import by_name
from burnish.codegen.folder import About
from burnish.codegen.load import open_folder
from burnish.codegen.write import write
from burnish.core.units import seconds
from burnish.feeds.feed import Feeds

ROUNDS = 9
ROUND_S = 0.25
"""Each round lets both run about this long, one after the other."""
LEAST_GAIN = 0.02
"""A plan must be faster by this share: the library alone is simpler, and starts sooner."""


def raced(
    built: Built, prepared: Prepared, about: About, feeds: Feeds, threads: int
) -> tuple[Built, str]:
    """Return the plan, or one in which the library runs everything, and a sentence that says why.

    The two are timed alternately; the median of the rounds' ratios decides.
    """
    if not built.plan.kernel_steps:
        why = Counter(r for step in built.plan.library_steps for r in step.reasons.values())
        most = why.most_common(1)[0][0] if why else "it computes nothing"
        return built, f"ONNX Runtime runs the whole model: {most}"
    target = by_name(built.plan.target)
    rival = whole(prepared.model, target, "", built.plan.sizes)
    with tempfile.TemporaryDirectory(prefix="burnish-race-") as place:
        calls = []
        for name, each in (("plan", built), ("library", rival)):
            folder = Path(place) / name
            write(folder, about, [each], lambda text: compile_module(text, target).object_code)
            calls.append(open_folder(folder, threads=threads).prepare(feeds.arrays))
        own, library = rounds(calls[0], calls[1])
    ratio = statistics.median(b / a for a, b in zip(own, library, strict=True))
    took = f"{seconds(statistics.median(own))}, ONNX Runtime {seconds(statistics.median(library))}"
    if ratio >= 1 + LEAST_GAIN:
        return built, f"the plan takes {took}: {ratio:.2f} times as fast"
    reason = f"ONNX Runtime runs the whole model as fast (the plan takes {took})"
    kept = with_origins(whole(prepared.model, target, reason, built.plan.sizes), prepared)
    return kept, reason


def rounds(
    first: Callable[[], None],
    second: Callable[[], None],
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[list[float], list[float]]:
    """Return the seconds of one call of each, as the median of each of several rounds."""
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS):
        # who goes first alternates: what runs second finds warmer cores and colder caches
        order = ((0, first), (1, second)) if number % 2 == 0 else ((1, second), (0, first))
        for place, call in order:
            found[place].append(_median_call(call, clock))
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
