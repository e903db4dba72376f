"""Export a PyTorch model as a request asks."""

from __future__ import annotations

import os
from collections.abc import Mapping

from burnish.core.errors import UsageError
from burnish.core.precisions import precision_named
from burnish.core.progress import SILENT, Progress
from burnish.store import history, onnx_files
from burnish.store.stored import StoredModel
from burnish.study.export import ExportPlan, export
from burnish.study.export_report import ExportReport
from burnish.study.given import TorchModule, factory_of, store_of
from burnish.study.requests.rewriting import ExportCommand
from burnish.zoo import factory as zoo
from burnish.zoo.entry import NetworkOptions, Precision
from burnish.zoo.exporting.name import default_name, default_variant, placed, source_named
from burnish.zoo.exporting.request import ExportRequest, FactorySource

_PRECISIONS: Mapping[str, Precision] = {
    "fp32": "fp32", "fp16": "fp16", "bf16": "bf16", "int8": "fp32",
}  # fmt: skip
"""In which type a module is built; int8 is made of the exported model."""


_TELLING = ("past", "small", "precision")
"""Options that make another model; others may be changed by the exporter itself."""


def answer(asked: ExportCommand, *, progress: Progress = SILENT) -> ExportReport:
    """Export what is asked for into the store, checked against PyTorch after every step."""
    if (asked.source is None) == (asked.module is None):
        raise UsageError(
            "what to export is one NAME, one FOLDER or one --module",
            hint="see what there is: burnish zoo list",
        )
    request, name = _request(asked)
    int8 = _precision(asked) == "int8"
    plan = ExportPlan(
        store=store_of(asked.store),
        name=asked.name or name,
        variant=asked.variant or default_variant(request, int8=int8, optimize=asked.optimize),
        int8=int8,
        optimize=asked.optimize,
        generation=asked.generation,
        time_limit_s=asked.time_limit,
    )
    return export(request, plan, progress=progress)


def is_asked_for(there: StoredModel, asked: ExportCommand) -> bool:
    """Return whether an exported model is what a request asks for, as far as it says itself."""
    said, options = there.torch, zoo.given(_options(asked))
    steps = history.read(onnx_files.look(there.onnx))
    made = {step.name for step in steps.steps} if steps is not None else set()
    if ("int8" in made) != (_precision(asked) == "int8"):
        return False
    if said is None or said.origin != "zoo":
        return True
    alike = all(said.arguments.get(name) == options.get(name) for name in _TELLING)
    return said.name == asked.source and alike


def _request(asked: ExportCommand) -> tuple[ExportRequest, str]:
    """Return what to export, and its name if nobody gives one."""
    given = asked.source
    factory = factory_of(given) if isinstance(given, TorchModule) else asked.module
    if factory is not None:
        placed(factory)  # before a process is started for it, which takes seconds
        name = given.name if isinstance(given, TorchModule) else default_name(factory)
    elif isinstance(given, str | os.PathLike):
        name = default_name(os.fspath(given))
    else:
        raise UsageError(
            f"a {type(given).__name__} cannot be exported",
            hint="give a PyTorch module with its inputs: burnish.TorchModule(module, inputs)",
        )
    request = ExportRequest(
        source=FactorySource(factory)
        if factory is not None
        else source_named(str(given), trust_pickle=asked.trust_pickle),
        options=_options(asked),
        exporter=asked.exporter,
        opset=asked.opset,
        dynamic=asked.dynamic,
        functions=asked.functions,
    )
    return request, name


def _precision(asked: ExportCommand) -> str:
    found = precision_named(asked.precision or "fp32")
    if found not in _PRECISIONS:
        raise UsageError(
            f"a model cannot be exported in {found}",
            hint=f"choose one of {', '.join(_PRECISIONS)}",
        )
    return found


def _options(asked: ExportCommand) -> NetworkOptions:
    return NetworkOptions(
        layers=asked.layers,
        attention=asked.attention,
        batch=asked.batch,
        sequence=asked.sequence,
        precision=_PRECISIONS[_precision(asked)],
        past=asked.past,
        small=asked.small,
        seed=asked.seed,
    )
