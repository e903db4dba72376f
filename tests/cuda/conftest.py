"""A real card, where there is one."""

from __future__ import annotations

import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.cuda.nvidia import NvidiaDriver


@pytest.fixture(scope="session")
def card() -> NvidiaDriver:
    """Return the first NVIDIA card of this machine."""
    try:
        return NvidiaDriver()
    except MissingCapabilityError as error:
        pytest.skip(error.problem)
