"""What is compiled for a card is proven and timed where one is, as for CPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

import fake_driver
from burnish.engines import isolated
from burnish.engines.base import ENGINES, EngineOptions, Session
from burnish.runtime.folder import PROOF, read_table
from burnish.store.stored import StoredModel
from burnish.study.compile import RejectedError
from codegen.gpu.compiled import MIXED, compiled
from codegen.gpu.interpreted_card import interpreted_card
from fake_driver import H200

pytest.importorskip("triton")


@pytest.fixture(autouse=True)
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernels of the model run in Triton's interpreter, in this process."""

    def here(
        engine: str, model: StoredModel, options: EngineOptions, *, limit_s: float | None = None
    ) -> Session:
        del limit_s
        return ENGINES[engine].open(model, options)

    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(isolated, "open_session", here)
    (tmp_path / "first").mkdir()
    compiled(MIXED, tmp_path / "first")
    interpreted_card(monkeypatch, tmp_path / "first" / "c")


def test_a_plan_is_proven_and_its_steps_are_timed(tmp_path: Path) -> None:
    report = compiled(MIXED, tmp_path, "cuda")
    assert report.unproven == ""
    assert report.parity is not None
    assert report.parity.passed
    assert report.device == H200.name
    assert all(step.measured_s is not None for step in report.plans[0].steps)
    assert (tmp_path / "c" / PROOF).exists()


def test_what_computes_something_else_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in read_table(tmp_path / "first" / "c").calls:
        monkeypatch.setitem(fake_driver.KERNELS, name, lambda *_: None)
    with pytest.raises(RejectedError, match="was not written"):
        compiled(MIXED, tmp_path, "cuda")
    assert not (tmp_path / "c").exists()
