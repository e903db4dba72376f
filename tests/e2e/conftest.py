"""The command line as a user meets it: a process of its own."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chromium import Browser, browser

ROOT = Path(__file__).parents[2]
Burnish = Callable[..., "subprocess.CompletedProcess[str]"]


def command(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Return what `burnish` with these arguments gave in a folder."""
    words = [sys.executable, "-m", "burnish", *map(str, arguments)]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.fixture
def burnish(tmp_path: Path) -> Burnish:
    """Return a function that runs `burnish` with arguments, in an empty folder."""
    return functools.partial(command, tmp_path)


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    """Return an open tab of a browser; tests that ask for it are marked `IN_CHROMIUM`."""
    with browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def example() -> Path:
    """Return the folder of the bundled model."""
    return ROOT / "examples" / "bert-mini" / "torchscript"
