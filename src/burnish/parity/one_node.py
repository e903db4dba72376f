"""Run single nodes on the engine that everybody has, for operators that no evaluator knows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import onnx_ir as ir

from burnish.core.array_types import name_of
from burnish.core.arrays import Array
from burnish.core.closing import Closing
from burnish.engines.base import Session
from burnish.parity.subject import JUDGE, JudgedSubject, judge
from burnish.process.scratch import scratch
from burnish.store.element_types import DATA_TYPES
from burnish.store.stored import StoredModel
from burnish.store.versions import fitted

_MOST_OPEN = 64


class NodeRunner(Closing):
    """Opens one session for each node and each set of input types, and keeps it."""

    def __init__(self, opsets: dict[str, int]) -> None:
        """Take the opsets of the model that the nodes come from."""
        self._opsets = opsets
        self._open = ExitStack()
        self._sessions: dict[tuple[object, ...], Session] = {}
        self._folder: Path | None = None

    def __call__(self, node: ir.Node, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
        """Return what the node gives, in the types that its model declares."""
        types = tuple(None if each is None else (name_of(each), each.ndim) for each in inputs)
        key = (node, *types)
        if key not in self._sessions:
            if len(self._sessions) >= _MOST_OPEN:
                self.close()
            self._sessions[key] = self._opened(node, inputs)
        fed = {f"in{place}": each for place, each in enumerate(inputs) if each is not None}
        return tuple(self._sessions[key].run(fed).values())

    def close(self) -> None:
        """Close all sessions."""
        self._sessions.clear()
        self._folder = None
        self._open.close()

    def _opened(self, node: ir.Node, inputs: Sequence[Array | None]) -> Session:
        if self._folder is None:
            self._folder = self._open.enter_context(scratch("node"))
        path = self._folder / f"{len(self._sessions)}.onnx"
        model = fitted(_alone(node, inputs, self._opsets))
        path.write_bytes(ir.to_proto(model).SerializeToString())
        subject: JudgedSubject = judge(StoredModel(path, node.op_type), JUDGE)
        return self._open.enter_context(subject.open())


def _alone(node: ir.Node, inputs: Sequence[Array | None], opsets: dict[str, int]) -> ir.Model:
    """Return a model of one node whose inputs all are fed."""
    fed = [
        None if array is None else ir.Value(
            name=f"in{place}",
            type=ir.TensorType(DATA_TYPES[name_of(array)]),
            shape=ir.Shape([f"d{place}_{dim}" for dim in range(array.ndim)]),
        )
        for place, array in enumerate(inputs)
    ]  # fmt: skip
    outputs = [
        ir.Value(name=f"out{place}" if value.name else "", type=value.type)
        for place, value in enumerate(node.outputs)
    ]
    alone = ir.Node(
        node.domain, node.op_type, fed, node.attributes.values(), outputs=outputs, name="node"
    )
    graph = ir.Graph(
        [value for value in fed if value is not None],
        [value for value in outputs if value.name],
        nodes=[alone],
        opset_imports={**opsets, "com.microsoft": 1},
        name="one",
    )
    return ir.Model(graph, ir_version=10)
