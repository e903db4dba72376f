"""A timeline has one span per step, with the nodes whose work it does."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from burnish.codegen.write import write
from burnish.runtime import tracing
from burnish.runtime.load import load
from codegen.hand_written import ABOUT, built
from codegen.models import PORTABLE


def test_every_step_of_every_run_is_there(tmp_path: Path) -> None:
    made = built(8)
    origins = {"node_of_a": ("first", "second")}
    operators = {"node_of_a": "Add", "node_of_b": "Mul", "node_of_y": "Add"}
    plan = dataclasses.replace(made.plan, origins=origins, operators=operators)
    write(tmp_path / "c", ABOUT, [dataclasses.replace(made, plan=plan)], PORTABLE)
    feeds = {"x": np.ones(8, np.float32)}
    with load(tmp_path / "c", threads=1) as model:
        trace = tracing.trace(model.executable(feeds), feeds, warmup=1, runs=2)
    assert trace.runs == 2
    assert [span.run for span in trace.spans if span.category == "run"] == [0, 1]
    steps = [span for span in trace.spans if span.category == "node" and span.run == 0]
    assert [span.name for span in steps] == ["0: sum", "1: product", "2: sum"]
    assert [span.op_type for span in steps] == ["Add", "Mul", "Add"]
    assert {span.provider for span in steps} == {"burnish"}
    assert trace.origins["0: sum"] == ("first", "second")
    assert trace.origins["1: product"] == ("node_of_b",)
