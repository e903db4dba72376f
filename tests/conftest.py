"""Fixtures that every test may use."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from burnish.cli import output, progress
from burnish.core import settings

settings.calm()  # before NumPy is imported
# how long an example takes says how busy the machine is: no test asserts wall time
hypothesis.settings.register_profile("burnish", deadline=None)
hypothesis.settings.load_profile("burnish")
# nor is a command called slow for it, on the standard error that tests compare
progress.SOON_S = 3600.0
_LEDGERS = Path(tempfile.mkdtemp(prefix="burnish-ledgers-"))

# `nohup` and a shell's `&` start tests that ignore these, and so would all that tests start
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

GOLDEN = Path(__file__).parent / "golden"
SHARED = Path(__file__).parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="accept changed golden files")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that the short ones fill what is left."""
    long = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in long)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keep what is measured out of the user's ledger, and tests apart from each other."""
    os.environ["BURNISH_LEDGER"] = str(_LEDGERS / f"{uuid.uuid4().hex}.sqlite")
    output.forget()  # a command in this process may have been a quiet one


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the ledgers."""
    shutil.rmtree(_LEDGERS, ignore_errors=True)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare text with the file that holds what this test gave when it was last accepted."""

    def check(text: str, *, suffix: str) -> None:
        stem = re.sub(r"[^\w.-]+", "_", f"{request.module.__name__}.{request.node.name}")
        path = GOLDEN / f"{stem}.{suffix}"
        if request.config.getoption("--update-golden"):
            path.write_text(text)
        assert path.exists(), f"no {path.name}: look at the text, then run with --update-golden"
        assert text == path.read_text()

    return check


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """Return a device; never the system's own one to somebody who could replace it."""
    if os.geteuid() != 0:
        return Path("/dev/null")
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no device can be made here")
    return path


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared data, which lies beside a checkout and not in it."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared is not here")
    return SHARED
