"""What PyTorch's profiler records is told by inference and by module."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from burnish.engines.torch_profile import recorded  # noqa: E402


def test_inferences_and_modules_are_recorded(capfd: pytest.CaptureFixture[str]) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    x = torch.ones(2, 3)
    with torch.inference_mode():
        trace = recorded(lambda: module(x), runs=3, modules_of=module, on_gpu=False)
    assert trace.runs == 3
    linear = [span for span in trace.spans if span.name == "aten::linear"]
    assert [span.run for span in linear] == [0, 1, 2]
    assert linear[0].parent is not None
    assert trace.spans[linear[0].parent].name == "0"
    assert linear[0].attributes["shapes"] == "2x3;3x3;3"
    assert capfd.readouterr() == ("", "")


def test_the_module_is_left_as_it_was() -> None:
    module = torch.nn.Sequential(torch.nn.ReLU())
    recorded(lambda: module(torch.ones(2)), runs=1, modules_of=module, on_gpu=False)
    assert not module[0]._forward_hooks
    assert not module[0]._forward_pre_hooks
