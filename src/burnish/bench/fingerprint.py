"""What tells one machine from another, and one environment from another.

Figures of unlike machines are never compared. The environment is apart: a new version of a
library on the same machine is what one compares, and what makes old figures stale.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from burnish.bench.measure import MachineState
from burnish.core.hashing import value_key

_GIB = 2**30
_PACKAGE = Path(__file__).parents[1]


def machine_key(state: MachineState) -> str:
    """Return the fingerprint of the hardware that a process may use."""
    memory = None if state.memory_bytes is None else round(state.memory_bytes / _GIB)
    return value_key(
        {
            "cpu": state.cpu,
            "cores": state.usable_cores,
            "quota": state.quota_cores,
            # in whole GiB: what the kernel keeps for itself varies from boot to boot
            "memory": memory,
            "gpus": [gpu.name for gpu in state.before.gpus],
        }
    )[:16]


def environment_key(state: MachineState) -> str:
    """Return the key of all else that changes speed: versions, drivers, variables, clocks."""
    return value_key(
        {
            "versions": dict(state.versions),
            "variables": dict(state.environment),
            "python": state.python,
            "system": state.system,
            "governor": state.governor,
            "turbo": state.turbo,
            "drivers": [gpu.driver for gpu in state.before.gpus],
        }
    )[:16]


@lru_cache(maxsize=1)
def code_key() -> str:
    """Return the key of this very burnish: its sources, which change while it keeps its version."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
