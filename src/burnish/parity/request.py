"""A question as a user asks it: which models, on which engines, with which inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.core.command import command
from burnish.core.errors import ModelError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.loading import is_large
from burnish.engines.sizes import Usual, retry_hint, usual
from burnish.feeds.bind import bind
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds, Padding
from burnish.feeds.make import Maker
from burnish.parity.bisect import bisect
from burnish.parity.comparison import feeds_of
from burnish.parity.effort import BUDGET_S, Effort
from burnish.parity.report import VerifyReport
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import (
    JUDGE,
    JudgedSubject,
    ReferenceRefusesError,
    judge,
    verify,
    verify_recorded,
)
from burnish.store import onnx_files
from burnish.store.stored import StoredModel

ODD_SIZES: Mapping[str, int] = {"batch": 3, "sequence": 7, "past": 5}
"""A second shape, by what a dimension means: sizes that no kernel likes, so that one which is
right only for multiples of its block is found out. Others (height …) keep their default."""
_SHORT = 32
"""How many tokens a model of gigabytes is given where nobody asks for more: each costs as much as
all its weights."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What is to be compared with what."""

    reference: StoredModel
    candidate: StoredModel | None = None
    """None: the reference itself, as the engine optimises it."""
    runs: StoredModel | None = None
    """What is run in the candidate's place, where that takes or gives other types; None: itself."""
    engine: str = JUDGE
    against: str = JUDGE
    options: EngineOptions = field(default_factory=EngineOptions)
    shapes: tuple[Mapping[str, int], ...] = ()
    """Empty: the default shape, and one with odd sizes."""
    samples: int = 3
    seed: int = 0
    padding: Padding = "right"
    usual: Mapping[str, int] = field(default_factory=dict)
    """Sizes in place of those that names suggest, where no others were asked for."""
    data: Path | None = None
    recorded: bool = False
    tolerances: Tolerances = field(default_factory=Tolerances)
    bisect: bool = False
    budget_s: float = BUDGET_S
    """How long differences are searched for; 0: not at all, and meaning is not judged."""


def answer(request: VerifyRequest, *, progress: Progress = SILENT) -> VerifyReport:
    """Return what was found; with `bisect`, also where the runs part if they do.

    Where the reference does not run at the sizes that its names suggest, others are looked for.
    """
    for engine in (request.against, request.engine):
        isolated.start(engine)
    try:
        return _answer(request, progress)
    except ReferenceRefusesError as error:
        if request.data is not None or request.usual:
            raise
        asked = request.shapes[0] if request.shapes else {}
        found = usual(request.reference, asked)
        if found == Usual():
            hint = retry_hint(asked, request.reference)
            raise ModelError(error.problem, hint=hint) from error
    again = dataclasses.replace(request, usual=found.sizes, data=found.data)
    report = _answer(again, progress)
    return dataclasses.replace(report, notes=(*found.notes, *report.notes))


def _answer(request: VerifyRequest, progress: Progress) -> VerifyReport:
    reference = judge(request.reference, request.against, request.options)
    model = request.candidate or request.reference
    candidate = JudgedSubject(model, request.engine, request.options, request.runs)
    if request.recorded:
        return _against_recorded(request, candidate, progress)
    feeds, extra = _asked_feeds(request), _odd_feeds(request)
    effort = _effort(request)
    report = verify(
        reference, candidate, feeds, extra=extra, tolerances=request.tolerances, effort=effort,
        progress=progress,
    )  # fmt: skip
    worst = report.worst_sample
    if report.passed or not request.bisect or worst is None:
        return report
    found = bisect(
        reference,
        candidate,
        feeds_of(worst.label, (*feeds, *extra), (reference, candidate), effort),
        sample=worst.label,
        tolerances=dataclasses.replace(request.tolerances, arithmetic=report.arithmetic or None),
        progress=progress,
    )
    return dataclasses.replace(report, bisection=found)


def telling_feeds(request: VerifyRequest, report: VerifyReport) -> Feeds | None:
    """Return the inputs on which two models were found to differ most; None: they were not."""
    worst = report.worst_sample
    if report.passed or worst is None or request.candidate is None or request.recorded:
        return None
    reference = judge(request.reference, request.against, request.options)
    candidate = JudgedSubject(request.candidate, request.engine, request.options, request.runs)
    asked = (*_asked_feeds(request), *_odd_feeds(request))
    return feeds_of(worst.label, asked, (reference, candidate), _effort(request))


def _effort(request: VerifyRequest) -> Effort:
    """Return how hard to look; sizes and data that were asked for are not varied."""
    fixed: dict[str, int] = {}
    for shape in request.shapes:
        fixed |= shape
    return Effort(
        request.budget_s,
        search=request.data is None and request.budget_s > 0,
        fixed=fixed,
        usual=request.usual,
        seed=request.seed,
    )


def _against_recorded(
    request: VerifyRequest, candidate: JudgedSubject, progress: Progress
) -> VerifyReport:
    label = request.reference.onnx
    if request.bisect:
        raise UsageError(
            "recorded outputs have no inner values to bisect",
            hint=f"bisect between two runs: {command('verify', label, '--bisect')}",
        )
    folders = request.reference.data_sets if request.data is None else (request.data,)
    if not folders:
        raise UsageError(
            f"{label}: no test_data_set_N folder lies beside it",
            hint="name one with --data, or leave out --recorded",
        )
    return verify_recorded(candidate, folders, tolerances=request.tolerances, progress=progress)


def _asked_feeds(request: VerifyRequest) -> tuple[Feeds, ...]:
    usual = {**_shortened(request), **request.usual}
    return tuple(
        feeds
        for shape in request.shapes or ({},)
        for feeds in choose(
            request.reference,
            data=request.data,
            bindings={**usual, **shape},
            seed=request.seed,
            padding=request.padding,
            samples=request.samples,
        )
    )


def _shortened(request: VerifyRequest) -> dict[str, int]:
    """Return the lengths of sequences of a large model where neither sizes nor data were given."""
    if request.shapes or request.data is not None or not is_large(request.reference):
        return {}
    bound = Maker(onnx_files.look(request.reference.onnx)).bound({})
    return {
        name: _SHORT
        for name, meaning in bound.meanings.items()
        if meaning == "sequence" and bound.sizes[name] > _SHORT
    }


def _odd_feeds(request: VerifyRequest) -> tuple[Feeds, ...]:
    """Return inputs of a second shape, where the user asked for no particular one."""
    if request.shapes or request.data is not None:
        return ()
    inputs = onnx_files.interface(onnx_files.look(request.reference.onnx)).inputs
    meanings = bind(inputs, {}).meanings
    odd = {name: ODD_SIZES[kind] for name, kind in meanings.items() if kind in ODD_SIZES}
    if not odd:
        return ()
    sizes = {**request.usual, **odd}
    seed = request.seed + request.samples
    return choose(request.reference, bindings=sizes, seed=seed, padding=request.padding)
