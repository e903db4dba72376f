"""Commands and `torch.compile` on a real card: what they give, and what they say if they cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from burnish.cli.main import run
from burnish.cuda.nvidia import NvidiaDriver

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.usefixtures("card")]

FACTORY = """
import torch

def make():
    torch.manual_seed(0)
    layers = torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 64)
    module = torch.nn.Sequential(*layers).half().eval()
    return module, (torch.ones(4, 64, dtype=torch.float16),), {"input": {0: "batch"}}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BURNISH_STORE", str(tmp_path / "store"))


@pytest.fixture
def factory(tmp_path: Path) -> str:
    (tmp_path / "my_model.py").write_text(FACTORY)
    return f"{tmp_path / 'my_model.py'}:make"


def compiled(factory: str, folder: Path, target: str) -> int:
    shape = ["--shape", "batch=4"]
    return run(["compile", "--module", factory, "--target", target, "-o", str(folder), *shape])


def fed(folder: Path, rows: int) -> list[str]:
    # a module is exported in fp32 whatever its own type is, unless --precision says otherwise
    np.savez(folder.parent / "x.npz", input=np.ones((rows, 64), np.float32))
    return ["exec", str(folder), "--data", str(folder.parent / "x.npz")]


def test_a_module_is_compiled_for_the_card_proven_and_run(
    factory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiled(factory, tmp_path / "c", "cuda") == 0
    assert "not shown to compute the same" not in capsys.readouterr().out
    assert (tmp_path / "c" / "proof.json").exists()
    assert run(fed(tmp_path / "c", 4)) == 0


def test_a_shape_that_was_not_compiled_for_is_one_line_with_the_command(
    factory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiled(factory, tmp_path / "c", "cuda") == 0
    capsys.readouterr()
    assert run(fed(tmp_path / "c", 5)) == 2
    said = capsys.readouterr().err
    assert "was compiled for batch=4, and is fed input: [5, 64]" in said
    assert "burnish compile" in said


def test_kernels_of_another_kind_of_card_are_refused_with_the_command(
    factory: str, tmp_path: Path, card: NvidiaDriver, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "sm_100" if card.device.architecture != "sm_100" else "sm_90"
    assert compiled(factory, tmp_path / "c", other) == 0
    capsys.readouterr()
    assert run(fed(tmp_path / "c", 4)) == 4
    assert "--target cuda" in capsys.readouterr().err


class Attention(torch.nn.Module):
    """Self-attention as models spell it, with what is around it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)
        self.qkv = torch.nn.Linear(64, 192)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (4, 16)).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, -1))  # fmt: skip
        found = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return x + found.transpose(1, 2).flatten(2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_torch_compile_gives_what_pytorch_gives_in_any_stream(dtype: torch.dtype) -> None:
    from burnish.integrations.torch_backend import backend, graphs

    torch._dynamo.reset()
    torch.manual_seed(0)
    module = Attention().to("cuda", dtype).eval()
    run_compiled = torch.compile(module, backend=backend)
    before = len(graphs())
    room = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-3}[dtype]
    with torch.inference_mode():
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                for _ in range(5):
                    x = torch.randn(2, 48, 64, device="cuda", dtype=dtype)
                    found, wanted = run_compiled(x), module(x)
                    torch.testing.assert_close(found, wanted, rtol=room, atol=room)
    told = graphs()[before:]
    assert [each.eager for each in told] == [""]
    assert told[0].kernels > 0
