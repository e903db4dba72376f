"""Eager PyTorch as a CUDA graph, with a card that is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest

torch = pytest.importorskip("torch")

from burnish.core.errors import MissingCapabilityError  # noqa: E402
from burnish.engines.torch_captured import CapturedCall  # noqa: E402

pytestmark = pytest.mark.torch


class FakeStream:
    def wait_stream(self, _other: object) -> None: ...


class FakeGraph:
    replays = 0

    def replay(self) -> None:
        FakeGraph.replays += 1


@pytest.fixture(autouse=True)
def a_card_seems_to_be_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "current_stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", FakeGraph)
    monkeypatch.setattr(torch.cuda, "graph", lambda _: nullcontext())
    monkeypatch.setattr(FakeGraph, "replays", 0)


def test_a_call_is_captured_once_for_tensors_at_their_places() -> None:
    calls = []
    captured = CapturedCall(lambda x: calls.append(1) or 2 * x)
    x = torch.ones(3)
    assert [captured(x=x).tolist() for _ in range(3)] == [[2, 2, 2]] * 3
    assert (len(calls), FakeGraph.replays) == (4, 3)
    captured(x=torch.zeros(3))
    assert (len(calls), FakeGraph.replays) == (8, 4)


def test_what_cannot_be_captured_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def refused(_graph: object) -> Iterator[None]:
        yield
        raise RuntimeError("operation not permitted when stream is capturing\nmore")

    monkeypatch.setattr(torch.cuda, "graph", refused)
    with pytest.raises(MissingCapabilityError) as caught:
        CapturedCall(lambda x: x)(x=torch.ones(1))
    assert caught.value.problem == (
        "PyTorch cannot capture the model as a CUDA graph:"
        " operation not permitted when stream is capturing"
    )
    assert caught.value.hint == "measure it without: --engine torch-eager"
