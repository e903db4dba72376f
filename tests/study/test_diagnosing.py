"""What holds an inference back is said of inferences that ran something."""

from __future__ import annotations

import pytest

from burnish.core.errors import ModelError
from burnish.study.diagnosing import RunContext, diagnosed
from timelines import trace


def test_a_model_of_which_no_node_ran_has_nothing_to_profile() -> None:
    ran = RunContext("a model.onnx", "onnxruntime-cpu", is_trace=False)
    with pytest.raises(ModelError) as caught:
        diagnosed(trace(), None, ran)
    assert caught.value.problem == (
        "a model.onnx: onnxruntime-cpu ran no node of it, so there is nothing to profile"
    )
    assert caught.value.hint == "see what it holds: burnish model show 'a model.onnx'"


def test_a_trace_without_events_keeps_its_own_words() -> None:
    ran = RunContext("t.json", "", is_trace=True)
    with pytest.raises(ModelError, match="the trace holds no event inside an inference"):
        diagnosed(trace(), None, ran)
