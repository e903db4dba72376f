"""Under which key a tuning result is kept: everything that could make it another one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path

from burnish.codegen.backend import Backend
from burnish.core.hashing import value_key
from burnish.version import __version__

_PACKAGE = Path(__file__).parents[2]
_GENERATOR = ("codegen/cpu", "codegen/tune", "tile")
"""What turns a group and a schedule into code, and times it. How nests come to be is not part of
it: a group's signature holds what they are."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Where and with what a group was tuned."""

    device: str
    """The device's name."""
    features: tuple[str, ...]
    target: str
    """What the kernels are compiled for."""
    threads: int
    burnish: str
    generator: str
    """A hash of the sources that write and time kernels."""
    compiler: str


@dataclass(frozen=True, slots=True)
class Key:
    """What one result belongs to."""

    signature: str
    """Of the group; equal for repeated layers."""
    conditions: Conditions
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Dimensions of tensors in another order, by position among what the group reads and writes."""

    @property
    def text(self) -> str:
        """Return a text that only equal keys share."""
        places = {name: list(order) for name, order in self.layouts.items()}
        return value_key([self.signature, _conditions_text(self.conditions), places])


@lru_cache(maxsize=16)
def _conditions_text(found: Conditions) -> str:
    return value_key(asdict(found))


def conditions(backend: Backend) -> Conditions:
    """Return the conditions under which a back end tunes."""
    return Conditions(
        device=backend.device,
        features=backend.features,
        target=backend.target,
        threads=backend.machine.units,
        burnish=__version__,
        generator=generator_version(),
        compiler=backend.compiler,
    )


@lru_cache(maxsize=1)
def generator_version() -> str:
    """Return a hash of the sources that write and time kernels."""
    digest = hashlib.sha256()
    for folder in _GENERATOR:
        for path in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
