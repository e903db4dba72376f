"""Shrink two models that do not compute the same to the smallest part that still does not."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.core.arrays import Array, Arrays
from burnish.core.errors import ModelError, UsageError
from burnish.core.files import check_file, check_folder
from burnish.core.progress import SILENT, Progress
from burnish.engines.sizes import fitting
from burnish.parity.compare import compare_tensor
from burnish.parity.region import live_values
from burnish.parity.report import TensorDiff
from burnish.parity.scan import runs
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import JudgedSubject, judge, unoptimised
from burnish.process.scratch import scratch
from burnish.rewrite import extract
from burnish.rewrite.extract import Part
from burnish.rewrite.passes.shapes import InferShapes
from burnish.store import datasets, onnx_files
from burnish.store.datasets import DataSet
from burnish.store.history import History, HistoryStep
from burnish.store.stored import StoredModel
from burnish.study.given import models_of
from burnish.study.requests.judging import ReduceCommand
from burnish.study.requests.vocabulary import path, positive
from burnish.study.seen_types import tell_types

SCHEMA = 1
FILES = ("reference.onnx", "candidate.onnx")
DATA = "test_data_set_0"
_MOST_TRIES = 64


@dataclass(frozen=True, slots=True)
class ReduceReport:
    """The smallest part that was found."""

    model: str
    candidate: str
    engine: str
    nodes_before: int
    nodes_after: int
    """Of the reference."""
    operators: tuple[str, ...]
    """Of the candidate's part, in order."""
    diff: TensorDiff
    reference_file: Path
    candidate_file: Path
    """The same file where only the engine differs."""
    command: str
    """What shows the difference again."""


@dataclass(slots=True)
class _Search:
    """Two graphs with values of the same names, and what the reference gives for them."""

    models: tuple[ir.Model, ir.Model]
    subjects: tuple[JudgedSubject, JudgedSubject]
    folder: Path
    recorded: dict[str, Array]
    values: tuple[dict[str, ir.Value], dict[str, ir.Value]]

    def parts(self, output: str, stops: Sequence[str]) -> tuple[Part, Part]:
        """Return what leads from the stops to an output, in both graphs."""
        found = [
            extract.with_weights(extract.part([values[output]], [values[name] for name in stops]))
            for values in self.values
        ]
        return found[0], found[1]

    def diff(self, output: str, stops: Sequence[str]) -> TensorDiff:
        """Return how far the two are apart when both start from the same recorded values."""
        results = []
        for number, cut in enumerate(self.parts(output, stops)):
            path = self.folder / f"part_{number}.onnx"
            small = extract.as_model(cut, self.models[number], "part")
            onnx_files.write(small, path, history=History("", ()))
            subject = self.subjects[number]
            opened = JudgedSubject(StoredModel(path, "part"), subject.engine, subject.options)
            with opened.open() as session:
                results.append(session.run(inputs_of(cut, self.recorded))[output])
        return compare_tensor(output, results[0], results[1], Tolerances())

    def fails(self, output: str, stops: Sequence[str]) -> bool:
        """Return whether the two differ although they start from the same values."""
        return not self.diff(output, stops).passed


def inputs_of(cut: Part, recorded: Arrays) -> dict[str, Array]:
    """Return what a part is fed, from recorded values."""
    for value in cut.inputs:
        if (value.name or "") not in recorded:
            raise ModelError(
                f"the model states a type or shape of {value.name!r} that it does not have, so it"
                " cannot be recorded",
                hint="export it again, without types and shapes of inner values",
            )
    return {value.name or "": recorded[value.name or ""] for value in cut.inputs}


def answer(asked: ReduceCommand, *, progress: Progress = SILENT) -> ReduceReport:
    """Write the smallest part at which two models, or two engines, part."""
    model, *others = models_of([asked.model, asked.candidate], asked.store, asked.trust_factory)
    home, candidate = Path(asked.output), (others or [model])[0]
    for name in FILES:
        check_file(home / name, onnx_files.OWN)
    check_folder(home / DATA, datasets.RECORDED)
    subjects = judge(model), JudgedSubject(candidate, asked.engine)
    if others:
        subjects = subjects[0], unoptimised(subjects[1])
    models = _inferred(model), _inferred(candidate)
    sizes, data = positive(asked.shape), path(asked.data)
    (feeds, *_) = fitting(model, data=data, bindings=sizes, seed=asked.seed)
    shared = _shared(*models)
    with scratch("reduce") as folder:
        with runs(*subjects, feeds.arrays) as both:
            recorded = both.values(0, shared)
            given = both.values(1, shared)
        progress.step("reduce", 1, 3, f"{len(shared)} values compared")
        values = _by_name(*models)
        tell_types([value for side in values for value in side.values()], recorded)
        search = _Search(models, subjects, folder, {**feeds.arrays, **recorded}, values)
        output = _first_wrong(shared, recorded, given, search)
        progress.step("reduce", 2, 3, f"they part at {output}")
        stops = _nearest_stops(search, output, shared)
        progress.step("reduce", 3, 3, f"{len(search.parts(output, stops)[0].nodes)} nodes left")
        return _written(search, output, stops, home, model)


def _inferred(model: StoredModel) -> ir.Model:
    """Return a model that says of its inner values which types and shapes they have."""
    read = onnx_files.read(model.onnx)
    InferShapes()(read)
    return read


def _shared(reference: ir.Model, candidate: ir.Model) -> list[str]:
    """Return the values that both graphs have, in the order in which the reference makes them."""
    also = set(live_values(candidate))
    return [name for name in live_values(reference) if name in also]


def _by_name(*models: ir.Model) -> tuple[dict[str, ir.Value], dict[str, ir.Value]]:
    found = [
        {value.name: value for node in model.graph for value in node.outputs if value.name}
        for model in models
    ]
    return found[0], found[1]


def _first_wrong(shared: Sequence[str], recorded: Arrays, given: Arrays, search: _Search) -> str:
    outputs = [value.name or "" for value in search.models[0].graph.outputs]
    wrong = [
        name
        for name in shared
        if not compare_tensor(name, recorded[name], given[name], Tolerances()).passed
    ]
    for name in (*wrong, *(name for name in outputs if name in shared)):
        if search.fails(name, ()):
            return name
    raise UsageError(
        "the two compute the same here: there is nothing to reduce",
        hint="find inputs for which they differ: burnish verify, with --shape, --seed or --data",
    )


def _nearest_stops(search: _Search, output: str, shared: Sequence[str]) -> list[str]:
    """Return the values nearest to `output` from which the two still part.

    First by halving what lies before it, then by trying the values in between one by one.
    """
    before = _ancestors(search.values[0][output], shared)
    low, high = 0, len(before)
    if search.fails(output, before):
        return before
    while high - low > 1:
        middle = (low + high) // 2
        if search.fails(output, before[:middle]):
            low = middle
        else:
            high = middle
    stops = before[:low]
    for name in reversed(before[low:][-_MOST_TRIES:]):
        if search.fails(output, [*stops, name]):
            stops.append(name)
    return stops


def _ancestors(value: ir.Value, shared: Sequence[str]) -> list[str]:
    above = extract.part([value], ()).nodes
    made = {output.name for node in above for output in node.outputs} - {value.name}
    return [name for name in shared if name in made]


def _written(
    search: _Search, output: str, stops: Sequence[str], home: Path, model: StoredModel
) -> ReduceReport:
    diff = search.diff(output, stops)
    reference, candidate = search.parts(output, stops)
    key = onnx_files.content_key(model.onnx)
    subject = search.subjects[1]
    files = [home / name for name in FILES[: 1 if subject.model == model else 2]]
    for file, cut, whole in zip(files, (reference, candidate), search.models, strict=False):
        small = extract.as_model(cut, whole, "reduced")
        onnx_files.write(
            small, file, history=History(key, (HistoryStep("reduce", output),)), kind=onnx_files.OWN
        )
    interface = onnx_files.interface(extract.as_model(reference, search.models[0], "reduced"))
    data = DataSet(inputs_of(reference, search.recorded), {output: search.recorded[output]})
    folder = home / DATA
    datasets.write(folder, data, interface)
    where = shlex.quote(str(folder))
    named = " ".join(shlex.quote(str(file)) for file in files)
    return ReduceReport(
        model=model.label,
        candidate=subject.model.label,
        engine=subject.engine,
        nodes_before=len(search.models[0].graph),
        nodes_after=len(reference.nodes),
        operators=tuple(node.op_type for node in candidate.nodes),
        diff=diff,
        reference_file=files[0],
        candidate_file=files[-1],
        command=f"burnish verify {named} --engine {subject.engine} --data {where}",
    )
