"""`--device-memory`: what people read, and what runs inside of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import burnish
from burnish.cli.main import run
from burnish.core.errors import UsageError
from burnish.runtime.cuda import runner
from burnish.runtime.cuda.executable import CudaExecutable, CudaStreamed
from burnish.study.requests.vocabulary import memory
from codegen.gpu.compiled import NETWORK, compiled, feeds_of, reference, written
from codegen.gpu.interpreted_card import interpreted_card

SIZES = [("2GiB", 2**31), ("512 MiB", 2**29), ("4096", 4096), ("1.5kib", 1536)]


@pytest.mark.parametrize(("text", "found"), SIZES)
def test_memory_is_read_as_people_write_it(text: str, found: int) -> None:
    assert memory(text) == found


@pytest.mark.parametrize("text", ["much", "-3GiB", "GiB", "", "inf", "nan", "0", "3GB"])
def test_what_is_no_amount_of_memory_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no amount of memory") as caught:
        memory(text)
    assert caught.value.hint == "write for instance --device-memory 2GiB"


@pytest.fixture
def cubins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("triton")
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cubins"))
    monkeypatch.setattr(runner, "_OPEN", [])


@pytest.mark.usefixtures("cubins")
def test_a_plan_that_does_not_fit_says_what_it_moves_and_gives_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = written(NETWORK, tmp_path), tmp_path / "c"
    words = ["--target", "sm_90", "--device-memory", "10KiB"]
    assert run(["compile", str(path), "-o", str(folder), *words]) == 0
    said = capsys.readouterr().out
    assert "in 10.0 KiB of a card's memory (it needs " in said
    assert " that operator by operator would" in said
    card = interpreted_card(monkeypatch, folder)
    feeds = feeds_of(path)
    wanted = reference(path, feeds)
    free = card.free_bytes()
    for limit, kind in ((None, CudaStreamed), (2**20, CudaExecutable)):
        with burnish.load(folder, threads=1, device_memory_bytes=limit) as model:
            assert isinstance(model.executable(feeds), kind)
            found = model.run(feeds)
            assert kind is CudaExecutable or free - card.free_bytes() <= 10 * 2**10
        for name, array in wanted.items():
            np.testing.assert_allclose(found[name], array, rtol=2e-2, atol=2e-3)
    np.savez(tmp_path / "x.npz", **feeds)
    exec_words = ["--data", str(tmp_path / "x.npz"), "--device-memory", "9KiB"]
    assert run(["exec", str(folder), *exec_words]) == 0
    assert " went over the link to the card in each run" in capsys.readouterr().out


@pytest.mark.usefixtures("cubins")
def test_constants_that_do_not_fit_are_one_line_with_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = written(NETWORK, tmp_path), tmp_path / "c"
    words = ["--target", "sm_90", "--device-memory", "64"]
    assert run(["compile", str(path), "-o", str(folder), *words]) == 4
    said = capsys.readouterr().err
    assert "--device-memory 64 B is too little: the constants of one kernel (" in said
    assert "hint: allow at least --device-memory " in said
    assert not folder.exists()


@pytest.mark.usefixtures("cubins")
def test_without_the_option_nothing_is_told_and_all_of_the_card_is_used(tmp_path: Path) -> None:
    report = compiled(NETWORK, tmp_path)
    assert report.plans[0].transfers is None


def test_cpus_have_no_memory_of_their_own_to_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = written(NETWORK, tmp_path), tmp_path / "c"
    assert run(["compile", str(path), "-o", str(folder), "--device-memory", "1GiB"]) == 2
    said = capsys.readouterr().err
    assert "--device-memory is a card's, and kernels for CPUs use the host's" in said
    assert "--target sm_90" in said
    assert run(["compile", str(path), "-o", str(folder), "--no-tune"]) == 0
    np.savez(tmp_path / "x.npz", **feeds_of(path))
    words = ["--data", str(tmp_path / "x.npz"), "--device-memory", "1GiB"]
    assert run(["exec", str(folder), *words]) == 2
    assert "hint: leave out --device-memory" in capsys.readouterr().err
