"""Cut parts out of a model as small models with recorded inputs and outputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.core.arrays import Arrays
from burnish.core.command import command
from burnish.core.errors import UsageError
from burnish.core.files import check_file, marked, write_text
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.engines.sizes import JUDGE, fitting
from burnish.parity.exposed import Exposed
from burnish.process.scratch import scratch
from burnish.rewrite import extract
from burnish.store import datasets, layout, onnx_files
from burnish.store.datasets import DataSet
from burnish.store.history import History, HistoryStep
from burnish.store.stored import StoredModel
from burnish.study import distill_sites
from burnish.study.distill_sites import FoundParts, Site
from burnish.study.given import model_of
from burnish.study.requests.rewriting import DistillCommand
from burnish.study.requests.vocabulary import path as path_of
from burnish.study.requests.vocabulary import positive
from burnish.study.rewriting import rules_of
from burnish.study.seen_types import tell_types

SCHEMA = 1
VARIANT = "distilled"
TEST_FILE = "test_distilled.py"


@dataclass(frozen=True, slots=True)
class Piece:
    """One small model."""

    name: str
    onnx: Path
    node: str
    """Where it was cut out."""
    nodes: int
    copies: int
    """How many places of the model have this structure."""
    reason: str
    """Why the rule did not fire there; empty: it does."""


@dataclass(frozen=True, slots=True)
class DistillReport:
    """What was cut out of a model, and the test that tries it."""

    model: str
    pieces: tuple[Piece, ...]
    test_file: Path
    found: int
    """How many places there are, those of the same structure and those beyond the limit too."""


def answer(request: DistillCommand, *, progress: Progress = SILENT) -> DistillReport:
    """Write small models, each with the inputs and outputs that it has in the whole model."""
    model = model_of(request.model, request.store)
    test_file = Path(request.output) / TEST_FILE
    check_file(test_file, _TESTS)
    source = onnx_files.read(model.onnx)
    found = _found(source, request)
    groups: dict[str, list[Site]] = {}
    for site in found.sites:
        groups.setdefault(extract.structure(site.part), []).append(site)
    if not groups:
        raise UsageError(
            f"{model.label}: there is no such place",
            hint=f"see: {command('explain', model.onnx)}",
        )
    chosen = list(groups.values())[: request.max]
    values = _recorded(found.model, [group[0] for group in chosen], request)
    key = onnx_files.content_key(model.onnx)
    stem = request.name or request.function or request.pattern or ""
    pieces = tuple(
        _write(
            group, found.model, f"{stem}_{number}", values, History(key, (_step(request),)), request
        )
        for number, group in enumerate(chosen)
    )
    write_text(test_file, _test_text(pieces, model, request), _TESTS)
    return DistillReport(model.label, pieces, test_file, len(found.sites))


def _found(model: ir.Model, request: DistillCommand) -> FoundParts:
    if (request.function is None) == (request.pattern is None):
        raise UsageError(
            "distil either a function or a pattern",
            hint="name one: --function NAME, or --pattern RULE",
        )
    if request.function is not None:
        return distill_sites.called(model, request.function)
    find = distill_sites.missed if request.failing else distill_sites.matched
    return find(model, request.pattern or "", rules_of(request.rules))


def _step(request: DistillCommand) -> HistoryStep:
    what = f"function {request.function}" if request.function else f"pattern {request.pattern}"
    return HistoryStep("distill", what)


def _recorded(model: ir.Model, sites: Sequence[Site], request: DistillCommand) -> Arrays:
    """Return the values at the borders of all sites, from one run of the model."""
    borders = [v for site in sites for v in (*site.part.inputs, *site.part.outputs)]
    names = {value.name or "" for value in borders if not value.is_graph_input()}
    with scratch("distill") as folder:
        path = folder / "whole.onnx"
        onnx_files.write(model, path, history=History("", ()))
        whole = StoredModel(path, "whole")
        (feeds, *_) = fitting(
            whole, data=path_of(request.data), bindings=positive(request.shape), seed=request.seed
        )
        home = folder / "exposed"
        home.mkdir()
        with Exposed(whole, home).giving(sorted(names)) as giving:
            options = EngineOptions(graph_level="off")
            with open_session(JUDGE, giving, options) as session:
                return {**feeds.arrays, **session.run(feeds.arrays)}


def _write(
    group: Sequence[Site],
    model: ir.Model,
    name: str,
    values: Arrays,
    history: History,
    request: DistillCommand,
) -> Piece:
    site = group[0]
    tell_types((*site.part.inputs, *site.part.outputs), values)
    small = extract.as_model(extract.with_weights(site.part), model, name)
    path = layout.place(Path(request.output), name, VARIANT)
    onnx_files.write(small, path, history=history, kind=onnx_files.OWN)
    inputs = {value.name or "": values[value.name or ""] for value in site.part.inputs}
    outputs = {value.name or "": values[value.name or ""] for value in site.part.outputs}
    interface = onnx_files.interface(small)
    datasets.write(path.parent / "test_data_set_0", DataSet(inputs, outputs), interface)
    return Piece(name, path, site.node, len(site.part.nodes), len(group), site.reason)


_TESTS = marked("a test of distilled models", "Written by `burnish distill`")
_TEST = '''"""Rewrite what was distilled from a model, and check that it computes the same.

Written by `burnish distill`; run it with `pytest {file}`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.study.distilled import rewritten

MODEL = {model!r}
STORE = Path(__file__).parent
NAMES = {names}


@pytest.mark.parametrize("name", NAMES)
def test_rewriting_keeps_the_numbers(name: str) -> None:
    assert rewritten(STORE / name).parity.passed
'''
_FIRING = """

{mark}@pytest.mark.parametrize("name", NAMES)
def test_the_rule_fires(name: str) -> None:
    assert "{rule}" in rewritten(STORE / name).report.fusion_counts
"""
_XFAIL = '@pytest.mark.xfail(reason="what the rule should learn", strict=True)\n'


def _test_text(pieces: Sequence[Piece], model: StoredModel, request: DistillCommand) -> str:
    names = [str(piece.onnx.relative_to(request.output)) for piece in pieces]
    # names come from a model: they must not become code
    listed = "[\n" + "".join(f"    {json.dumps(name)},\n" for name in names) + "]"
    text = _TEST.format(model=model.label, file=TEST_FILE, names=listed)
    if request.pattern is None or request.rules:
        return text
    mark = _XFAIL if request.failing else ""
    return text + _FIRING.format(rule=request.pattern, mark=mark)
