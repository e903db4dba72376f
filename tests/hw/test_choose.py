from __future__ import annotations

from pathlib import Path

import pytest

from burnish.bench.probe import toml_of
from burnish.core.errors import ModelError, UsageError
from burnish.hw import choose, detect
from devices import GPU, LAPTOP


def test_a_device_is_named_by_the_catalog_or_by_a_file(tmp_path: Path) -> None:
    assert choose.asked("nvidia-h200").kind == "gpu"
    (tmp_path / "mine.toml").write_text(toml_of(LAPTOP))
    assert choose.asked(str(tmp_path / "mine.toml")) == LAPTOP


def test_a_device_that_is_not_there_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown device 'nvidia-h20'"):
        choose.asked("nvidia-h20")
    with pytest.raises(ModelError) as caught:
        choose.asked(str(tmp_path / "none.toml"))
    assert (
        caught.value.hint == f"measure this machine: burnish doctor --probe -o {tmp_path}/none.toml"
    )


def test_a_probe_of_this_machine_comes_before_the_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "gpus", lambda: (detect.Gpu("NVIDIA H200", "1", 1),))
    assert choose.this_gpu(tmp_path) == choose.asked("nvidia-h200")
    (tmp_path / "hw").mkdir()
    (tmp_path / "hw" / choose.PROBED_CPU).write_text(toml_of(LAPTOP))
    (tmp_path / "hw" / choose.PROBED_GPU).write_text(toml_of(GPU))
    assert choose.this_cpu(tmp_path) == LAPTOP
    assert choose.this_gpu(tmp_path) == GPU
    assert choose.this_gpu(tmp_path, "NVIDIA A100-SXM4-80GB") == choose.asked("nvidia-a100")


def test_a_machine_without_a_gpu_has_no_limits_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "gpus", lambda: ())
    assert choose.this_gpu(tmp_path) is None
