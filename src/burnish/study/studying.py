"""Run a study: get its models, measure them, and write what came of it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.core import files, records
from burnish.core.errors import ModelError
from burnish.core.hashing import value_key
from burnish.core.progress import SILENT, Progress
from burnish.core.steps import StepLog
from burnish.engines.modes import name_and_mode
from burnish.parity.request import VerifyRequest
from burnish.report import matrix, studied, study_page
from burnish.report.plans import PlannedRow, plans_csv
from burnish.report.studied import Plot
from burnish.report.study_page import SCHEMA, StudyReport
from burnish.store import layout, onnx_files
from burnish.store.stored import StoredModel
from burnish.study import bench as benching
from burnish.study import exporting
from burnish.study import prune as pruning
from burnish.study.matrix import sizes_of
from burnish.study.optimize import optimize_file
from burnish.study.optimize_report import OptimizeReport
from burnish.study.planning import plans
from burnish.study.prune_report import PruneReport
from burnish.study.requests.judging import BenchCommand
from burnish.study.requests.line import line
from burnish.study.requests.pruning import PruneCommand
from burnish.study.requests.rewriting import ExportCommand
from burnish.study.requests.several import element_types
from burnish.study.requests.studying import StudyCommand
from burnish.study.requests.vocabulary import shapes
from burnish.study.study_file import StudyFile, StudyModel, read
from burnish.study.variant import target_of
from burnish.version import __version__
from burnish.zoo.exporting.name import source_named

_MODELS, _STEPS = "models", "steps"
_EXPORTED = "dynamo"
_VERIFY_S = 30.0


def answer(asked: StudyCommand, *, progress: Progress = SILENT) -> StudyReport:
    """Return what a study found, after all of it was written into its folder."""
    study = read(Path(asked.file), small=asked.small)
    _require_known(study)
    folder = Path(asked.output)
    models = [
        one for model in study.models for one in _models(model, folder, asked.small, progress)
    ]
    every, fusions = _optimized(models, folder, progress) if study.optimized else (models, {})
    smaller, missing = _pruned(models, study.pruned, folder, progress)
    bench = _bench(asked, study, [*every, *smaller])
    measured = benching.measured_matrix(bench, progress=progress)
    # each model of a study has its own sizes, which no command of all models could name
    measured = dataclasses.replace(measured, rerun=line(asked))
    planned, refused = _planned(study, bench, models, folder, progress)
    missing |= {f"plans for {name}": why for name, why in refused.items()}
    report = StudyReport(
        title=study.title,
        about=study.about,
        bench=measured,
        draw=study.draw,
        fusions=fusions,
        plans=planned,
        missing={**study.missing, **missing},
        files={},
        command=line(asked),
        burnish_version=__version__,
    )
    return _written(report, study, folder)


def _require_known(study: StudyFile) -> None:
    """Raise before the first export if an engine, a type or a model is named that there is not."""
    for engine in study.engines:
        name_and_mode(engine)
    element_types(study.precision)
    for model in study.models:
        if model.zoo is not None:
            source_named(model.zoo)


def _planned(
    study: StudyFile,
    bench: BenchCommand,
    models: list[StoredModel],
    folder: Path,
    progress: Progress,
) -> tuple[tuple[PlannedRow, ...], dict[str, str]]:
    """Return the plans that a study asks for, of models as they were given; and what cannot be.

    The compiler rewrites by itself: what was rewritten before has the same plan.
    """
    if not study.plans:
        return (), {}
    sized = [(model, sizes_of(bench, model)[0]) for model in models]
    return plans(sized, study.plans, StepLog(folder / _STEPS), progress)


def _bench(asked: StudyCommand, study: StudyFile, models: list[StoredModel]) -> BenchCommand:
    return BenchCommand(
        models,
        engine=study.engines,
        batch=study.batch,
        sequence=study.sequence,
        past_length=study.past_length,
        generate=study.generate,
        precision=element_types(study.precision) or None,
        threads=study.threads or None,
        rounds=study.rounds,
        blocks=BenchCommand([]).blocks if study.blocks is None else study.blocks,
        budget=study.budget_s if asked.budget is None else asked.budget,
        ledger=asked.ledger,
        again=asked.again,
    )


def _models(
    model: StudyModel, folder: Path, small: bool, progress: Progress
) -> tuple[StoredModel, ...]:
    """Return what a study calls a model; an entry of the zoo is exported if it is not there."""
    if model.path is not None:
        found = layout.resolve_all(str(model.path), folder / _MODELS)
        return tuple(dataclasses.replace(one, sizes=model.sizes) for one in found)
    name = f"{model.name}{'-past' if model.past else ''}{'-small' if small else ''}"
    place = layout.place(folder / _MODELS, name, _EXPORTED)
    asked = ExportCommand(
        model.zoo, name=name, variant=_EXPORTED, store=folder / _MODELS, small=small,
        past=model.past, precision=model.precision or None,
    )  # fmt: skip
    if not place.is_file() or not exporting.is_asked_for(layout.stored(place), asked):
        exporting.answer(asked, progress=progress)
    return (dataclasses.replace(layout.stored(place), sizes=model.sizes),)


def _optimized(
    models: list[StoredModel], folder: Path, progress: Progress
) -> tuple[list[StoredModel], dict[str, Mapping[str, int]]]:
    """Return each model followed by what is made of it, and how often each fusion was made."""
    log = StepLog(folder / _STEPS)
    every: list[StoredModel] = []
    fusions: dict[str, Mapping[str, int]] = {}
    for model, stem in zip(models, stems(models), strict=True):
        done = _rewritten(model, stem, folder, log, progress)
        every += [model, dataclasses.replace(layout.stored(done.target), torch=None)]
        fusions[model.label] = dict(done.rewrite.fusion_counts)
    return every, fusions


def _pruned(
    models: list[StoredModel], keep: float | None, folder: Path, progress: Progress
) -> tuple[list[StoredModel], dict[str, str]]:
    """Return what is left of each model where a share is kept; and of which that cannot be."""
    log, found, missing = StepLog(folder / _STEPS), [], {}
    for model, stem in zip(models, stems(models), strict=True) if keep is not None else ():
        target = folder / _MODELS / f"{stem}_{pruning.SUFFIX}.onnx"
        asked = PruneCommand(model, output=target, keep=keep)
        key = value_key([onnx_files.content_key(model.onnx), __version__, keep])
        try:
            done = log.once(
                f"prune-{stem}",
                lambda: pruning.answer(asked, progress=progress),  # noqa: B023
                key=key,
                kind=PruneReport,
                holds=lambda report: report.target.is_file(),
            )
        except ModelError as error:
            missing[f"{model.label}, pruned"] = f"{error.problem} ({error.hint})"
        else:
            found.append(dataclasses.replace(layout.stored(done.target), sizes=model.sizes))
    return found, missing


def stems(models: Sequence[StoredModel]) -> list[str]:
    """Return a name for what is made of each model, unlike all others: what is there is numbered.

    No number makes a name that a further model has of its own.
    """
    own = {model.onnx.stem for model in models}
    found: list[str] = []
    for model in models:
        stem = model.onnx.stem
        numbered = (f"{stem}-{number}" for number in itertools.count(2))
        others = (name for name in numbered if name not in own and name not in found)
        found.append(next(others) if stem in found else stem)
    return found


def _rewritten(
    model: StoredModel, stem: str, folder: Path, log: StepLog, progress: Progress
) -> OptimizeReport:
    own = model.onnx.is_relative_to(folder)
    target = target_of(model) if own else folder / _MODELS / f"{stem}_optimized.onnx"
    request = VerifyRequest(model, shapes=shapes({}), budget_s=_VERIFY_S)
    key = value_key([onnx_files.content_key(model.onnx), __version__])
    return log.once(
        f"optimize-{stem}",
        lambda: optimize_file(model, target, request=request, progress=progress),
        key=key,
        kind=OptimizeReport,
        holds=lambda report: report.target.is_file(),
    )


def _written(report: StudyReport, study: StudyFile, folder: Path) -> StudyReport:
    """Write the study's files, and return the report that names them."""
    bench = report.bench
    plots = studied.plots(bench, study.draw)
    by_burnish = {one.model: "by_burnish" for one in bench.measurements if "_optim" in one.model}
    texts = {"rows.csv": "\n".join(matrix.csv_lines(bench)) + "\n"}
    if report.plans:
        texts["plans.csv"] = plans_csv(report.plans)
    if "onnxruntime" in study.columns:
        texts |= {
            "detail.csv": studied.detail_csv(bench, by_burnish),
            "result.csv": studied.result_csv(bench, by_burnish),
            "fusion.csv": studied.fusion_csv(
                report.fusions, bench.machine.versions, bench.machine.date
            ),
        }
    names = {name: str(folder / name) for name in texts} | _drawn(plots, folder)
    names |= {name: str(folder / name) for name in ("report.md", "report.html", "result.json")}
    report = dataclasses.replace(report, files=names)
    texts |= {f"{plot.name}.svg": study_page.drawing(plot) for plot in plots}
    texts |= {
        "report.md": study_page.text(report, plots),
        "report.html": study_page.page(report, plots),
        "result.json": records.text_of(records.document(report, schema=SCHEMA)),
    }
    for name, content in texts.items():
        files.write_text(folder / name, content)
    return report


def _drawn(plots: tuple[Plot, ...], folder: Path) -> dict[str, str]:
    return {f"{plot.name}.svg": str(folder / f"{plot.name}.svg") for plot in plots}
