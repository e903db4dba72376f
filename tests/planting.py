"""Let ONNX Runtime misbehave in processes that are started from here on."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from burnish.engines import isolated

LEVELS = ("all", "extended", "basic", "off")


def environment(
    operator: str, do: str, *, at: str = "run", levels: Sequence[str] = LEVELS
) -> dict[str, str]:
    """Return what to set so that models with an operator have something happen."""
    plan = [{"operator": operator, "levels": list(levels), "at": at, "do": do}]
    return {"PYTHONPATH": str(Path(__file__).parent / "planted"), "PLANTED": json.dumps(plan)}


def plant(monkeypatch: pytest.MonkeyPatch, operator: str, do: str, **how: object) -> None:
    """Have engines' processes misbehave until the test ends."""
    for name, value in environment(operator, do, **how).items():  # type: ignore[arg-type]
        monkeypatch.setenv(name, value)
    assert os.environ["PLANTED"]
    isolated.end_all()
