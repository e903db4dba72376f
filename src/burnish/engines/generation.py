"""Decoders that write: a call is a whole text then, token after token, each chosen greedily.

What a step computes of earlier tokens, its keys and values, is bound to the next step where it
lies; only the logits are looked at. No engine copies more than that in the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.store.interface import Interface

_IDS, _MASK, _POSITIONS, _LOGITS = "input_ids", "attention_mask", "position_ids", "logits"
_SPELLINGS = (("past_key_values", "present"), ("past", "present"))
"""How names of inputs become those of the outputs that they are fed from."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """How many tokens are written, and which output of a step is which input of the next."""

    tokens: int
    past: Mapping[str, str]
    """Outputs by the inputs that they become."""
    mask: bool
    positions: bool
    ids: str = _IDS
    logits: str = _LOGITS

    def next_inputs(self, feeds: Arrays, chosen: Array) -> dict[str, Array]:
        """Return the small inputs of the step after `feeds`: the tokens, and what counts them."""
        found: dict[str, Array] = {self.ids: chosen.astype(feeds[self.ids].dtype)}
        if self.mask:
            mask = feeds[_MASK]
            found[_MASK] = np.concatenate([mask, np.ones((len(mask), 1), mask.dtype)], axis=1)
        if self.positions:
            found[_POSITIONS] = feeds[_POSITIONS][:, -1:] + 1
        return found


@runtime_checkable
class Generating(Protocol):
    """A session whose model can be fed what it computed."""

    def prepare_generation(self, feeds: Arrays, how: Continuation) -> Callable[[], Array]:
        """Return what writes tokens after `feeds`, blocks, and gives them: [batch, tokens]."""


def continuation(interface: Interface, tokens: int) -> Continuation:
    """Return how a decoder with past goes on; raise for a model that is none."""
    inputs = {spec.name for spec in interface.inputs}
    outputs = {spec.name for spec in interface.outputs}
    past = {name: found for name in inputs if (found := _present(name, outputs))}
    small = {_IDS, _MASK, _POSITIONS}
    unknown = inputs - set(past) - small
    if not past or _IDS not in inputs or _LOGITS not in outputs or unknown:
        raise UsageError(
            "it is no decoder that can go on from what it computed: it takes "
            f"{', '.join(sorted(inputs - set(past)))} and gives "
            f"{', '.join(sorted(outputs - set(past.values())))}",
            hint="export one with its past: burnish export gpt2 --past",
        )
    return Continuation(tokens, past, _MASK in inputs, _POSITIONS in inputs)


def require_generating(session: object, engine: str) -> Generating:
    """Return the session as one that can go on; raise if it cannot."""
    if not isinstance(session, Generating):
        raise MissingCapabilityError(
            f"{engine} cannot be fed what it computed: its sessions have fixed sizes",
            hint="measure single steps: --generate 0",
        )
    return session


def _present(name: str, outputs: set[str]) -> str:
    for past, present in _SPELLINGS:
        if past in name and (found := name.replace(past, present, 1)) in outputs:
            return found
    return ""
