"""A graph of Dynamo's for one choice of shapes: exported, compiled, and held against PyTorch."""

from __future__ import annotations

import dataclasses
import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from burnish.core.plain_text import plain
from burnish.integrations.torch_judge import in_f32, judged
from burnish.integrations.torch_layers import spelled_out
from burnish.integrations.torch_memory import OutputMemory, laid, memory_of
from burnish.integrations.torch_opened import NotCompiledError, OpenedGraph, is_tensor, opening_for
from burnish.zoo.exporting.graph import tidied

Tensor = Any
GraphModule = Any
ExportedProgram = Any
Node = Any
"""PyTorch's types: torch is imported only where it is used."""

OPSET = 20
_TALKING = ("torch.onnx", "torch.fx.experimental.symbolic_shapes")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class CompiledShape:
    """A graph that is compiled for inputs of certain shapes; called with all of Dynamo's values."""

    opened: OpenedGraph
    taken: tuple[tuple[str, int], ...]
    """The names of its inputs, and where they stand among Dynamo's values."""
    given: tuple[str | None, ...]
    """The names of its outputs in Dynamo's order; None: nothing that is computed."""
    fixed: tuple[Any, ...]
    """What stands at those places, where it is no tensor."""
    memory: tuple[OutputMemory | None, ...]
    """How the outputs lie, as PyTorch has them."""

    def __call__(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return what the graph gives."""
        found = self.opened.run({name: values[place] for name, place in self.taken})
        pairs = zip(self.given, self.fixed, strict=True)
        outputs = [each if name is None else found[name] for name, each in pairs]
        return laid(outputs, values, self.memory)


def compile_for(
    graph: GraphModule, values: Sequence[Any], weights: frozenset[int], threads: int
) -> CompiledShape:
    """Return a graph compiled for these values; `NotCompiledError` says why it is not.

    `weights`: which of the values are parameters and buffers; what they hold is compiled in.
    """
    import torch

    opening = opening_for({str(each.device) for each in values if is_tensor(each)})
    inputs = [n for n, each in enumerate(values) if is_tensor(each) and n not in weights]
    program = _exported(graph, values, inputs)
    with torch.no_grad():
        expected = graph(*values)  # which changes nothing: that is known by now
    memory = memory_of(expected, values)
    given = tuple(
        None if lies is None or lies.is_view else f"output_{n}" for n, lies in enumerate(memory)
    )
    if not any(given):
        raise NotCompiledError("it computes nothing: what it gives are views of its inputs")
    every = [f"output_{n}" for n, each in enumerate(expected) if is_tensor(each)]
    model = _model(program, inputs, every)
    _keep_outputs(model, {name for name in given if name})
    kept = {value.name for value in model.graph.inputs}
    taken = tuple((_input_name(n), n) for n in inputs if _input_name(n) in kept)
    fixed = tuple(None if is_tensor(each) else each for each in expected)
    own = [values[n] for n in sorted(weights)]
    opened = opening(model, {name: values[place] for name, place in taken}, threads, own)
    found = CompiledShape(opened, taken, given, fixed, memory)
    notes = judged(expected, found(values), lambda: in_f32(graph, values))
    return dataclasses.replace(
        found, opened=dataclasses.replace(opened, notes=(*opened.notes, *notes))
    )


def _exported(graph: GraphModule, values: Sequence[Any], inputs: Sequence[int]) -> ExportedProgram:
    """Return the graph as PyTorch exports it, with weights and sizes in it."""
    import torch

    class BoundGraph(torch.nn.Module):
        """The graph as a function of its inputs only."""

        def __init__(self) -> None:
            super().__init__()
            self.graph = graph
            for n, each in enumerate(values):
                if is_tensor(each) and n not in set(inputs):
                    self.register_buffer(f"weight_{n}", each.detach())

        def forward(self, *given: Tensor) -> tuple[Tensor, ...]:
            found = dict(zip(inputs, given, strict=True))
            every = [
                found[n] if n in found else getattr(self, f"weight_{n}", each)
                for n, each in enumerate(values)
            ]
            return tuple(each for each in self.graph(*every) if is_tensor(each))

    try:
        with torch.inference_mode(mode=False), torch.no_grad(), _quiet():
            given = tuple(values[n].detach() for n in inputs)
            # hardly any decompositions: it makes the graph one of functions, so that what it
            # changes can be seen
            exported = torch.export.export(BoundGraph(), given, strict=False)
            program = exported.run_decompositions(dict(spelled_out()))
    except Exception as error:
        raise NotCompiledError(f"it cannot be exported: {_line(error)}") from error
    _require_pure(program)
    return program


def _require_pure(program: ExportedProgram) -> None:
    """Raise where a graph does more than to compute its outputs."""
    signature = program.graph_signature
    if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
        raise NotCompiledError("it changes tensors in place")
    for node in program.graph.nodes:
        if _draws(node):
            raise NotCompiledError(f"it draws random numbers ({node.target})")


def _draws(node: Node) -> bool:
    """Say whether a node draws random numbers: one that might, unless it is told not to."""
    import torch

    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    names = [argument.name for argument in node.target._schema.arguments]
    defaults = {a.name: a.default_value for a in node.target._schema.arguments}
    told = {**defaults, **dict(zip(names, node.args, strict=False)), **node.kwargs}
    if any(told.get(name) is False for name in ("train", "training")):
        return False
    chances = [told[name] for name in ("p", "dropout_p", "dropout") if name in told]
    return not chances or any(each != 0 for each in chances)


def _model(program: ExportedProgram, inputs: Sequence[int], outputs: Sequence[str]) -> ir.Model:
    """Return a graph as ONNX has it; weights are still PyTorch's own memory."""
    import torch

    try:
        with _quiet():
            exported = torch.onnx.export(
                program, dynamo=True, opset_version=OPSET, verbose=False,
                input_names=[_input_name(n) for n in inputs], output_names=list(outputs),
            )  # fmt: skip
    except Exception as error:
        raise NotCompiledError(f"it has no form in ONNX: {_line(error)}") from error
    return tidied(exported.model)


def _keep_outputs(model: ir.Model, names: set[str]) -> None:
    """Take the other outputs out of a model; what only they need is not compiled."""
    model.graph.outputs[:] = [value for value in model.graph.outputs if value.name in names]


def _input_name(place: int) -> str:
    return f"input_{place}"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporter's notes to developers, of which there are many, to itself."""
    loggers = [logging.getLogger(name) for name in _TALKING]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _line(error: BaseException) -> str:
    """Return what began a chain of errors, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = _COLOURS.sub("", lines[0]) if lines else ""
    return plain(f"{type(error).__name__}: {first}"[:300])
