"""The part of a model that is left to ONNX Runtime: cut out, loaded, and run on our own memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.codegen.plan import LibraryStep, PlanTensor
from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.rewrite.edit import bodies, is_standard
from burnish.rewrite.extract import Part, as_model, reads
from burnish.store.element_types import DATA_TYPES

OrtSession = Any
OrtBinding = Any
"""`onnxruntime.InferenceSession` and `IOBinding`: the package has no types."""

_QUIET = 4
"""Fatal messages only: whatever else matters comes back as an exception."""


def cut(model: ir.Model, nodes: Sequence[ir.Node], name: str) -> ir.Model:
    """Return these nodes, which are in the order of their graph, as a model of their own.

    It takes what they read from elsewhere and gives what is read elsewhere or is an output of the
    model, under the same names; constants become its own.
    """
    return as_model(_part(nodes), model, name)


def border(nodes: Sequence[ir.Node]) -> tuple[ir.Value, ...]:
    """Return what these nodes would take and give as a part."""
    part = _part(nodes)
    return (*part.inputs, *part.outputs)


def _part(nodes: Sequence[ir.Node]) -> Part:
    own = dict.fromkeys([*_constant_nodes(nodes), *nodes])
    made = {value for node in own for value in node.outputs}
    read = dict.fromkeys(value for node in own for value in reads(node) if value not in made)
    return Part(
        nodes=tuple(own),
        inputs=tuple(value for value in read if not value.is_initializer()),
        weights=(),
        constants=tuple(value for value in read if value.is_initializer()),
        outputs=tuple(_given(nodes)),
    )


def _constant_nodes(nodes: Sequence[ir.Node]) -> list[ir.Node]:
    """Return the Constant nodes that the nodes read: each part has its own copy of them."""
    makers = (value.producer() for node in nodes for value in reads(node))
    return [node for node in makers if node is not None and is_standard(node, "Constant")]


def _given(nodes: Sequence[ir.Node]) -> list[ir.Value]:
    inside = set(nodes)
    for node in nodes:
        inside |= {inner for body in bodies(node) for inner in body.all_nodes()}
    return [
        value
        for node in nodes
        for value in node.outputs
        if value.is_graph_output() or any(user not in inside for user in value.consumers())
    ]


def load(path: Path, threads: int) -> OrtSession:
    """Return ONNX Runtime's session for a part, with `threads` threads that rest between runs."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.log_severity_level = _QUIET
    # its threads would otherwise go on spinning for some time on the cores that kernels need
    settings.add_session_config_entry("session.force_spinning_stop", "1")
    onnxruntime.set_default_logger_severity(_QUIET)
    try:
        return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise _explained(error, path) from error


@dataclass(slots=True)
class BoundPart:
    """A part with the memory of what it reads and writes; one call runs it once."""

    session: OrtSession
    step: LibraryStep
    tensors: Mapping[str, PlanTensor]
    binding: OrtBinding

    @classmethod
    def of(
        cls, session: OrtSession, step: LibraryStep, tensors: Mapping[str, PlanTensor]
    ) -> BoundPart:
        """Return a part that is bound to nothing yet."""
        return cls(session, step, tensors, session.io_binding())

    @property
    def names(self) -> tuple[str, ...]:
        """Return what must be bound before the first run."""
        return (*self.step.inputs, *self.step.outputs)

    def bind(self, name: str, address: int) -> None:
        """Say where a tensor of fixed size lies."""
        tensor = self.tensors[name]
        bind = self.binding.bind_input if name in self.step.inputs else self.binding.bind_output
        kind = DATA_TYPES[tensor.dtype].value
        bind(name, "cpu", 0, kind, list(tensor.shape or ()), address)

    def run(self) -> None:
        """Run once; what it writes lies where it was bound."""
        try:
            self.session.run_with_iobinding(self.binding)
        except Exception as error:
            raise _explained(error, Path(self.step.file)) from error


@dataclass(slots=True)
class LoosePart:
    """A part that reads or writes text, or something whose size is not known: run with copies."""

    session: OrtSession
    step: LibraryStep

    def run(self, values: Mapping[str, Array]) -> dict[str, Any]:
        """Return what the part gives."""
        try:
            found = self.session.run(
                list(self.step.outputs), {name: values[name] for name in self.step.inputs}
            )
        except Exception as error:
            raise _explained(error, Path(self.step.file)) from error
        given = zip(self.step.outputs, found, strict=True)
        return {name: v if isinstance(v, list) else np.asarray(v) for name, v in given}


def _explained(error: Exception, path: Path) -> Exception:
    own = type(error).__module__.startswith("onnxruntime")
    if not own and not isinstance(error, RuntimeError):
        return error
    reason = str(error).strip().partition("\n")[0]
    return ModelError(
        f"{path}: ONNX Runtime cannot run this part of the model ({reason})",
        hint="run the whole model with --engine onnxruntime-cpu",
    )
