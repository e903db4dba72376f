from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from burnish.core import settings


def test_importing_burnish_turns_telemetry_off_here_and_in_children() -> None:
    names = ("ORT_DISABLE_TELEMETRY", "HF_HUB_OFFLINE")
    code = f"import burnish, os; print(*map(os.environ.get, {names}))"
    environment = {k: v for k, v in os.environ.items() if k not in settings.FORCED}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "1"]


def test_defaults() -> None:
    found = settings.read({})
    assert found.store == Path("models")
    assert found.cache.name == "burnish"
    assert found.color


def test_the_environment_decides() -> None:
    found = settings.read({"BURNISH_STORE": "/s", "BURNISH_CACHE": "/c", "NO_COLOR": "1"})
    assert (found.store, found.cache, found.color) == (Path("/s"), Path("/c"), False)
