"""Compile a model as a request asks."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from burnish.codegen.open_size import ClosedSizeError
from burnish.core.backends import DEFAULT_TARGET, backend_name, target_named
from burnish.core.errors import ModelError, UsageError
from burnish.core.precisions import MODES
from burnish.core.progress import SILENT, Progress
from burnish.engines.sizes import usual
from burnish.feeds import dimension
from burnish.feeds.bind import bind
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds
from burnish.parity.tolerances import Tolerances
from burnish.store import layout, onnx_files
from burnish.store.interface import ANY_RANK
from burnish.store.stored import StoredModel
from burnish.study import exporting
from burnish.study.compile import CompileRequest, compile_model
from burnish.study.compile_numbers import is_rewritten, quantised, require_precision
from burnish.study.compile_report import CompileReport
from burnish.study.given import model_of
from burnish.study.requests.line import line
from burnish.study.requests.rewriting import CompileCommand, ExportCommand
from burnish.study.requests.vocabulary import path, shapes
from burnish.study.tuning import TuneTerms

LEAST_OPEN = 2
"""A size that stays open is at most so much or more: with one there is nothing to leave open."""


def answer(asked: CompileCommand, *, progress: Progress = SILENT) -> CompileReport:
    """Write a model as a folder of kernels, if that computes the same; return what was done."""
    _require_card(asked)
    _require_open(asked)
    precision = require_precision(asked)
    model, told = _model(asked, progress)
    given = _given(model, asked)
    if not given:
        _require_sizes(model, asked)
    rewritten = None
    if precision is not None and is_rewritten(model, precision):
        rewritten = quantised(model, asked, precision, progress)
        model = layout.stored(rewritten.target)
    request = _request(asked, model, given, precision if precision in MODES else None)
    try:
        report = compile_model(request, progress=progress)
    except ClosedSizeError as error:
        raise ClosedSizeError(error.problem, hint=_closed(asked)) from error
    return replace(report, rewritten=rewritten, notes=(*told, *report.notes))


def _require_card(asked: CompileCommand) -> None:
    """Raise if something is asked for that only cards have, and the target is a CPU."""
    if backend_name(target_named(asked.target)) != DEFAULT_TARGET:
        return
    reasons = {
        "--device-memory": (
            asked.device_memory,
            "is a card's, and kernels for CPUs use the host's",
        ),
        "--bundle": (asked.bundle, "is for cards, and kernels for CPUs are timed here"),
        "--timings": (asked.timings, "are a card's, and kernels for CPUs are timed here"),
    }
    for option, (given, reason) in reasons.items():
        if given is not None:
            raise UsageError(
                f"{option} {reason}",
                hint="compile for a card: --target cuda, or for a kind of card: --target sm_90",
            )


def _require_open(asked: CompileCommand) -> None:
    """Raise if a size is to stay open that has no greatest, or of a folder that cannot leave it."""
    name = asked.up_to
    if name is None:
        return
    if asked.target != DEFAULT_TARGET or asked.data is not None:
        what = "--data" if asked.data is not None else f"--target {asked.target}"
        raise UsageError(
            f"--up-to goes with made inputs and kernels for CPUs, not with {what}",
            hint=f"leave --up-to {name} out, or {what}",
        )
    given = shapes(asked.shape) or ({},)
    if any(shape.get(name, 0) < LEAST_OPEN for shape in given):
        wanted = line(replace(asked, shape=tuple({**shape, name: 32} for shape in given)))
        raise UsageError(
            f"--up-to {name}: --shape gives no greatest {name} of at least {LEAST_OPEN}",
            hint=f"give one, for instance: {wanted}",
        )


def _closed(asked: CompileCommand) -> str:
    """Return what to do where a size cannot stay open: the command that gives each a plan."""
    name = asked.up_to or ""
    each = tuple(
        {**shape, name: size} for shape in shapes(asked.shape) for size in (1, shape[name])
    )
    return f"compile a plan for each size: {line(replace(asked, up_to=None, shape=each))}"


def _request(
    asked: CompileCommand, model: StoredModel, given: tuple[Feeds, ...], mode: str | None
) -> CompileRequest:
    """Return what is to be compiled, and how."""
    words = [] if asked.target == DEFAULT_TARGET else [f"--target {shlex.quote(asked.target)}"]
    words += [f"--device-memory {asked.device_memory}"] if asked.device_memory else []
    words += [] if asked.fusion == "full" else [f"--fusion {asked.fusion}"]
    words += [f"--precision {mode}"] if mode else []
    words += ["--skip-dot"] if asked.skip_dot else []
    words += [] if asked.winograd else ["--no-winograd"]
    words += [f"--up-to {shlex.quote(asked.up_to)}"] if asked.up_to else []
    words += [] if asked.tune else ["--no-tune"]
    words += [f"--timings {shlex.quote(str(asked.timings))}"] if asked.timings else []
    words += [f"--threads {asked.threads}"] if asked.threads else []
    allowed = {"atol": asked.atol, "rtol": asked.rtol, "tolerance": asked.tolerance}
    words += [f"--{name} {value}" for name, value in allowed.items() if value is not None]
    return CompileRequest(
        model=model,
        folder=Path(asked.output),
        target=target_named(asked.target),
        shapes=_sizes(given) or shapes(asked.shape),
        given=given,
        tolerances=Tolerances(asked.tolerance, asked.atol, asked.rtol),
        device_memory_bytes=asked.device_memory,
        fusion=asked.fusion,
        skip_dot=asked.skip_dot,
        mode=mode,
        winograd=asked.winograd,
        up_to=asked.up_to,
        candidates=asked.topk,
        bundle=path(asked.bundle),
        timings=path(asked.timings),
        tune=TuneTerms(asked.topk, asked.budget or None) if asked.tune else None,
        threads=asked.threads,
        samples=asked.samples,
        seed=asked.seed,
        dump=path(asked.dump),
        sign=path(asked.sign),
        words=tuple(words),
    )


def _model(asked: CompileCommand, progress: Progress) -> tuple[StoredModel, tuple[str, ...]]:
    """Return the model that is meant; a module is exported into the store, with what that says."""
    if asked.module is None and asked.model is not None:
        return model_of(asked.model, asked.store), ()
    if asked.module is None or asked.model is not None:
        raise UsageError(
            "what to compile is one MODEL or one --module",
            hint="burnish compile --module file.py:function -o FOLDER",
        )
    first = ExportCommand(module=asked.module, store=asked.store)
    try:
        exported = exporting.answer(first, progress=progress)
    except ModelError as error:
        # the options that hints name are not those of compiling
        hint = f"{line(first)} takes what may help ({error.hint}); compile what that writes"
        raise ModelError(error.problem, hint=hint) from error
    return layout.stored(exported.onnx), exported.notes


def _given(model: StoredModel, asked: CompileCommand) -> tuple[Feeds, ...]:
    """Return the inputs that the user brings; none: they are made."""
    data = path(asked.data)
    if data is None:
        return ()
    found = [choose(model, data=data, bindings=shape) for shape in shapes(asked.shape) or ({},)]
    return found[0]


def _sizes(given: tuple[Feeds, ...]) -> tuple[Mapping[str, int], ...]:
    """Return the sizes that inputs have, each once."""
    found: list[Mapping[str, int]] = []
    found.extend(each.bindings for each in given if each.bindings not in found)
    return tuple(found)


def _require_sizes(model: StoredModel, asked: CompileCommand) -> None:
    """Raise if an axis has no size, and name all of them: code is generated for sizes."""
    inputs = onnx_files.interface(onnx_files.look(model.onnx)).inputs
    if any(ANY_RANK in spec.shape for spec in inputs):
        return  # the compiler says what is missing
    axes = dict.fromkeys(axis for spec in inputs for axis in spec.symbols)
    atoms = dict.fromkeys(atom for axis in axes for atom in dimension.atoms(axis))
    for shape in shapes(asked.shape) or ({},):
        missing = [name for name in atoms if name not in shape]
        if missing:
            works = {**bind(inputs, shape).sizes, **usual(model, shape).sizes}
            sizes = {**shape, **{name: works.get(name, 1) for name in missing}}
            whole = line(replace(asked, shape=sizes))
            raise UsageError(
                f"{', '.join(missing)}: no size, and code is generated for fixed sizes",
                hint=f"give {'each' if len(missing) > 1 else 'it'} one, for instance: {whole}",
            )
