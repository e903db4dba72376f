"""Compile a model as a request asks."""

from __future__ import annotations

from pathlib import Path

from burnish.core.progress import SILENT, Progress
from burnish.study.compile import CompileRequest, compile_model
from burnish.study.compile_report import CompileReport
from burnish.study.given import model_of
from burnish.study.requests.rewriting import CompileCommand
from burnish.study.requests.vocabulary import path, shapes
from burnish.study.tuning import TuneTerms


def answer(asked: CompileCommand, *, progress: Progress = SILENT) -> CompileReport:
    """Write a model as a folder of kernels, if that computes the same; return what was done."""
    words = [] if asked.fusion == "full" else [f"--fusion {asked.fusion}"]
    words += ["--skip-dot"] if asked.skip_dot else []
    words += [] if asked.tune else ["--no-tune"]
    words += [f"--threads {asked.threads}"] if asked.threads else []
    request = CompileRequest(
        model=model_of(asked.model, asked.store),
        target=Path(asked.output),
        shapes=shapes(asked.shape),
        fusion=asked.fusion,
        skip_dot=asked.skip_dot,
        tune=TuneTerms(asked.topk, asked.budget or None) if asked.tune else None,
        threads=asked.threads,
        samples=asked.samples,
        seed=asked.seed,
        dump=path(asked.dump),
        sign=path(asked.sign),
        words=tuple(words),
    )
    return compile_model(request, progress=progress)
