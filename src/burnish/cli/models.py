"""From the names that a command is given to models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnish.core import settings
from burnish.store import layout
from burnish.store.stored import StoredModel
from burnish.store.trust import trusting


def resolved(names: Sequence[str], asked: dict[str, Any]) -> tuple[StoredModel, ...]:
    """Return the models that are meant, with the trust that the user puts into their code."""
    store = asked["store"] or settings.read().store
    models = [layout.resolve(name, store) for name in names]
    return trusting(models, asked.get("trusted", ()))
