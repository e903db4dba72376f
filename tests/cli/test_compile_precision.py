"""What people get who ask a card to compute in another kind of number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fake_driver
from burnish.cli.main import run
from burnish.core.arrays import Array
from burnish.engines import burnish_cuda, isolated
from burnish.engines.base import ENGINES, EngineOptions, Session
from burnish.runtime.cuda import runner
from burnish.runtime.folder import read, read_table
from burnish.store import layout
from burnish.store.stored import StoredModel
from burnish.study.compile import RejectedError
from codegen.gpu.compiled import NETWORK, PERCEPTRON, compiled, feeds_of, reference, written
from codegen.gpu.interpreted_card import interpreted_card

pytest.importorskip("triton")

ROUNDINGS = 6 * 2.0**-11


@pytest.fixture(autouse=True)
def cubins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile no kernel twice, and take no card for granted."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cubins"))
    monkeypatch.setattr(runner, "_OPEN", [])


def texts(folder: Path) -> str:
    return "".join(each.read_text() for each in (folder / "kernels").glob("*.py"))


def here(
    engine: str, model: StoredModel, options: EngineOptions, *, limit_s: float | None = None
) -> Session:
    """Open a session in this process."""
    del limit_s
    return ENGINES[engine].open(model, options)


def test_f32_is_multiplied_in_tf32_if_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = written(PERCEPTRON, tmp_path), tmp_path / "c"
    words = ["compile", str(path), "-o", str(folder), "--target", "sm_90", "--threads", "1"]
    assert run([*words, "-p", "fp32"]) == 0
    assert 'input_precision="ieee"' in texts(folder)
    assert read(folder).about.precision == "f32"
    assert run([*words, "-p", "tf32"]) == 0
    assert 'input_precision="tf32"' in texts(folder)
    about = read(folder).about
    assert about.precision == "tf32"
    assert "--precision tf32" in about.options
    interpreted_card(monkeypatch, folder)
    monkeypatch.setattr(burnish_cuda, "has_nvidia_gpu", lambda: True)
    monkeypatch.setattr(isolated, "open_session", here)
    capsys.readouterr()
    assert run(["verify", str(folder), "--engine", "burnish-cuda"]) == 0
    assert "judged by the tolerance of tf32, as asked for" in capsys.readouterr().out


@pytest.mark.parametrize("precision", ["tf32", None])
def test_what_tf32_explains_is_accepted_where_it_was_asked_for_only(
    precision: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first").mkdir()
    compiled(PERCEPTRON, tmp_path / "first", precision=precision)
    interpreted_card(monkeypatch, tmp_path / "first" / "c")
    monkeypatch.setattr(isolated, "open_session", here)
    for name in read_table(tmp_path / "first" / "c").calls:
        monkeypatch.setitem(fake_driver.KERNELS, name, rounding(fake_driver.KERNELS[name]))
    if precision is None:
        with pytest.raises(RejectedError, match="was not written"):
            compiled(PERCEPTRON, tmp_path, "cuda")
        return
    report = compiled(PERCEPTRON, tmp_path, "cuda", precision)
    assert report.parity is not None
    assert report.parity.passed
    assert report.parity.arithmetic == "tf32"


def rounding(exact: fake_driver.FakeKernel) -> fake_driver.FakeKernel:
    """Return a kernel of the perceptron whose result is off by a few roundings of tf32."""

    def run(grid: tuple[int, int, int], *memory: Array | None) -> None:
        exact(grid, *memory)
        *_, result = (each for each in memory if each is not None)
        numbers = result[: 4 * 32 * 24].view(np.float32)
        numbers *= np.float32(1 + ROUNDINGS)

    return run


def test_the_engine_computes_a_model_in_tf32_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(PERCEPTRON, tmp_path, precision="tf32")
    monkeypatch.setattr(burnish_cuda, "has_nvidia_gpu", lambda: True)
    interpreted_card(monkeypatch, tmp_path / "c")
    model = layout.stored(tmp_path / "perceptron.onnx")
    feeds = feeds_of(model.onnx)
    with ENGINES["burnish-cuda"].open(model, EngineOptions(precision="tf32")) as session:
        found = session.run(feeds)
        assert session.placement.precision == "tf32"
    np.testing.assert_allclose(found["y"], reference(model.onnx, feeds)["y"], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(("precision", "element"), [("fp16", "f16"), ("bf16", "bf16")])
def test_a_model_of_f32_is_written_in_16_bits_first(
    tmp_path: Path, precision: str, element: str
) -> None:
    path, folder = written(PERCEPTRON, tmp_path), tmp_path / "c"
    words = ["compile", str(path), "-o", str(folder), "--target", "sm_90", "--threads", "1"]
    assert run([*words, "-p", precision]) == 0
    assert (tmp_path / f"c_{precision}.onnx").is_file()
    about = read(folder).about
    assert about.precision == element
    assert about.inputs[0].dtype == element


@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_a_model_of_16_bits_is_not_compiled_as_one_of_f32(
    precision: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = written(NETWORK, tmp_path), tmp_path / "c"
    words = ["compile", str(path), "-o", str(folder), "--target", "sm_90", "-p", precision]
    assert run(words) == 2
    told = capsys.readouterr().err
    assert f"-p {precision} is for models of fp32, and {path} computes in fp16" in told
    assert "hint: leave -p away" in told
    assert not folder.exists()
