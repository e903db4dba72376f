from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.core import settings
from burnish.core.errors import UsageError


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


@pytest.mark.parametrize("text", ["many", "-1", "0", "1.5", "9" * 30, "²"])
def test_a_bound_that_is_no_number(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings.read({"BURNISH_MAX_NODES": text})
    assert caught.value.problem == f"BURNISH_MAX_NODES is {text!r}, not a positive number"
    assert caught.value.hint == (
        "leave it unset for 100000, or write for instance BURNISH_MAX_NODES=1000000"
    )


def test_the_bound_on_nodes_is_what_is_asked_for() -> None:
    assert settings.read({"BURNISH_MAX_NODES": "7"}).max_nodes == 7
