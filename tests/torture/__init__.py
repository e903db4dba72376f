"""The attack that stays: planted errors, traps, reruns, kills; `python -m tests.torture`."""

from __future__ import annotations

import sys
from pathlib import Path

# `python -m tests.torture` knows the root only; tests import each other from this folder on.
if (_TESTS := str(Path(__file__).parents[1])) not in sys.path:
    sys.path.insert(0, _TESTS)

from burnish.core import settings

settings.calm()  # as the command line does, before NumPy is imported
