"""Decode token after token with the past fed back: one loop for PyTorch and for every engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array, Arrays

Step = Callable[[dict[str, Array]], Arrays]
"""Runs a decoder with past once: arrays in by name, arrays out by name."""
Choose = Callable[[int, Array], int]
"""The next token, from its number and the logits."""

LOGITS = "logits"
TOKENS = 32


@dataclass(frozen=True, slots=True)
class Decoded:
    """The tokens that were written, and the logits each was chosen from."""

    tokens: tuple[int, ...]
    logits: NDArray[np.float32]
    """One row per token."""


def greedy(step: Step, prompt: Sequence[int], past: Arrays, *, tokens: int = TOKENS) -> Decoded:
    """Return the tokens with the largest logits, one after the other."""
    return decode(step, prompt, past, tokens, lambda _, logits: int(logits.argmax()))


def follow(step: Step, prompt: Sequence[int], past: Arrays, tokens: Sequence[int]) -> Decoded:
    """Return the logits where a model is made to write the given tokens."""
    return decode(step, prompt, past, len(tokens), lambda number, _: tokens[number])


def decode(step: Step, prompt: Sequence[int], past: Arrays, count: int, choose: Choose) -> Decoded:
    """Write `count` tokens after `prompt`; `past` holds the empty keys and values to begin with."""
    new, known = list(prompt), 0
    written: list[int] = []
    rows = []
    for number in range(count):
        total = known + len(new)
        outputs = step(
            {
                "input_ids": np.array([new], np.int64),
                "attention_mask": np.ones((1, total), np.int64),
                "position_ids": np.arange(known, total, dtype=np.int64)[None, :],
                **past,
            }
        )
        row = np.asarray(outputs[LOGITS][0, -1], np.float32)
        past = {
            name.replace("present", "past", 1): array
            for name, array in outputs.items()
            if name.startswith("present_")
        }
        rows.append(row)
        written.append(choose(number, row))
        new, known = [written[-1]], total
    return Decoded(tuple(written), np.stack(rows))
