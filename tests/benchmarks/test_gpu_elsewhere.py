"""Baselines in a process of their own: one that ends costs no other."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import pytest


def test_a_baseline_that_ends_while_it_is_timed_has_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    import gpu_elsewhere

    ends = tmp_path / "ends.py"
    ends.write_text('print(\'{"ort": {"seconds": 1.0}}\', flush=True)\ninput()\n')
    monkeypatch.setattr(gpu_elsewhere, "__file__", str(ends))
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    other = gpu_elsewhere.Elsewhere("bert-base:1", ["ort"], tmp_path, "", small=True)
    assert other.ready(time.time() + 60) == {"ort": {"seconds": 1.0}}
    assert other.timed("ort", 3) == math.inf
    assert other.timed("ort", 3) == math.inf, "nobody reads what it is asked any more"
    other.stop()
