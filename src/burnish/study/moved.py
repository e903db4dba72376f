"""Whether a model in integers stays near its original, on the inputs that a request asks for."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.core.progress import SILENT, Progress
from burnish.engines.sizes import fitting
from burnish.feeds.feed import Feeds
from burnish.parity.request import VerifyRequest
from burnish.rewrite.options import PrecisionRequest
from burnish.store.stored import StoredModel
from burnish.study.deviation import SYNTHETIC, DeviationReport, deviation

BOUNDS: Mapping[str, float] = {"int8": 0.15, "int4": 0.3}
"""How far outputs may move where nobody says how far: a cosine of 0.99, and of 0.95."""


def moved(
    original: StoredModel,
    changed: StoredModel,
    request: VerifyRequest,
    numbers: PrecisionRequest,
    *,
    progress: Progress = SILENT,
) -> DeviationReport:
    """Return how far the outputs of `changed` moved, and whether that is allowed."""
    asked = numbers.max_error
    bound = BOUNDS[numbers.precision] if asked is None else asked
    source = SYNTHETIC if request.data is None else str(request.data)

    feeds = feeds_of(original, request)
    return deviation(
        original, changed, feeds, bound=bound, source=source,
        level=request.options.graph_level, progress=progress,
    )  # fmt: skip


def feeds_of(model: StoredModel, request: VerifyRequest) -> tuple[Feeds, ...]:
    """Return the inputs that a request asks for."""
    return tuple(
        fed
        for shape in request.shapes or ({},)
        for fed in fitting(
            model,
            data=request.data,
            bindings=shape,
            seed=request.seed,
            padding=request.padding,
            samples=request.samples,
        )
    )
