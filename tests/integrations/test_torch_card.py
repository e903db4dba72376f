"""`torch.compile(backend="burnish")` on a card, as far as one that is none can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters

from burnish.codegen.cached import ModelSource, compiled_for
from burnish.core.existing import EarlierRunError
from burnish.integrations import torch_backend, torch_graph, torch_opened
from burnish.integrations.torch_backend import backend, graph_breaks, graphs
from burnish.runtime.cuda import runner
from burnish.runtime.load import LoadedModel
from burnish.runtime.plan import TensorLook
from codegen.gpu.interpreted_card import interpreted_card
from fake_driver import FakeDriver

pytest.importorskip("triton")
pytestmark = [pytest.mark.slow, pytest.mark.torch]


@pytest.fixture(autouse=True)
def tensors_seem_to_lie_on_a_card(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setattr(runner, "_OPEN", [FakeDriver()])
    monkeypatch.setattr(torch_graph, "opening_for", lambda _: torch_opened.on_card)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: 1)

    def interpreted(source: ModelSource, shapes: Mapping[str, tuple[int, ...]]) -> LoadedModel:
        loaded = compiled_for(source, shapes)
        interpreted_card(monkeypatch, loaded._folder)
        return loaded

    monkeypatch.setattr(torch_opened, "compiled_for", interpreted)
    torch._dynamo.reset()
    torch_backend._REPORTS.clear()
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def test_a_module_runs_on_the_card_and_gives_what_pytorch_gives() -> None:
    module = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16)).eval()
    run = torch.compile(module, backend=backend)
    for seed in range(2):
        x = torch.randn(16, 16, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(run(x), module(x), rtol=1e-2, atol=1e-3)
        torch.testing.assert_close(run(x.T), module(x.T), rtol=1e-2, atol=1e-3)
    assert {(report.kernels > 0, report.eager) for report in graphs()} == {(True, "")}


def test_an_index_that_is_none_is_no_result() -> None:
    module = nn.Embedding(10, 16).eval()
    run = torch.compile(module, backend=backend)
    x = torch.tensor([[1, 9, 3]])
    torch.testing.assert_close(run(x), module(x))
    with pytest.raises(RuntimeError, match="holds an index outside of 10 entries"):
        run(x + 1)


@pytest.mark.parametrize(("least", "forward"), [(-10, False), (0, True)])
def test_an_index_below_0_is_one_where_places_are_counted_from_the_end(
    least: int, forward: bool
) -> None:
    look = TensorLook("x", "x", "place", 10, forward=forward)
    torch_opened._require_places(look, torch.tensor([least, 9]))
    with pytest.raises(RuntimeError, match="holds an index outside of 10 entries"):
        torch_opened._require_places(look, torch.tensor([least - 1, 9]))


def test_a_computed_index_that_is_none_is_an_error_of_the_next_call() -> None:
    table = nn.Embedding(10, 16).eval()
    run = torch.compile(lambda x: table(x * x), backend=backend)
    x = torch.tensor([[1, 2, 3]])
    torch.testing.assert_close(run(x), table(x * x))
    run(x + 1)
    with pytest.raises(EarlierRunError, match="held 16 in an earlier run of this model"):
        run(x)
    torch.testing.assert_close(run(x), table(x * x))


def test_dividing_by_0_is_no_error_as_it_is_none_on_cards() -> None:
    run = torch.compile(lambda n, d: torch.where(d != 0, n // d, 0) + n // (n - d), backend=backend)
    n, d = torch.tensor([9, 8, 7]), torch.tensor([2, 5, 3])
    torch.testing.assert_close(run(n, d), n // d + n // (n - d))
    for _ in range(2):
        found = run(n, torch.tensor([0, 8, 3]))
        assert found.tolist() == [1, 1, 2 + 7 // 4]


def test_what_has_no_kernel_is_left_to_pytorch_with_the_operator() -> None:
    x = torch.randn(4, 96)
    values, _ = torch.compile(lambda t: torch.topk(t.relu(), 2, sorted=False), backend=backend)(x)
    torch.testing.assert_close(values, torch.topk(x.relu(), 2, sorted=False).values)
    (report,) = graphs()
    assert report.eager.startswith("part of it has no kernel: ONNX Runtime runs ")
    assert "on the CPU: TopK ×1 (" in report.eager


def test_weights_are_read_where_the_module_has_them() -> None:
    module = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16)).eval()
    run = torch.compile(module, backend=backend)
    x = torch.randn(16, 16)
    torch.testing.assert_close(run(x), module(x), rtol=1e-2, atol=1e-3)
    (report,) = graphs()
    whole = sum(4 * each.numel() for each in module.parameters())
    assert report.shared_bytes + report.copied_bytes == whole
    assert report.shared_bytes >= 4 * (32 + 16)


def test_weights_that_are_written_anew_are_not_read_as_they_were() -> None:
    module = nn.Sequential(nn.Linear(16, 32), nn.ReLU()).eval()
    run = torch.compile(module, backend=backend)
    x = torch.randn(16, 16)
    run(x)
    module[0].weight.mul_(2)
    module[0].bias.add_(1)
    torch.testing.assert_close(run(x), module(x), rtol=1e-2, atol=1e-3)


def test_graph_breaks_are_told_with_their_reasons() -> None:
    counters["graph_break"].clear()

    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x.relu()
        torch._dynamo.graph_break()
        return y + 1

    x = torch.randn(4, 8)
    torch.testing.assert_close(torch.compile(broken, backend=backend)(x), x.relu() + 1)
    (found,) = graph_breaks()
    assert found.times == 1
    assert "graph_break" in found.reason
