"""What a model is fed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from burnish.core.arrays import Arrays

Padding = Literal["right", "left", "none"]


@dataclass(frozen=True, slots=True)
class Feeds:
    """One set of inputs."""

    arrays: Arrays
    bindings: Mapping[str, int]
    """The size that each symbolic dimension has in them."""
    notes: tuple[str, ...] = ()
    """What had to be guessed."""
