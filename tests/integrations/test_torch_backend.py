"""`torch.compile(backend="burnish")` gives what PyTorch gives, or says why PyTorch does it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from burnish.core.errors import UsageError
from burnish.integrations import torch_backend, torch_graph, torch_opened
from burnish.integrations.torch_backend import GraphOutcome, backend, graphs
from burnish.integrations.torch_opened import NotCompiledError, OpenedGraph, opening_for

pytestmark = [pytest.mark.slow, pytest.mark.torch]


@pytest.fixture(autouse=True)
def fresh(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    torch._dynamo.reset()
    torch_backend._REPORTS.clear()
    torch.manual_seed(0)
    with torch.no_grad():
        yield


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.qkv = nn.Linear(32, 96)
        self.register_buffer("scale", torch.tensor(0.3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        weights = torch.softmax(q @ k.transpose(-1, -2) * self.scale, -1)
        return x + weights @ v, x.shape[0]


CASES = {
    "perceptron": (
        nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)),
        torch.randn(5, 16),
    ),
    "convolutions": (
        nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        torch.randn(1, 3, 16, 16),
    ),
}


def compiled(module: nn.Module, **options: bool) -> Callable[..., Any]:
    return torch.compile(module.eval(), backend=backend, **options)


def only_report() -> GraphOutcome:
    (found,) = graphs()
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_module_gives_what_pytorch_gives(name: str) -> None:
    module, x = CASES[name]
    run = compiled(module)
    for each in (x, x + 1):
        torch.testing.assert_close(run(each), module(each), rtol=1e-4, atol=1e-5)
    report = only_report()
    assert report.kernels > 0
    assert not report.eager


def test_it_runs_under_inference_mode() -> None:
    with torch.inference_mode():
        module, x = nn.Linear(4, 4), torch.randn(2, 4)
        torch.testing.assert_close(compiled(module)(x), module(x))
    assert not only_report().eager


def test_other_shapes_are_compiled_when_they_come() -> None:
    module = Attention()
    run = compiled(module)
    for size in (2, 3, 4, 3):
        x = torch.randn(size, 10, 32)
        found, count = run(x)
        torch.testing.assert_close(found, module(x)[0], rtol=1e-4, atol=1e-5)
        assert count == size
    assert [report.shapes for report in graphs()] == [((n, 10, 32),) for n in (2, 3, 4)]
    assert not any(report.eager for report in graphs())


def test_weights_that_change_are_compiled_anew() -> None:
    module, x = nn.Linear(8, 8), torch.randn(2, 8)
    run = compiled(module)
    run(x)
    module.weight.mul_(2)
    torch.testing.assert_close(run(x), module(x))
    assert len(graphs()) == 2


class Drawing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand_like(x)


class Dropping(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(x, 0.5, training=True)


class LibraryAttention(nn.Module):
    """Whose operation can drop weights, and is told not to."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        dropped = nn.functional.dropout(x, 0.5, training=False)
        return nn.functional.scaled_dot_product_attention(dropped, x, x)


def test_what_could_draw_random_numbers_and_does_not_is_compiled() -> None:
    module, x = LibraryAttention(), torch.randn(1, 2, 5, 8)
    torch.testing.assert_close(compiled(module)(x), module(x), rtol=1e-4, atol=1e-5)
    assert not only_report().eager


class InPlace(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return 2 * x


class NoForm(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.eigvalsh(x @ x.T)


class Recording(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            return self.linear(x)


class Checking(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._assert_async((x > -1).all(), "too small")  # what Dynamo makes of an assert
        return x + 1


def test_what_a_model_checks_is_still_checked() -> None:
    run = compiled(Checking())
    assert run(torch.ones(2)).tolist() == [2, 2]
    assert only_report().eager == (
        "it checks what it is given, and may raise an error of its own (_assert_async)"
    )
    with pytest.raises(RuntimeError, match="too small"):
        run(-torch.ones(2))


def test_what_is_recorded_inside_has_gradients() -> None:
    module, x = Recording(), torch.ones(2, 4)
    found = compiled(module)(x)
    with torch.enable_grad():
        found.sum().backward()
    assert module.linear.weight.grad is not None
    assert only_report().eager == "gradients are wanted inside of it (torch.enable_grad)"


def test_a_tensor_that_a_graph_marks_is_marked() -> None:
    def marked(x: torch.Tensor) -> torch.Tensor:
        return (2 * x).requires_grad_()

    graph = torch.fx.symbolic_trace(marked)
    found = backend(graph, [torch.ones(2)])(torch.ones(2))
    assert found.requires_grad
    assert only_report().eager == "it makes a tensor want gradients (requires_grad_)"


def test_a_view_of_a_weight_wants_gradients_as_the_weight_does() -> None:
    linear = nn.Linear(3, 2)

    def both(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return linear(x), linear.weight.t()

    _, view = torch.compile(both, backend=backend)(torch.ones(1, 3))
    assert view.requires_grad == linear.weight.t().requires_grad
    view.zero_()
    assert not linear.weight.any()


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (Drawing(), "it draws random numbers (aten.rand_like.default)"),
        (Dropping(), "it draws random numbers (aten.native_dropout.default)"),
        (InPlace(), "it changes tensors in place"),
        (NoForm(), "it has no form in ONNX: "),
    ],
)
def test_what_is_not_covered_runs_in_pytorch_with_the_reason(
    module: nn.Module, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    x = torch.randn(4, 4)
    torch.manual_seed(1)
    with caplog.at_level(logging.WARNING, logger="burnish"):
        found = compiled(module)(x.clone())
    assert found.shape == module(x.clone()).shape
    assert only_report().eager.startswith(reason)
    assert "PyTorch runs a graph as it is, for it" in caplog.text


def test_what_is_changed_in_place_is_changed() -> None:
    x = torch.zeros(3)
    found = compiled(InPlace())(x)
    assert x.tolist() == [1, 1, 1]
    assert found.tolist() == [2, 2, 2]


def test_gradients_are_pytorchs() -> None:
    module = nn.Linear(4, 1)
    with torch.enable_grad():
        compiled(module)(torch.ones(2, 4)).sum().backward()
    assert module.weight.grad is not None
    assert module.weight.grad.tolist() == [[2, 2, 2, 2]]
    assert only_report().eager.startswith("gradients are wanted")


def test_what_differs_from_pytorch_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(feeds: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"output_0": next(iter(feeds.values())) + 1}

    opened = OpenedGraph(wrong, kernels=1, notes=())
    monkeypatch.setattr(torch_graph, "opening_for", lambda _: lambda *_: opened)
    module, x = nn.Linear(4, 4), torch.randn(2, 4)
    torch.testing.assert_close(compiled(module)(x), module(x))
    assert only_report().eager.startswith("its output_0 differs from PyTorch's: ")


def test_ever_new_shapes_are_left_to_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_backend, "MOST_SHAPES", 1)
    module = nn.ReLU()
    run = compiled(module, dynamic=True)
    for size in (2, 3, 4):
        assert run(torch.ones(size)).tolist() == [1] * size
    eager = [report.eager for report in graphs() if report.eager]
    assert eager == ["it was called with more than 1 choices of shapes"]


class Viewing(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.t(), x + 1


class OnlyViewing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.t()


def test_what_is_written_into_a_view_is_seen_in_the_input() -> None:
    x = torch.ones(2, 3)
    view, _ = compiled(Viewing())(x)
    view.zero_()
    assert x.tolist() == [[0, 0, 0]] * 2
    assert only_report().kernels == 1


def test_views_alone_are_left_to_pytorch() -> None:
    compiled(OnlyViewing())(torch.ones(2, 3))
    assert only_report().eager == "it computes nothing: what it gives are views of its inputs"


def test_an_index_that_is_none_is_pytorchs_error() -> None:
    run = compiled(nn.Embedding(10, 4))
    run(torch.tensor([1, 9]))
    with pytest.raises(IndexError):
        run(torch.tensor([1, 10]))
    assert graphs()[-1].eager == "input 'input_1' holds 10, and what it points into has 10 entries"


@pytest.mark.parametrize("mask", [None, [[False] * 3 + [True]] * 2, [[True] * 4, [False] * 4]])
def test_a_layer_that_pytorch_runs_as_one_operation_is_compiled(
    mask: list[list[bool]] | None,
) -> None:
    module = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=mask is None)
    run = compiled(module, dynamic=True)  # its epsilon comes as a tensor then
    told = {} if mask is None else {"src_key_padding_mask": torch.tensor(mask)}
    x = torch.randn(2, 4, 16)
    wanted = module(x, **told)
    torch.testing.assert_close(run(x, **told), wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
    assert only_report().kernels > 10


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor, factor: float) -> torch.Tensor:
        return x / factor


def test_a_number_that_changes_stays_an_input() -> None:
    run = compiled(Scaled(), dynamic=True)
    found = [run(torch.ones(1), factor).item() for factor in (1.0, 2.0, 4.0, 0.0, -0.0)]
    assert found == [1, 0.5, 0.25, float("inf"), float("-inf")]
    assert len(graphs()) <= 2


def test_types_that_numpy_lacks_are_shared_as_they_are() -> None:
    tensor = torch.randn(3, 4).bfloat16()
    array = torch_opened.array_of(tensor)
    assert array.dtype.name == "bfloat16"
    back = torch_opened.tensor_of(array)
    assert back.data_ptr() == tensor.data_ptr()
    assert torch.equal(back, tensor)


@pytest.mark.parametrize("devices", [{"cuda:1"}, {"cpu", "cuda:0"}, {"meta"}])
def test_tensors_of_other_devices_are_left_to_pytorch(devices: set[str]) -> None:
    with pytest.raises(NotCompiledError, match="is compiled for the CPU or for the first card"):
        opening_for(devices)


def test_options_that_are_not_known_are_refused() -> None:
    with pytest.raises(UsageError, match="does not know speed") as caught:
        backend(None, [], options={"speed": 9})
    assert caught.value.hint == "it takes options={'threads': N}, and no mode"
    with pytest.raises(UsageError, match="does not know mode 'max-autotune'"):
        backend(None, [], mode="max-autotune")


def test_pytorch_finds_it_by_its_name() -> None:
    (found,) = entry_points(group="torch_dynamo_backends", name="burnish")
    assert found.load() is backend
    assert Path(torch_backend.__file__).exists()


def test_threads_that_call_first_at_once_all_get_what_pytorch_gives() -> None:
    module = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
    run = compiled(module, dynamic=True)

    def called(seed: int) -> None:
        with torch.no_grad():
            for size in (2, 3, 4):
                x = torch.randn(size, 8, generator=torch.Generator().manual_seed(seed))
                torch.testing.assert_close(run(x), module(x), rtol=1e-4, atol=1e-5)

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(called, seed) for seed in range(3)]:
            done.result()
    assert not any(report.eager for report in graphs())
