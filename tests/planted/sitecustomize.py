"""Python imports this at its start where it is on the path: ONNX Runtime then misbehaves on demand.

PLANTED holds JSON: which `operator` a model must have, at which `levels` of optimisation, whether
it is loading or running that goes wrong (`at`), and what then happens (`do`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any


def refuse() -> None:
    """Raise what ONNX Runtime raises for a graph that its own optimisations have spoilt."""
    raise RuntimeError("[ONNXRuntimeError] : 1 : FAIL : planted")


ACTS: dict[str, Callable[[], object]] = {
    "segv": lambda: os.kill(os.getpid(), 11),
    "abort": lambda: (os.write(2, b"terminate called\n"), os.abort()),
    "memory": lambda: (os.write(2, b"what():  std::bad_alloc\n"), os.abort()),
    "kill": lambda: os.kill(os.getpid(), 9),
    "exit": lambda: os._exit(4),
    "refuse": refuse,
    "hang": lambda: time.sleep(600),
    "chatter": lambda: [os.write(1, b"loading the loader\n" * 1000) for _ in range(200)],
}


def act(stage: str, model: Any, options: Any) -> None:  # noqa: ANN401
    """Do what was planted for this stage, if the model has what triggers it."""
    import onnx

    for plan in json.loads(os.environ.get("PLANTED") or "[]"):
        graph = onnx.load(model.onnx, load_external_data=False).graph
        operators = {node.op_type for node in graph.node}
        due = plan["operator"] in operators and options.graph_level in plan["levels"]
        if due and plan["at"] == stage:
            ACTS[plan["do"]]()


def plant() -> None:
    """Have ONNX Runtime's sessions act."""
    from burnish.engines import onnxruntime_cpu, onnxruntime_session

    load, run = onnxruntime_cpu.load, onnxruntime_session.OnnxRuntimeSession.run

    def planted_load(model: Any, options: Any, *others: Any, **named: Any) -> Any:  # noqa: ANN401
        with onnxruntime_session.explained(model):
            act("open", model, options)
        return load(model, options, *others, **named)

    def planted_run(self: Any, feeds: Any) -> Any:  # noqa: ANN401
        act("run", self._model, self._options)
        return run(self, feeds)

    onnxruntime_cpu.load = planted_load
    onnxruntime_session.OnnxRuntimeSession.run = planted_run


if "PLANTED" in os.environ and "pip" not in sys.argv[0]:
    plant()
