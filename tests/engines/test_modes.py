from __future__ import annotations

import pytest

from burnish.core.errors import UsageError
from burnish.engines.base import EngineOptions
from burnish.engines.modes import name_and_mode
from burnish.engines.onnxruntime_cpu import leveled


def test_a_mode_stands_behind_a_colon() -> None:
    assert name_and_mode("torch-compile:max-autotune") == ("torch-compile", "max-autotune")
    assert name_and_mode("onnxruntime-cpu:off") == ("onnxruntime-cpu", "off")
    assert name_and_mode("openvino") == ("openvino", "")


def test_the_mode_of_onnx_runtime_is_its_level() -> None:
    assert leveled(EngineOptions(mode="basic")).graph_level == "basic"
    assert leveled(EngineOptions(graph_level="off")).graph_level == "off"


@pytest.mark.parametrize(
    ("spec", "problem", "hint"),
    [
        ("openvino:fast", "engine openvino has no modes, and 'fast' was asked for",
         "write --engine openvino"),
        ("onnxruntime-cpu:of", "engine onnxruntime-cpu has no mode 'of'", "did you mean 'off'?"),
        ("torch-eager:fast", "engine torch-eager has no mode 'fast'",
         "torch-eager:graph replays a CUDA graph"),
        ("onnxruntime-cuda:off", "engine onnxruntime-cuda has no mode 'off'",
         "onnxruntime-cuda:graph replays a CUDA graph"),
        ("onnxruntime-cpo", "unknown engine 'onnxruntime-cpo'", "did you mean"),
    ],
)  # fmt: skip
def test_what_is_no_mode_is_refused(spec: str, problem: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        name_and_mode(spec)
    assert problem in error.value.problem
    assert hint in error.value.hint
